/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/platform.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/list.h"
#include "lib/printable.h"

#define LINE_MAX_BYTES 512
#define NAME_BYTES 48 /* of a variable, with its '=' */
#define VALUE_BYTES 65 /* with its NUL */
#define OPENSSL "libssl.so.3"
#define NET_OLDEST 4 /* of ncclNetPlugin_v* */
#define NET_NEWEST 20

const struct nt_platform_paths nt_platform_paths = {
	.driver = "/proc/driver/nvidia/version",
	.ports = "/sys/class/infiniband",
	.devices = "/dev/infiniband",
	.cxi = "/sys/class/cxi",
	.start = "/proc/self/environ",
};

/* Digits separated by single dots, with at least one dot: the architecture before it begins with a
 * letter. */
static bool is_version(const char *word, size_t bytes)
{
	unsigned dots = 0;

	for (size_t i = 0; i < bytes; i++) {
		bool dot = word[i] == '.';

		if (!dot && (word[i] < '0' || word[i] > '9'))
			return false;
		if (dot && (i == 0 || i + 1 == bytes || word[i - 1] == '.'))
			return false;
		dots += dot;
	}
	return dots > 0;
}

void nt_driver_version(const char *text, char out[NT_DRIVER_MAX])
{
	const char *word = strstr(text, "NVRM version:");

	out[0] = '\0';
	while (word && *word && *word != '\n') {
		size_t bytes = strcspn(word, " \t\n");

		if (bytes < NT_DRIVER_MAX && is_version(word, bytes)) {
			memcpy(out, word, bytes);
			out[bytes] = '\0';
			return;
		}
		word += bytes;
		word += strspn(word, " \t");
	}
}

static bool is_set(const char *text)
{
	return text && *text;
}

const char *nt_net_told(const char *net, const char *plugin, const char *ib_disable,
			const char *loaded)
{
	bool none = is_set(plugin) && strcasecmp(plugin, "none") == 0;

	if (is_set(net))
		return net;
	if (!none && is_set(loaded))
		return loaded;
	if (!none && is_set(plugin))
		return "?";
	return is_set(ib_disable) && strtol(ib_disable, NULL, 0) != 0 ? "Socket" : "";
}

static bool begins_with(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static const char *name_of(const struct dl_phdr_info *library)
{
	const char *slash = strrchr(library->dlpi_name, '/');

	return slash ? slash + 1 : library->dlpi_name;
}

static int find_net_plugin(struct dl_phdr_info *library, size_t bytes, void *path)
{
	(void)bytes;
	if (!begins_with(name_of(library), "libnccl-net") ||
	    strlen(library->dlpi_name) >= NT_PATH_MAX)
		return 0;
	snprintf(path, NT_PATH_MAX, "%s", library->dlpi_name);
	return 1;
}

void nt_net_plugin(char out[NT_NET_MAX])
{
	char path[NT_PATH_MAX] = "";
	void *library = NULL;

	out[0] = '\0';
	if (dl_iterate_phdr(find_net_plugin, path) == 0)
		return;
	snprintf(out, NT_NET_MAX, "?");
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	for (int version = NET_NEWEST; library && version >= NET_OLDEST; version--) {
		char symbol[32];
		const char *const *name;

		snprintf(symbol, sizeof(symbol), "ncclNetPlugin_v%d", version);
		name = dlsym(library, symbol);
		if (name && is_set(*name)) {
			nt_printable_copy(out, NT_NET_MAX, *name, strlen(*name));
			break;
		}
	}
	if (library)
		dlclose(library);
}

void nt_launch_name(const char *text, char out[NT_LAUNCH_NAME])
{
	size_t bytes = strcspn(text, " ");

	out[0] = '\0';
	if (bytes >= NT_LAUNCH_NAME ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != bytes)
		return;
	memcpy(out, text, bytes);
	out[bytes] = '\0';
}

static bool is_wanted(const char *word)
{
	return begins_with(word, "NCCL_") && !begins_with(word, "NCCL_TUNE") &&
	       !begins_with(word, "NCCL_DEBUG") && !begins_with(word, "NCCL_PROFILER_PLUGIN=");
}

/* False: no room, and nothing was added. */
static bool append_word(char text[NT_VARIABLES_MAX], const char *word, size_t bytes)
{
	size_t used = strlen(text), gap = used > 0;

	if (used + gap + bytes >= NT_VARIABLES_MAX)
		return false;
	if (gap)
		text[used] = ' ';
	memcpy(text + used + gap, word, bytes);
	text[used + gap + bytes] = '\0';
	return true;
}

void nt_variables_add(struct nt_variables *variables, const char *word)
{
	const char *equals = strchr(word, '=');
	char plain[NAME_BYTES + VALUE_BYTES];
	size_t name;

	if (!is_wanted(word) || !equals || equals[1] == '\0')
		return;
	name = (size_t)(equals + 1 - word);
	if (name >= NAME_BYTES) {
		variables->cut = true;
		return;
	}
	memcpy(plain, word, name);
	(void)nt_printable_copy(plain + name, VALUE_BYTES, equals + 1, strlen(equals + 1));
	for (char *c = plain; *c; c++)
		*c = *c == ' ' ? '?' : *c;
	if (!append_word(variables->text, plain, strlen(plain)))
		variables->cut = true;
}

void nt_variables_split(const struct nt_variables *now, const struct nt_variables *started,
			char outside[NT_VARIABLES_MAX], char inside[NT_VARIABLES_MAX])
{
	outside[0] = inside[0] = '\0';
	for (const char *at = now->text; *at; at += *at == ' ') {
		size_t length = strcspn(at, " ");
		bool known = started->cut || nt_list_has(started->text, ' ', at, length);

		(void)append_word(known ? outside : inside, at, length);
		at += length;
	}
}

void nt_platform_ask(struct nt_platform *platform, const char *plugin)
{
	const char *launch = getenv(NT_ENV_LAUNCH);

	memset(platform, 0, sizeof(*platform));
	snprintf(platform->net, sizeof(platform->net), "%s",
		 nt_net_told(getenv("NCCL_NET"), getenv("NCCL_NET_PLUGIN"),
			     getenv("NCCL_IB_DISABLE"), plugin));
	if (launch)
		nt_launch_name(launch, platform->launch);
	for (char **word = environ; word && *word; word++)
		nt_variables_add(&platform->now, *word);
}

static void look_for_driver(const char *path, char out[NT_DRIVER_MAX])
{
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		nt_driver_version(line, out);
	fclose(f);
}

static bool file_holds(const char *path, const char *text)
{
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* At one directory entry */
typedef bool look(const char *directory, const char *name);

static bool any_entry(const char *directory, look *is_it)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;
	bool found = false;

	while (d && !found && (entry = readdir(d)) != NULL)
		found = entry->d_name[0] != '.' && is_it(directory, entry->d_name);
	if (d)
		closedir(d);
	return found;
}

static bool is_active(const char *directory, const char *port)
{
	char path[2 * NT_PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s/state", directory, port);

	return bytes > 0 && (size_t)bytes < sizeof(path) && file_holds(path, "ACTIVE");
}

bool nt_port_is_efa(const char *directory, const char *device)
{
	char path[2 * NT_PATH_MAX], target[NT_PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s/device/driver", directory, device);
	ssize_t length;

	if (bytes < 0 || (size_t)bytes >= sizeof(path))
		return false;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	return length >= 4 && strcmp(target + length - 4, "/efa") == 0;
}

/* By itself NCCL does not use EFA's ports. */
static bool has_active_port(const char *directory, const char *device)
{
	char path[2 * NT_PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s/ports", directory, device);

	return bytes > 0 && (size_t)bytes < sizeof(path) && !nt_port_is_efa(directory, device) &&
	       any_entry(path, is_active);
}

static bool is_verbs(const char *directory, const char *name)
{
	(void)directory;
	return begins_with(name, "uverbs");
}

static bool is_there(const char *directory, const char *name)
{
	(void)directory;
	(void)name;
	return true;
}

/* Words end with a NUL there. */
static void look_at_start(struct nt_platform *platform, const char *path)
{
	struct nt_variables started = { .cut = false };
	FILE *f = fopen(path, "re");
	size_t size = 0;
	char *word = NULL;

	while (f && getdelim(&word, &size, '\0', f) > 0)
		nt_variables_add(&started, word);
	started.cut = started.cut || !f || ferror(f);
	free(word);
	if (f)
		fclose(f);
	nt_variables_split(&platform->now, &started, platform->outside, platform->inside);
}

static int is_openssl(struct dl_phdr_info *library, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	return strcmp(name_of(library), OPENSSL) == 0;
}

/* NULL: not all of it is there. */
static const void *file_part(const void *file, size_t bytes, uint64_t at, uint64_t size)
{
	return at <= bytes && size <= bytes - at ? (const char *)file + at : NULL;
}

bool nt_constants_have(const void *file, size_t bytes, const char *text)
{
	const Elf64_Ehdr *head = file_part(file, bytes, 0, sizeof(*head));
	const Elf64_Shdr *sections, *names;
	const char *name_text;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(*sections) ||
	    head->e_shoff % _Alignof(Elf64_Shdr) != 0 || head->e_shstrndx >= head->e_shnum)
		return false;
	sections = file_part(file, bytes, head->e_shoff, head->e_shnum * sizeof(*sections));
	if (!sections)
		return false;
	names = &sections[head->e_shstrndx];
	name_text = file_part(file, bytes, names->sh_offset, names->sh_size);
	for (unsigned i = 0; name_text && i < head->e_shnum; i++) {
		static const char wanted[] = ".rodata";
		const char *from = file_part(file, bytes, sections[i].sh_offset,
					     sections[i].sh_size);

		if (from && sections[i].sh_type == SHT_PROGBITS &&
		    file_part(name_text, names->sh_size, sections[i].sh_name, sizeof(wanted)) &&
		    memcmp(name_text + sections[i].sh_name, wanted, sizeof(wanted)) == 0)
			return memmem(from, sections[i].sh_size, text, strlen(text) + 1) != NULL;
	}
	return false;
}

/* May NCCL encrypt? library: its file; "": part of the program. */
static bool may_encrypt(const char *library)
{
	const char *path = library[0] ? library : "/proc/self/exe";
	bool possible = false;
	void *file = MAP_FAILED;
	off_t end = -1;
	int fd;

	if (dl_iterate_phdr(is_openssl, NULL) == 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		end = lseek(fd, 0, SEEK_END);
	if (end > 0)
		file = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file != MAP_FAILED) {
		possible = nt_constants_have(file, (size_t)end, OPENSSL);
		munmap(file, (size_t)end);
	}
	if (fd >= 0)
		close(fd);
	return possible;
}

void nt_platform_look(struct nt_platform *platform, const struct nt_platform_paths *paths)
{
	struct nt_fabric_devices devices = {
		.ib = any_entry(paths->ports, has_active_port) &&
		      any_entry(paths->devices, is_verbs),
		.efa = any_entry(paths->ports, nt_port_is_efa),
		.cxi = any_entry(paths->cxi, is_there),
	};

	enum nt_fabric fabric = nt_fabric_of_net(platform->net, &devices);

	if (fabric == NT_FABRIC_SOCKET && platform->new_sockets && may_encrypt(platform->library))
		fabric = NT_FABRIC_TLS;
	look_for_driver(paths->driver, platform->driver);
	look_at_start(platform, paths->start);
	snprintf(platform->fabric, sizeof(platform->fabric), "%s", nt_fabric_name((int)fabric));
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/tls.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPENSSL "libssl.so.3"

static int is_openssl(struct dl_phdr_info *library, size_t bytes, void *unused)
{
	const char *slash = strrchr(library->dlpi_name, '/');

	(void)bytes;
	(void)unused;
	return strcmp(slash ? slash + 1 : library->dlpi_name, OPENSSL) == 0;
}

/* NULL: not all of it is there. */
static const void *part(const void *file, size_t bytes, uint64_t at, uint64_t size)
{
	return at <= bytes && size <= bytes - at ? (const char *)file + at : NULL;
}

bool nt_tls_constants_have(const void *file, size_t bytes, const char *text)
{
	const Elf64_Ehdr *head = part(file, bytes, 0, sizeof(*head));
	const Elf64_Shdr *sections, *names;
	const char *name_text;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(*sections) ||
	    head->e_shoff % _Alignof(Elf64_Shdr) != 0 || head->e_shstrndx >= head->e_shnum)
		return false;
	sections = part(file, bytes, head->e_shoff, head->e_shnum * sizeof(*sections));
	if (!sections)
		return false;
	names = &sections[head->e_shstrndx];
	name_text = part(file, bytes, names->sh_offset, names->sh_size);
	for (unsigned i = 0; name_text && i < head->e_shnum; i++) {
		static const char wanted[] = ".rodata";
		const char *from = part(file, bytes, sections[i].sh_offset, sections[i].sh_size);

		if (from && sections[i].sh_type == SHT_PROGBITS &&
		    part(name_text, names->sh_size, sections[i].sh_name, sizeof(wanted)) &&
		    memcmp(name_text + sections[i].sh_name, wanted, sizeof(wanted)) == 0)
			return memmem(from, sections[i].sh_size, text, strlen(text) + 1) != NULL;
	}
	return false;
}

bool nt_tls_possible(const char *library)
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
		possible = nt_tls_constants_have(file, (size_t)end, OPENSSL);
		munmap(file, (size_t)end);
	}
	if (fd >= 0)
		close(fd);
	return possible;
}

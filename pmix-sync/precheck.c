/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/precheck.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/list.h"
#include "lib/number.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define PREFIX "PMIX_"
#define MCA "PMIX_MCA_"
#define SERVER_URI "PMIX_SERVER_URI"
#define NAMESPACE_MAX 255 /* PMIX_MAX_NSLEN */
#define PARAMS_FILE ".pmix/mca-params.conf"
#define PARAMS_MAX 16384
#define ADDRESS_MAX 64
#define SHOWN_MAX 48 /* bytes of a variable that are shown */

static bool has_word(const char *list, const char *word)
{
	return nt_list_has(list, ',', word, strlen(word));
}

/* Is it a list of these two alone? */
static bool is_native_or_munge(const char *list)
{
	size_t bytes;

	do {
		bytes = strcspn(list, ",");
		if (!(bytes == 6 && memcmp(list, "native", bytes) == 0) &&
		    !(bytes == 5 && memcmp(list, "munge", bytes) == 0))
			return false;
		list += bytes;
	} while (*list++);
	return true;
}

/* It may exclude components, but not this one. A second ^ is an error for PMIx. */
static bool leaves_out_others(const char *list, const char *needed)
{
	return list[0] == '^' && !strchr(list + 1, '^') && !has_word(list + 1, needed);
}

static bool is_security(const char *value)
{
	return !*value || leaves_out_others(value, "native") ||
	       (is_native_or_munge(value) && has_word(value, "native"));
}

static bool is_store(const char *value)
{
	return !*value || strcmp(value, "hash") == 0 || leaves_out_others(value, "hash");
}

static bool is_off(const char *value)
{
	return !*value || strcmp(value, "0") == 0 || strcmp(value, "none") == 0;
}

static bool is_any(const char *value)
{
	(void)value;
	return true;
}

/* Harmless PMIx parameters. Others may select a component that is missing, or make PMIx print. */
static const struct {
	const char *name;
	bool (*harmless)(const char *value);
} params[] = {
	{ "gds", is_store },
	{ "psec", is_security },
	{ "mca_base_component_show_load_errors", is_any }, /* Open MPI 4 sets it */
	{ "pcompress_base_silence_warning", is_any },
};

static bool is_harmless(const char *name, const char *value)
{
	for (size_t i = 0; i < LENGTH(params); i++) {
		if (strcmp(params[i].name, name) == 0)
			return params[i].harmless(value);
	}
	return false;
}

/* ADDRESS:PORT; IPv6 with brackets or without. */
static bool is_address(int family, const char *text)
{
	unsigned char raw[sizeof(struct in6_addr)];
	char host[ADDRESS_MAX], *port;
	size_t bytes = strlen(text);
	uint64_t number;

	if (bytes >= sizeof(host))
		return false;
	memcpy(host, text, bytes + 1);
	port = strrchr(host, ':');
	if (!port || nt_number_parse(port + 1, 0, UINT16_MAX, &number) < 0)
		return false;
	*port = '\0';
	if (host[0] != '[' || port[-1] != ']')
		return inet_pton(family, host, raw) == 1;
	port[-1] = '\0';
	return inet_pton(family, host + 1, raw) == 1;
}

/* NAME.RANK;tcp4://ADDRESS:PORT */
static bool is_server(const char *text)
{
	size_t name = strcspn(text, ";");
	const char *address = text + name, *dot = memchr(text, '.', name);

	if (!dot || !*address)
		return false;
	if (strncmp(++address, "tcp4://", 7) == 0)
		return is_address(AF_INET, address + 7);
	return strncmp(address, "tcp6://", 7) == 0 && is_address(AF_INET6, address + 7);
}

/* Does it have the form that Slurm gives it? task: this task's number in the step, or NULL. */
static bool is_slurms(const char *name, const char *value, const char *task)
{
	uint64_t rank;

	if (strcmp(name, "PMIX_RANK") == 0)
		return nt_number_parse(value, 0, UINT32_MAX, &rank) == 0 &&
		       (!task || strcmp(value, task) == 0);
	if (strcmp(name, "PMIX_NAMESPACE") == 0)
		return *value && strlen(value) <= NAMESPACE_MAX;
	if (strcmp(name, "PMIX_SECURITY_MODE") == 0)
		return is_native_or_munge(value);
	return strncmp(name, SERVER_URI, strlen(SERVER_URI)) != 0 || is_server(value);
}

static int set_refusal(struct nt_reason *why, const char *what, int id)
{
	char shown[SHOWN_MAX];

	snprintf(shown, sizeof(shown), "%s", what);
	for (char *at = shown; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr("_=.,:;/^+-~ ()", *at))
			*at = '?';
	}
	return nt_reason_setf(why, id, "%s", shown);
}

/* NAME=VALUE. */
static int check_variable(const char *variable, const char *task, struct nt_reason *why)
{
	const char *value = strchr(variable, '=');
	char name[128];

	if (!value || (size_t)(value - variable) >= sizeof(name))
		return set_refusal(why, variable, NT_REASON_PMIX_UNSAFE);
	memcpy(name, variable, (size_t)(value - variable));
	name[value++ - variable] = '\0';
	if (strcmp(name, "PMIX_DEBUG") == 0 && !is_off(value))
		return set_refusal(why, variable, NT_REASON_PMIX_UNSAFE);
	if (strncmp(name, MCA, strlen(MCA)) == 0)
		return is_harmless(name + strlen(MCA), value)
			       ? 0
			       : set_refusal(why, variable, NT_REASON_PMIX_UNSAFE);
	return is_slurms(name, value, task) ? 0
					    : set_refusal(why, variable, NT_REASON_PMIX_ALTERED);
}

static const char *value_of(char *const *env, const char *name)
{
	size_t bytes = strlen(name);

	for (; *env; env++) {
		if (strncmp(*env, name, bytes) == 0 && (*env)[bytes] == '=')
			return *env + bytes + 1;
	}
	return NULL;
}

int nt_precheck_env(char *const *env, struct nt_reason *why)
{
	const char *task = value_of(env, "SLURM_PROCID");
	bool server = false;

	for (; *env; env++) {
		if (strncmp(*env, PREFIX, strlen(PREFIX)) != 0)
			continue;
		if (check_variable(*env, task, why) < 0)
			return -1;
		server |= strncmp(*env, SERVER_URI, strlen(SERVER_URI)) == 0;
	}
	/* Without it PMIx uses any server that left a file in /tmp. */
	return server ? 0 : set_refusal(why, SERVER_URI " (unset)", NT_REASON_PMIX_ALTERED);
}

int nt_precheck_params(const char *text, struct nt_reason *why)
{
	while (*text) {
		size_t bytes = strcspn(text, "\n");
		char line[256], name[128], value[128], more;
		int parts;

		snprintf(line, sizeof(line), "%.*s", (int)(bytes < INT_MAX ? bytes : INT_MAX),
			 text);
		text += bytes + (text[bytes] == '\n');
		if (sscanf(line, " %c", &more) != 1 || more == '#')
			continue;
		parts = sscanf(line, " %127[^ \t=#] = %127s %c", name, value, &more);
		if (bytes >= sizeof(line) || parts != 2 || !is_harmless(name, value))
			return set_refusal(why, "~/" PARAMS_FILE, NT_REASON_PMIX_UNSAFE);
	}
	return 0;
}

/* 0: text has the contents, "" without a file; -1: not readable as a whole. */
static int read_file(const char *path, char *text, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t bytes = -1;
	size_t total = 0;
	struct stat st;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		while (total < cap && (bytes = read(fd, text + total, cap - total)) > 0)
			total += (size_t)bytes;
	}
	close(fd);
	if (bytes != 0 || total >= cap)
		return -1;
	text[total] = '\0';
	return strlen(text) == total ? 0 : -1;
}

/* The server accepts only the job's user, by the id that the client sends. */
static int check_user(struct nt_reason *why)
{
	const char *job = getenv("SLURM_JOB_UID");
	uint64_t user;

	if (!job || nt_number_parse(job, 0, UINT32_MAX, &user) < 0 || user == geteuid())
		return 0;
	return nt_reason_setf(why, NT_REASON_REMAPPED, "%" PRIu64 ":%u", user, (unsigned)geteuid());
}

/* PMIx finds the home directory in the same way, and crashes without one. */
static int check_home(struct nt_reason *why)
{
	char path[PATH_MAX], text[PARAMS_MAX];
	const char *home = getenv("HOME");
	struct passwd entry, *found = NULL;

	if (!home && getpwuid_r(geteuid(), &entry, text, sizeof(text), &found) == 0 && found)
		home = entry.pw_dir;
	if (!home)
		return nt_reason_set(why, NT_REASON_PMIX_HOME);
	if (snprintf(path, sizeof(path), "%s/" PARAMS_FILE, home) >= (int)sizeof(path))
		return set_refusal(why, "HOME", NT_REASON_PMIX_UNSAFE);
	if (read_file(path, text, sizeof(text)) < 0)
		return set_refusal(why, "~/" PARAMS_FILE, NT_REASON_PMIX_UNSAFE);
	return nt_precheck_params(text, why);
}

static int check_directories(struct nt_reason *why)
{
	const char *store = getenv("PMIX_DSTORE_ESH_BASE_PATH"), *gds = getenv(MCA "gds");
	char here[PATH_MAX];

	if (!getcwd(here, sizeof(here)))
		return nt_reason_set(why, NT_REASON_PMIX_CWD);
	/* Only the other store uses it. */
	if (store && (!gds || strcmp(gds, "hash") != 0) && access(store, R_OK | X_OK) < 0)
		return nt_reason_set(why, NT_REASON_PMIX_STORE);
	return 0;
}

/* PMIx lists those that have an IPv4 address, and prints a line if there is none. */
static int check_interfaces(struct nt_reason *why)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifconf list = { .ifc_len = 0 }; /* the length alone is asked for */
	bool any = fd >= 0 && ioctl(fd, SIOCGIFCONF, &list) == 0 && list.ifc_len > 0;

	if (fd >= 0)
		close(fd);
	return any ? 0 : nt_reason_set(why, NT_REASON_PMIX_NET);
}

int nt_precheck(struct nt_reason *why)
{
	if (check_user(why) < 0 || check_interfaces(why) < 0 || nt_precheck_env(environ, why) < 0 ||
	    check_home(why) < 0)
		return -1;
	return check_directories(why);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The cached fingerprint. */
#include "spank/step/cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/file.h"
#include "lib/printable.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define FILE_MAX 1024

static int name_file(const char *what, char name[NT_CACHE_NAME_MAX], struct nt_error *err)
{
	char id[40] = "";
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, id, sizeof(id) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || strspn(id, "0123456789abcdef-") < 36)
		return nt_error_set(err, "no boot id in " BOOT_ID);
	snprintf(name, NT_CACHE_NAME_MAX, "%s." PACKAGE_VERSION ".%.36s", what, id);
	return 0;
}

int nt_cache_name(char name[NT_CACHE_NAME_MAX], struct nt_error *err)
{
	return name_file("fingerprint", name, err);
}

static int parse(const char *line, uint64_t *fingerprint)
{
	char digits[17];

	if (strspn(line, "0123456789abcdef") != 16)
		return -1;
	memcpy(digits, line, 16);
	digits[16] = '\0';
	*fingerprint = strtoull(digits, NULL, 16);
	return *fingerprint == 0 ? -1 : 0;
}

static int check_file(int fd, const char *name, struct nt_error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return nt_error_set(err, "%s: %m", name);
	if (!S_ISREG(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0) ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)))
		return nt_error_set(err, "%s is not owned by the daemon", name);
	return 0;
}

/* Returns the bytes; -1: it is not used. */
static ssize_t read_file(int rundir_fd, const char *name, char *text, size_t text_bytes,
			 struct nt_error *err)
{
	ssize_t bytes = -1;
	int fd = openat(rundir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return nt_error_set(err, "%s: %m", name);
	if (check_file(fd, name, err) == 0)
		bytes = read(fd, text, text_bytes - 1);
	close(fd);
	text[bytes > 0 ? bytes : 0] = '\0';
	return bytes;
}

int nt_cache_read(int rundir_fd, uint64_t *fingerprint, struct nt_error *err)
{
	char name[NT_CACHE_NAME_MAX], text[FILE_MAX];
	ssize_t bytes;

	*fingerprint = 0;
	if (nt_cache_name(name, err) < 0)
		return -1;
	bytes = read_file(rundir_fd, name, text, sizeof(text), err);
	if (bytes < 0)
		return -1;
	if (bytes < 16 || parse(text, fingerprint) < 0)
		return nt_error_set(err, "%s contains no fingerprint", name);
	return 0;
}

void nt_cache_read_facts(int rundir_fd, char facts[NT_NODE_FACTS_MAX])
{
	char name[NT_CACHE_NAME_MAX];

	facts[0] = '\0';
	if (name_file("facts", name, NULL) == 0)
		(void)read_file(rundir_fd, name, facts, NT_NODE_FACTS_MAX, NULL);
	facts[strcspn(facts, "\n")] = '\0';
	nt_printable_json(facts);
}

static int write_file(int rundir_fd, const char *name, const char *text, struct nt_error *err)
{
	if (nt_file_put(rundir_fd, name, text, strlen(text), 0644, err) < 0)
		return -1;
	/* The umask of a daemon may be strict; the file is no secret. */
	if (fchmodat(rundir_fd, name, 0644, 0) < 0)
		return nt_error_set(err, "%s: %m", name);
	return 0;
}

int nt_cache_write_facts(int rundir_fd, const char *facts, struct nt_error *err)
{
	char name[NT_CACHE_NAME_MAX], text[NT_NODE_FACTS_MAX + 1];

	if (name_file("facts", name, err) < 0)
		return -1;
	snprintf(text, sizeof(text), "%s\n", facts);
	return write_file(rundir_fd, name, text, err);
}

int nt_cache_write(int rundir_fd, uint64_t fingerprint, const char *text, struct nt_error *err)
{
	char name[NT_CACHE_NAME_MAX], content[FILE_MAX];

	if (nt_cache_name(name, err) < 0)
		return -1;
	snprintf(content, sizeof(content), "%016" PRIx64 " %.220s\n", fingerprint, text);
	return write_file(rundir_fd, name, content, err);
}

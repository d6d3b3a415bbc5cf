/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint's file. */
#include "spank/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define NAME_BYTES 64

static int boot_name(char name[NAME_BYTES], struct nt_error *err)
{
	char id[40] = "";
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, id, sizeof(id) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || strspn(id, "0123456789abcdef-") < 36)
		return nt_error_set(err, "no boot id in " BOOT_ID);
	snprintf(name, NAME_BYTES, "fingerprint.%.36s", id);
	return 0;
}

static int parse(const char *line, uint64_t *fingerprint)
{
	char digits[17];
	char *end;

	if (strspn(line, "0123456789abcdef") != 16)
		return -1;
	memcpy(digits, line, 16);
	digits[16] = '\0';
	errno = 0;
	*fingerprint = strtoull(digits, &end, 16);
	return errno || *fingerprint == 0 ? -1 : 0;
}

int nt_cache_read(int rundir_fd, uint64_t *fingerprint, struct nt_error *err)
{
	char name[NAME_BYTES];
	char line[32] = "";
	struct stat status;
	int rc = -1;
	int fd;

	if (boot_name(name, err) < 0)
		return -1;
	fd = openat(rundir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return nt_error_set(err, "%s: %m", name);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)))
		nt_error_set(err, "%s is not the daemon's own file", name);
	else if (read(fd, line, sizeof(line) - 1) < 16 || parse(line, fingerprint) < 0)
		nt_error_set(err, "%s holds no fingerprint", name);
	else
		rc = 0;
	close(fd);
	return rc;
}

int nt_cache_write(int rundir_fd, uint64_t fingerprint, const char *text, struct nt_error *err)
{
	char name[NAME_BYTES], temporary[NAME_BYTES + 24];
	char line[256];
	int n, fd;
	int rc = 0;

	if (boot_name(name, err) < 0)
		return -1;
	n = snprintf(line, sizeof(line), "%016" PRIx64 " %.220s\n", fingerprint, text);
	snprintf(temporary, sizeof(temporary), ".%s.%d", name, (int)getpid());
	fd = openat(rundir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return nt_error_set(err, "%s: %m", temporary);
	/* The umask of a daemon may be strict; the file is no secret. */
	if (write(fd, line, (size_t)n) != n || fchmod(fd, 0644) < 0)
		rc = nt_error_set(err, "%s: %m", temporary);
	close(fd);
	if (rc == 0 && renameat(rundir_fd, temporary, rundir_fd, name) < 0)
		rc = nt_error_set(err, "%s: %m", name);
	if (rc < 0)
		unlinkat(rundir_fd, temporary, 0);
	return rc;
}

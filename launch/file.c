/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out. */
#include "launch/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(int fd, const char *name, unsigned flags, size_t largest, struct nt_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode)) {
		errno = EPERM;
		return nt_error_set(err, "%.120s is no regular file", name);
	}
	if ((flags & NT_LAUNCH_ROOT_ONLY) != 0 &&
	    (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
		errno = EPERM;
		return nt_error_set(err, "%.120s is not root's alone to write", name);
	}
	if (st.st_size < 0 || (uintmax_t)st.st_size > largest) {
		errno = EFBIG;
		return nt_error_set(err, "%.120s: longer than %zu bytes", name, largest);
	}
	return 0;
}

/* At most bytes; fewer only at the end of the file. -1 and errno if reading fails. */
static ssize_t read_some(int fd, char *out, size_t bytes)
{
	size_t used = 0;

	while (used < bytes) {
		ssize_t more = read(fd, out + used, bytes - used);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -1;
		if (more == 0)
			break;
		used += (size_t)more;
	}
	return (ssize_t)used;
}

/* The file may grow while it is read, or be of a kind that tells no size: room by doubling. */
static int read_whole(int fd, size_t largest, char **text, size_t *bytes)
{
	size_t room = 4096, used = 0;
	char *buffer = NULL;

	for (;;) {
		char *grown = realloc(buffer, room);
		ssize_t more;

		if (grown == NULL)
			break;
		buffer = grown;
		more = read_some(fd, buffer + used, room - used);
		if (more < 0)
			break;
		used += (size_t)more;
		if (used > largest) {
			errno = EFBIG;
			break;
		}
		if (used < room) {
			buffer[used] = '\0';
			*text = buffer;
			*bytes = used;
			return 0;
		}
		room *= 2;
	}
	free(buffer);
	return -1;
}

int nt_launch_file_read(int dir, const char *name, unsigned flags, size_t largest, char **text,
			size_t *bytes, struct nt_error *err)
{
	int link = (flags & NT_LAUNCH_NO_LINK) != 0 ? O_NOFOLLOW : 0;
	/* O_NONBLOCK: a FIFO must not hold us. */
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | link);
	int rc = -1, why;

	if (fd < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	if (check(fd, name, flags, largest, err) == 0) {
		rc = read_whole(fd, largest, text, bytes);
		if (rc < 0)
			nt_error_set(err, "%.120s: %s", name, strerror(errno));
	}
	why = errno;
	close(fd);
	errno = why;
	return rc;
}

static int write_whole(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t more = write(fd, text, bytes);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -1;
		text += more;
		bytes -= (size_t)more;
	}
	return fsync(fd);
}

/* The directory's own entry on disk; file systems that cannot do it are left alone. */
static void sync_parent(int dir, const char *name)
{
	const char *slash = strrchr(name, '/');
	char parent[512] = ".";
	int fd;

	if (slash != NULL)
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - name) + 1, name);
	fd = openat(dir, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int name_for_now(const char *name, char *out, size_t out_bytes)
{
	const char *slash = strrchr(name, '/');
	int parent = slash != NULL ? (int)(slash - name) + 1 : 0;
	uint64_t random;
	int length;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -1;
	length = snprintf(out, out_bytes, "%.*s.%.100s.%016" PRIx64 ".tmp", parent, name,
			  name + parent, random);
	if (length >= 0 && (size_t)length < out_bytes)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

int nt_launch_file_replace(int dir, const char *name, const char *text, size_t bytes, mode_t mode,
			   struct nt_error *err)
{
	char temporary[512];
	int fd, rc, why;

	if (name_for_now(name, temporary, sizeof(temporary)) < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return nt_error_set(err, "%.120s: %s", temporary, strerror(errno));
	rc = write_whole(fd, text, bytes);
	why = errno;
	if (close(fd) < 0 && rc == 0) { /* NFS tells of a full disk here */
		rc = -1;
		why = errno;
	}
	if (rc == 0) {
		rc = renameat(dir, temporary, dir, name);
		why = errno;
	}
	if (rc < 0) {
		unlinkat(dir, temporary, 0);
		errno = why;
		return nt_error_set(err, "%.120s: %s", name, strerror(why));
	}
	sync_parent(dir, name);
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/write-all.h"

static int check_file(int fd, const char *name, unsigned flags, size_t largest,
		      struct nt_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode)) {
		errno = EPERM;
		return nt_error_set(err, "%.120s is not a regular file", name);
	}
	if ((flags & NT_FILE_ROOT_ONLY) != 0 &&
	    (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
		errno = EPERM;
		return nt_error_set(err, "%.120s is writable by others than root", name);
	}
	if (st.st_size < 0 || (uintmax_t)st.st_size > largest) {
		errno = EFBIG;
		return nt_error_set(err, "%.120s: larger than %zu bytes", name, largest);
	}
	return 0;
}

/* Fewer than bytes only at the end of the file. -1 and errno. */
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

/* The file may grow while it is read, or have no size. */
static int read_whole(int fd, size_t largest, char **text, size_t *bytes)
{
	size_t size = 0, used = 0;
	char *buffer = NULL;

	while (nt_array_reserve(&buffer, &size, size + 1)) {
		ssize_t more = read_some(fd, buffer + used, size - used);

		if (more < 0)
			break;
		used += (size_t)more;
		if (used > largest) {
			errno = EFBIG;
			break;
		}
		if (used < size) {
			buffer[used] = '\0';
			*text = buffer;
			*bytes = used;
			return 0;
		}
	}
	free(buffer);
	return -1;
}

int nt_file_read_fd(int fd, const char *name, size_t largest, char **text, size_t *bytes,
		    struct nt_error *err)
{
	if (read_whole(fd, largest, text, bytes) == 0)
		return 0;
	if (errno == EFBIG)
		return nt_error_set(err, "%.120s: larger than %zu bytes", name, largest);
	return nt_error_set(err, "%.120s: %s", name, strerror(errno));
}

static void close_kept_errno(int fd)
{
	int why = errno;

	close(fd);
	errno = why;
}

int nt_file_read_at(int dir, const char *name, unsigned flags, size_t largest, char **text,
		    size_t *bytes, struct nt_error *err)
{
	int link = (flags & NT_FILE_NO_LINK) != 0 ? O_NOFOLLOW : 0;
	/* O_NONBLOCK: do not block on a FIFO. */
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | link);
	int rc;

	if (fd < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	rc = check_file(fd, name, flags, largest, err);
	if (rc == 0)
		rc = nt_file_read_fd(fd, name, largest, text, bytes, err);
	close_kept_errno(fd);
	return rc;
}

int nt_file_read(const char *path, size_t largest, char **text, size_t *bytes, struct nt_error *err)
{
	int fd, rc;

	if (strcmp(path, "-") == 0)
		return nt_file_read_fd(STDIN_FILENO, "standard input", largest, text, bytes, err);
	/* A FIFO without a writer is at its end. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return nt_error_set(err, "%.120s: %s", path, strerror(errno));
	(void)fcntl(fd, F_SETFL, 0);
	rc = nt_file_read_fd(fd, path, largest, text, bytes, err);
	close_kept_errno(fd);
	return rc;
}

/* Ignores file systems that cannot sync a directory. */
static void sync_parent(int dir, const char *name)
{
	const char *slash = strrchr(name, '/');
	char parent[PATH_MAX] = ".";
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

static int replace_file(int dir, const char *name, const void *data, size_t bytes, mode_t mode,
			bool sync, struct nt_error *err)
{
	char temporary[PATH_MAX];
	int fd, rc, why;

	if (name_for_now(name, temporary, sizeof(temporary)) < 0)
		return nt_error_set(err, "%.120s: %s", name, strerror(errno));
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return nt_error_set(err, "%.120s: %s", temporary, strerror(errno));
	rc = nt_write_all(fd, data, bytes);
	if (rc == 0 && sync)
		rc = fsync(fd);
	why = errno;
	if (close(fd) < 0 && rc == 0) { /* NFS reports a full disk here */
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
	if (sync)
		sync_parent(dir, name);
	return 0;
}

int nt_file_replace(int dir, const char *name, const void *data, size_t bytes, mode_t mode,
		    struct nt_error *err)
{
	return replace_file(dir, name, data, bytes, mode, true, err);
}

int nt_file_put(int dir, const char *name, const void *data, size_t bytes, mode_t mode,
		struct nt_error *err)
{
	return replace_file(dir, name, data, bytes, mode, false, err);
}

int nt_directories_make(const char *path, struct nt_error *err)
{
	char part[PATH_MAX];
	const size_t length = strlen(path);

	if (length == 0 || length >= sizeof(part))
		return nt_error_set(err, "bad directory name");
	memcpy(part, path, length + 1);
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return nt_error_set(err, "%.150s cannot be made: %m", part);
		part[i] = path[i];
	}
	return 0;
}

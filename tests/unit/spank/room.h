/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - a directory for tests of steps' directories, in the test's own mount namespace if it is
 * root */
#ifndef NT_TEST_ROOM_H
#define NT_TEST_ROOM_H

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_UID 12345u /* another user */

static char top[64], rundir[96];

/* Gives the test its own mounts, which end with it. false: not possible. */
static inline bool room_alone(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) == 0;
}

static inline int room_make(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "%s", "/tmp/nt-room.XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0755) < 0)
		return -1;
	snprintf(rundir, sizeof(rundir), "%s/run", top);
	return 0;
}

/* In a shell: cd TOP, then this. Its exit status. */
static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *format, ...)
{
	char command[2048];
	int used = snprintf(command, sizeof(command), "cd '%s' && ", top);
	va_list args;

	va_start(args, format);
	vsnprintf(command + used, sizeof(command) - (size_t)used, format, args);
	va_end(args);
	return system(command);
}

static inline int room_remove(void **state)
{
	(void)state;
	(void)shell("while read -r _ at _; do case $at in '%s'/*) umount -l \"$at\" ;; esac; "
		    "done </proc/mounts",
		    top);
	return shell("chmod -R u+rwx . 2>/dev/null; cd / && rm -rf '%s'", top);
}

static inline bool there(const char *name)
{
	char path[512];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return lstat(path, &status) == 0;
}

#endif

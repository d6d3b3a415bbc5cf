/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mute.c - a FUSE file system that never answers
 *
 * nt-mute PLACE...: mounted on each, for all users, as fusermount does for an ordinary user; then
 * waits to be ended. Whoever looks at it waits as long as it lives. "mounted" on stdout says that
 * it is there. Exit 77: there is no FUSE here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int mount_on(const char *place)
{
	char options[96];
	struct stat status;
	int fd = open("/dev/fuse", O_RDWR);

	if (fd < 0 || stat(place, &status) < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other", fd,
		 status.st_mode & S_IFMT);
	return mount("mute", place, "fuse", MS_NOSUID | MS_NODEV, options);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (mount_on(argv[i]) < 0) {
			perror(argv[i]);
			return 77;
		}
	}
	puts("mounted");
	fflush(stdout);
	for (;;)
		pause();
}

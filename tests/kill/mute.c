/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mute.c - a FUSE file system that never answers
 *
 * nt-mute [--take] PLACE...: mounted on each, for all users, as fusermount does for an ordinary
 * user; then waits to be ended. Whoever looks at it waits as long as it lives; with --take, which
 * takes requests and answers none, nothing can kill him until then. "mounted" on stdout says that
 * it is there. Exit 77: there is no FUSE here.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACES_MAX 8

static int mount_on(const char *place)
{
	char options[96];
	struct stat status;
	int fd = open("/dev/fuse", O_RDWR);

	if (fd < 0 || stat(place, &status) < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other", fd,
		 status.st_mode & S_IFMT);
	return mount("mute", place, "fuse", MS_NOSUID | MS_NODEV, options) < 0 ? -1 : fd;
}

/* The kernel sends nothing else before this has been answered. */
static void take(int fd)
{
	static char request[1 << 18];
	struct fuse_in_header in;
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} out = {
		.head = { .len = sizeof(out) },
		.init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096 },
	};

	if (read(fd, request, sizeof(request)) < (ssize_t)sizeof(in))
		return;
	memcpy(&in, request, sizeof(in));
	out.head.unique = in.unique;
	if (in.opcode == FUSE_INIT && write(fd, &out, sizeof(out)) < 0)
		perror("nt-mute");
}

int main(int argc, char **argv)
{
	const int first = argc > 1 && strcmp(argv[1], "--take") == 0 ? 2 : 1;
	struct pollfd polls[PLACES_MAX];
	nfds_t count = 0;

	for (int i = first; i < argc && count < PLACES_MAX; i++) {
		polls[count] = (struct pollfd){ .fd = mount_on(argv[i]), .events = POLLIN };
		if (polls[count++].fd < 0) {
			perror(argv[i]);
			return 77;
		}
	}
	puts("mounted");
	fflush(stdout);
	while (first == 1)
		pause();
	while (poll(polls, count, -1) > 0) {
		for (nfds_t i = 0; i < count; i++) {
			if (polls[i].revents & POLLIN)
				take(polls[i].fd);
			else if (polls[i].revents)
				polls[i].fd = -1; /* unmounted */
		}
	}
	return 0;
}

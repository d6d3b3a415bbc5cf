/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/together.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NAME "together"
#define PATH_BYTES 96
/* Spin this often, then sleep between looks: with fewer cores than ranks, a spinning rank can take
 * the core of one that it waits for, even with sched_yield(). */
#define SPINS 1000000
#define NAP_NS 50000

static int create(const char *path, struct nt_error *err)
{
	const struct nt_together_page page = { .turn = 0 };
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return nt_error_set(err, "%s: %s", path, strerror(errno));
	if (write(fd, &page, sizeof(page)) != (ssize_t)sizeof(page)) {
		nt_error_set(err, "%s: %s", path, strerror(errno));
		close(fd);
		unlink(path);
		return -1;
	}
	close(fd);
	return 0;
}

static struct nt_together_page *map(const char *path, struct nt_error *err)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	void *page = MAP_FAILED;

	if (fd >= 0)
		page = mmap(NULL, sizeof(struct nt_together_page), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		nt_error_set(err, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return page == MAP_FAILED ? NULL : page;
}

int nt_together_open(struct nt_together *t, const struct nt_meet *meet, int timeout_s,
		     struct nt_error *err)
{
	char path[PATH_BYTES] = "";

	*t = (struct nt_together){ .ranks = meet->ranks };
	if (meet->rank == 0) {
		snprintf(path, sizeof(path), "/dev/shm/nccl-tune-bench.%.40s.%d", meet->run,
			 (int)getpid());
		if (create(path, err) < 0)
			return -1;
		if (nt_meet_put(meet, NAME, path, sizeof(path), err) < 0) {
			unlink(path);
			return -1;
		}
	} else if (nt_meet_get(meet, NAME, path, sizeof(path), timeout_s, err) < 0) {
		return -1;
	}
	path[sizeof(path) - 1] = '\0';
	t->page = map(path, err);
	if (!t->page)
		return -1;
	nt_together_wait(t);
	if (meet->rank == 0) {
		nt_meet_remove(meet, NAME);
		unlink(path);
	}
	return 0;
}

void nt_together_wait(struct nt_together *t)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const uint32_t turn = atomic_load(&t->page->turn);

	if (atomic_fetch_add(&t->page->arrived, 1) + 1 == (uint32_t)t->ranks) {
		atomic_store(&t->page->arrived, 0);
		atomic_fetch_add(&t->page->turn, 1);
		return;
	}
	for (unsigned spins = 0; atomic_load_explicit(&t->page->turn, memory_order_acquire) == turn;
	     spins++) {
		if (spins >= SPINS)
			nanosleep(&nap, NULL);
	}
}

void nt_together_close(struct nt_together *t)
{
	if (t->page)
		munmap(t->page, sizeof(*t->page));
	t->page = NULL;
}

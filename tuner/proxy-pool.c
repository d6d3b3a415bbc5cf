/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/proxy-pool.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "lib/number.h"

#define DIRECTORY "/dev/shm"
#define RESERVE_PART 4 /* a quarter of the file system ... */
#define RESERVE_MOST (UINT64_C(256) << 20) /* ... at most */
#define RESERVE_FILES 16
#define DESCRIPTORS 16 /* the pool's two, a connection's two, and some more */
#define THREADS 8 /* of a rank: those that NCCL starts later, and ours */
#define THREADS_MOST 65536 /* larger limits are not looked at */
#define RANKS_MOST 1024

bool nt_proxy_pool_opened(uint32_t nccl, int api)
{
	/* v3 of the interface brought KernelCh, v7 came with the thread. */
	return api >= 3 && (nccl != 0 ? nccl < 23100 : api < 7);
}

void nt_proxy_pool_look(struct nt_proxy_room *room)
{
	struct statvfs status;

	*room = (struct nt_proxy_room){ .usable = false };
	if (access(DIRECTORY, W_OK | X_OK) < 0 || statvfs(DIRECTORY, &status) < 0)
		return;
	room->usable = true;
	room->bytes = (uint64_t)status.f_blocks * status.f_frsize;
	room->free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
	room->files = status.f_files;
	room->free_files = status.f_favail;
}

bool nt_proxy_pool_fits(const struct nt_proxy_room *room, unsigned pools)
{
	uint64_t reserve = room->bytes / RESERVE_PART;

	if (reserve > RESERVE_MOST)
		reserve = RESERVE_MOST;
	return room->usable &&
	       (room->bytes == 0 || room->free_bytes >= pools * NT_PROXY_POOL_BYTES + reserve) &&
	       (room->files == 0 || room->free_files >= (uint64_t)pools + RESERVE_FILES);
}

/* New descriptors are the lowest free ones. */
static bool has_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;
	for (rlim_t i = 1; i <= DESCRIPTORS; i++) {
		if (limit.rlim_cur < i || fcntl((int)(limit.rlim_cur - i), F_GETFD) >= 0)
			return false;
	}
	return true;
}

static bool has_addresses(void)
{
	/* Two mappings, twice as much for operations in progress, and as much as a reserve */
	const size_t bytes = 8 * (size_t)NT_PROXY_POOL_BYTES;
	void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, bytes);
	return true;
}

/* Threads of this user that can be seen. Their directory has two links more. */
static uint64_t user_threads(DIR *proc)
{
	uint64_t threads = 0;
	struct dirent *entry;
	char path[sizeof(entry->d_name) + sizeof("/task")];
	struct stat st;

	while ((entry = readdir(proc))) {
		int task;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		/* Old glibc has no symbol fstatat. */
		snprintf(path, sizeof(path), "%s/task", entry->d_name);
		task = openat(dirfd(proc), path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (task < 0)
			continue;
		if (fstat(task, &st) == 0 && st.st_uid == getuid() && st.st_nlink > 2)
			threads += st.st_nlink - 2;
		close(task);
	}
	return threads;
}

bool nt_proxy_pool_threads(unsigned ranks)
{
	struct rlimit limit;
	uint64_t threads;
	DIR *proc;

	/* It does not hold for root. */
	if (getuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) < 0 || limit.rlim_cur >= THREADS_MOST)
		return true;
	proc = opendir("/proc");
	if (!proc)
		return true;
	threads = user_threads(proc);
	closedir(proc);
	return threads + (uint64_t)THREADS * ranks <= limit.rlim_cur;
}

static void *do_nothing(void *arg)
{
	return arg;
}

static bool has_thread(void)
{
	pthread_t thread;
	sigset_t all, before;
	bool started;

	/* It must not handle the application's signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, do_nothing, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_join(thread, NULL);
	return started;
}

/* A larger file would bring SIGXFSZ. */
static bool has_file_size(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       limit.rlim_cur >= NT_PROXY_POOL_BYTES;
}

bool nt_proxy_pool_limits(unsigned ranks)
{
	return has_file_size() && has_descriptors() && has_addresses() &&
	       nt_proxy_pool_threads(ranks) && has_thread();
}

unsigned nt_proxy_pool_ranks(const char *tasks_per_node, const char *local_world)
{
	uint64_t most = 1, value;
	const char *text = tasks_per_node ? tasks_per_node : "";

	while (*text) {
		value = strtoull(text, NULL, 10);
		if (value > most)
			most = value;
		text += strcspn(text, ",");
		text += *text == ',';
	}
	if (local_world && nt_number_parse(local_world, 1, RANKS_MOST, &value) == 0 && value > most)
		most = value;
	return most > RANKS_MOST ? RANKS_MOST : (unsigned)most;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A user's memory on disk: many writers at once, kills at any moment, and nothing lost */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "tests/unit/launch/select-world.h"
#include "launch/memory-store.h"
#include "tests/unit/scratch.h"

static struct nt_error err;
static unsigned files_with(const char *suffix)
{
	DIR *open = opendir(top);
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(open)) != NULL)
		count += strlen(entry->d_name) > strlen(suffix) &&
			 strcmp(entry->d_name + strlen(entry->d_name) - strlen(suffix), suffix) ==
				 0;
	closedir(open);
	return count;
}

static int put(const char *profile, uint32_t job, uint32_t step)
{
	struct nt_memory memory;
	struct nt_memory_entry entry = world_entry(profile, job, step);
	int rc;

	nt_memory_init(&memory);
	world_key(&entry, 65536, 10, 100);
	nt_memory_add_take(&memory, &entry, &err);
	rc = nt_store_add(top, &memory, NOW_S, &err);
	nt_memory_fini(&memory);
	return rc;
}

/* The number of entries that a reader finds; has[job] counts each job's. */
static size_t read_back(unsigned *of_job, unsigned jobs)
{
	struct nt_memory memory;
	size_t entries;

	nt_memory_init(&memory);
	assert_int_equal(nt_store_read(top, &memory, NOW_S, &err), 0);
	for (size_t i = 0; i < memory.entries; i++)
		if (memory.entry[i].job < jobs)
			of_job[memory.entry[i].job]++;
	entries = memory.entries;
	nt_memory_fini(&memory);
	return entries;
}

static void what_is_put_is_read(void **state)
{
	unsigned none[1];
	char saved[sizeof(top)];

	memcpy(saved, top, sizeof(saved));
	snprintf(top, sizeof(top), "/tmp/nt-store-none/x");
	assert_int_equal(read_back(none, 0), 0);
	memcpy(top, saved, sizeof(top));
	assert_int_equal(put("default", 1, 0), 0);
	assert_int_equal(put("sockets-wide", 1, 1), 0);
	assert_int_equal(read_back(none, 0), 2);
	assert_int_equal(nt_store_compact(top, NOW_S, &err), 0);
	assert_int_equal(read_back(none, 0), 2);
	assert_int_equal(files_with(".jsonl"), 1);
	assert_int_equal(
		nt_store_forget(top, &(struct nt_which){ 0xf3, "sockets-wide" }, NOW_S, &err), 1);
	assert_int_equal(read_back(none, 0), 1);
	assert_int_equal(nt_store_forget(top, &(struct nt_which){ 0xf4, NULL }, NOW_S, &err), 0);
	assert_int_equal(nt_store_forget(top, &(struct nt_which){ 0, NULL }, NOW_S, &err), 1);
	assert_int_equal(read_back(none, 0), 0);
}

static void foreign_files_are_left(void **state)
{
	unsigned none[1];
	char path[128];
	int fd;

	assert_int_equal(put("default", 1, 0), 0);
	snprintf(path, sizeof(path), "%s/notes.jsonl", top);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "not ours\n", 9), 9);
	close(fd);
	snprintf(path, sizeof(path), "%s/pipe.jsonl", top);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/link.jsonl", top);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(nt_store_compact(top, NOW_S, &err), 0);
	assert_int_equal(read_back(none, 0), 1);
	assert_int_equal(files_with(".jsonl"), 4);
}

#define WRITERS 8
#define STEPS 20

/* Eight jobs at once, with enough files for each to compact now and then, while another process
 * compacts all the time; readers never see less than was written. */
static void eight_writers_lose_nothing(void **state)
{
	unsigned of_job[WRITERS] = { 0 };
	pid_t compactor, writer[WRITERS];
	size_t seen = 0, now;

	for (unsigned i = 0; i < WRITERS; i++) {
		writer[i] = fork();
		if (writer[i] != 0)
			continue;
		for (uint32_t step = 0; step < STEPS; step++)
			if (put("default", i, step) < 0)
				_exit(1);
		_exit(0);
	}
	compactor = fork();
	if (compactor == 0)
		for (;;) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the test */
			nt_store_compact(top, NOW_S, NULL);
		}
	for (unsigned i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(writer[i], &status, 0), writer[i]);
		assert_int_equal(status, 0);
		now = read_back(of_job, 0);
		assert_true(now >= seen && now >= STEPS * (i + 1u));
		seen = now;
	}
	kill(compactor, SIGKILL);
	waitpid(compactor, NULL, 0);
	assert_int_equal(read_back(of_job, WRITERS), WRITERS * STEPS);
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(of_job[i], STEPS);
}

/* Writers and compactors killed at random moments. Every entry that a writer has reported is there;
 * the one being written is there once or not at all. */
static void kills_lose_nothing(void **state)
{
	uint64_t seed = 5;
	size_t reported = 0;

	for (uint32_t round = 0; round < 40; round++) {
		unsigned of_job[1] = { 0 };
		int report[2];
		char byte;
		pid_t child;

		assert_int_equal(pipe(report), 0);
		child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (uint32_t step = 0;; step++) {
				if (put("default", 100 + round, step) < 0 ||
				    write(report[1], "x", 1) != 1)
					_exit(1);
				if (step % 3 == 2)
					nt_store_compact(top, NOW_S, NULL);
			}
		}
		close(report[1]);
		for (unsigned i = 0; i < round % 5; i++)
			reported += read(report[0], &byte, 1) == 1;
		usleep((useconds_t)(20000 * world_random(&seed)));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		while (read(report[0], &byte, 1) == 1)
			reported++;
		close(report[0]);
		assert_true(read_back(of_job, 0) >= reported);
		assert_true(read_back(of_job, 0) <= reported + round + 1);
	}
	assert_true(reported >= 80);
	/* Unfinished files are removed a day later. */
	assert_int_equal(nt_store_compact(top, (int64_t)time(NULL) + 2 * NT_STORE_STALE_S, &err),
			 0);
	assert_int_equal(files_with(".tmp"), 0);
}

static void two_that_compact_at_once_lose_nothing(void **state)
{
	unsigned none[1];
	pid_t child[4];

	for (uint32_t step = 0; step < 30; step++)
		assert_int_equal(put("default", 1, step), 0);
	for (unsigned i = 0; i < 4; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			for (unsigned round = 0; round < 30; round++)
				nt_store_compact(top, NOW_S, NULL);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < 4; i++)
		waitpid(child[i], NULL, 0);
	assert_int_equal(read_back(none, 0), 30);
}

UNIT_TESTS_EACH(make_top, remove_top, what_is_put_is_read, foreign_files_are_left,
		eight_writers_lose_nothing, kills_lose_nothing,
		two_that_compact_at_once_lose_nothing);

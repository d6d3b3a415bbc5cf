/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-write.c - the traced plugin's events into the file that NT_TRACE names
 *
 * nt-trace-check --make has made the file. All nodes of the step must be of this machine: the file
 * has one lock, and so its events one order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/error.h"
#include "pmix-sync/pmix-log.h"
#include "pmix-sync/shm.h"
#include "tests/model/trace-atomics.h"
#include "tests/model/trace-file.h"
#include "tests/model/trace-wrap.h"

int __real_nt_shm_map(struct nt_shm_map *map, struct nt_reason *why);
int __wrap_nt_shm_map(struct nt_shm_map *map, struct nt_reason *why);
int __real_nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count,
			 struct nt_error *err);
int __wrap_nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count,
			 struct nt_error *err);

static struct trace_file *file; /* NULL: no trace is wanted */
static size_t room;
static const struct nt_shm *shm;
static uint32_t node;
static bool again; /* the last append failed: the same bytes come once more */

static _Thread_local struct {
	struct trace_event turn, newest;
} mine;

static void begin(const struct nt_shm_map *map)
{
	const char *path = getenv("NT_TRACE"), *number = getenv("SLURM_NODEID");
	struct stat st;
	void *at;
	int fd;

	if (!map->shm || !path)
		return;
	node = number ? (uint32_t)strtoul(number, NULL, 10) : 0;
	shm = map->shm;
	if (file)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		abort(); /* a test that traces nothing must not pass */
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	file = at;
	room = ((size_t)st.st_size - sizeof(*file)) / sizeof(file->event[0]);
}

int __wrap_nt_shm_map(struct nt_shm_map *map, struct nt_reason *why)
{
	const int rc = __real_nt_shm_map(map, why);

	begin(map);
	return rc;
}

/* A process that is killed with the lock leaves an event of which nobody knows whether it
 * happened. */
static void lock(void)
{
	if (pthread_mutex_lock(&file->lock) == EOWNERDEAD) {
		if (file->head.torn == 0)
			file->head.torn = file->head.count;
		pthread_mutex_consistent(&file->lock);
	}
}

static void unlock(void)
{
	pthread_mutex_unlock(&file->lock);
}

static void write_locked(const struct trace_event *event)
{
	if (file->head.count == room) {
		file->head.full = 1;
		return;
	}
	file->event[file->head.count] = *event;
	file->head.count++;
	mine.newest = *event;
}

static bool same(const struct trace_event *a, const struct trace_event *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool place(const void *at, struct trace_event *event)
{
	if (!file || !shm || !trace_place(shm, at, event))
		return false;
	event->node = node;
	return event->comm != 0;
}

int trace_store_begin(const void *at, uint64_t value)
{
	struct trace_event event = { .what = TRACE_STORE, .value = value };

	if (!place(at, &event) || (event.field == TRACE_SEAT && value == NT_PARTICIPANT_FREE))
		return 0;
	if (event.field == TRACE_NO_FIELD)
		event.what = TRACE_FREE;
	else if (event.field == TRACE_EPOCH)
		trace_plan(at, &event);
	/* A rank in doubt does the same over and over. */
	if (event.field == TRACE_TURN && same(&event, &mine.turn) &&
	    (mine.newest.field == TRACE_HOLD || mine.newest.field == TRACE_TURN) &&
	    mine.newest.slot == event.slot && mine.newest.key == event.key)
		return 0;
	if (event.field == TRACE_TURN)
		mine.turn = event;
	lock();
	write_locked(&event);
	return 1;
}

void trace_store_end(void)
{
	unlock();
}

int trace_load_begin(const void *at)
{
	struct trace_event event;

	if (!place(at, &event) ||
	    (event.field != TRACE_HOLD && event.field != TRACE_EPOCH && event.field != TRACE_TURN))
		return 0;
	lock();
	return 1;
}

void trace_load_end(const void *at, uint64_t value, int take)
{
	struct trace_event event = { .what = TRACE_LOAD, .value = value, .take = (uint8_t)take };

	(void)place(at, &event);
	if (event.field != TRACE_TURN)
		event.slot = mine.turn.slot;
	if ((event.field != TRACE_EPOCH || take) &&
	    !(event.field == TRACE_HOLD && same(&event, &mine.newest)))
		write_locked(&event);
	unlock();
}

void trace_give(const struct trace_event *event)
{
	if (!file)
		return;
	lock();
	write_locked(event);
	unlock();
}

uint32_t trace_node_of(const struct nt_shm *of)
{
	(void)of;
	return node;
}

/* Others may read the entries before this returns. */
int __wrap_nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count,
			 struct nt_error *err)
{
	int rc;

	if (!again)
		trace_append(node, bytes, count);
	rc = __real_nt_log_append(log, bytes, count, err);
	again = rc < 0;
	return rc;
}

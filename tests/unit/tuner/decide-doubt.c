/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-doubt.c - decisions that must wait, and those that may no longer follow a plan: doubt,
 * captures, late events */
#include "tests/unit/tuner/decide-host.h"

#include <pthread.h>
#include <time.h>

#define SIZE 262144u

static void a_capture_ends_windows_and_keeps_arms(void **state)
{
	const struct nt_schedule screen = host_screen(), final = host_final(TREE_SIMPLE);
	struct nt_shm_key *key[3];
	struct nt_plan plan;
	unsigned m;
	static struct host h;

	host_open(&h, "bandit");
	m = h.comm->fixed.slot.index;
	plan = host_plan(1, host_open_key(&h, NT_REDUCESCATTER, SIZE), &final);
	key[0] = host_key(&h, NT_REDUCESCATTER, SIZE);
	host_commit(key[0], &plan);
	host_collective(&h, NT_REDUCESCATTER, SIZE); /* reached */
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &screen);
	key[1] = host_key(&h, NT_ALLREDUCE, SIZE);
	plan.run = host_run(&h, key[1]);
	host_commit(key[1], &plan);
	host_collective(&h, NT_ALLREDUCE, SIZE); /* within its window */
	plan = host_plan(1, host_open_key(&h, NT_ALLGATHER, SIZE) + 5, &final);
	key[2] = host_key(&h, NT_ALLGATHER, SIZE);
	host_commit(key[2], &plan);
	host_collective(&h, NT_ALLGATHER, SIZE); /* committed, not reached */
	nt_event_call(h.comm, true);
	assert_int_equal(h.mask, 0);
	assert_true(atomic_load(&h.comm->fixed.shm->slot[m].flags) & NT_PARTICIPANT_GRAPHS);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
		assert_int_equal(host_collective(&h, NT_ALLGATHER, SIZE), RING_SIMPLE);
		assert_int_equal(host_collective(&h, NT_REDUCESCATTER, SIZE), TREE_SIMPLE);
	}
	assert_int_equal(h.mask, 0);
	/* The node leader must not wait for this rank. */
	for (int i = 1; i < 3; i++) {
		assert_true(atomic_load(&key[i]->turn[m]) >= NT_TURN_GONE);
		assert_int_equal(atomic_load(&key[i]->passed[m]), 1);
	}
	/* A hold that is set too late stops no rank. */
	atomic_store(&key[1]->hold_at, 1);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	assert_int_equal(h.rc, NT_NCCL_OK);
	host_close(&h);
}

static void registered_buffers_may_be_a_capture(void **state)
{
	struct nt_call call = { NT_ALLREDUCE, SIZE, NULL, NT_ALGOS, NT_PROTOS, true, NULL, NULL };
	unsigned m;
	static struct host h;

	host_open(&h, "bandit");
	m = h.comm->fixed.slot.index;
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	call.cost = h.table;
	assert_int_equal(nt_comm_decide(h.comm, &call), NT_NCCL_OK); /* events would show it */
	assert_int_equal(atomic_load(&h.comm->fixed.shm->slot[m].flags), 0);
	atomic_store(&host_key(&h, NT_ALLREDUCE, SIZE)->state, NT_KEY_CLOSED);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(nt_comm_decide(h.comm, &call), NT_NCCL_OK);
	assert_int_equal(atomic_load(&h.comm->fixed.shm->slot[m].flags), NT_PARTICIPANT_GRAPHS);
	host_close(&h);
	/* Not if the user has promised that there are no graphs. */
	host_open(&h, "bandit,graphs=never");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(nt_comm_decide(h.comm, &call), NT_NCCL_OK);
	assert_int_equal(atomic_load(&h.comm->fixed.shm->slot[m].flags), 0);
	host_close(&h);
}

static void *answer_later(void *arg)
{
	const struct nt_schedule final = host_final(TREE_LL);
	struct host *h = arg;
	struct nt_shm_key *key = host_key(h, NT_ALLREDUCE, SIZE);
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct nt_plan plan = host_plan(1, atomic_load(&key->hold_at) - 1, &final);

	/* Only the first try waits. */
	while (atomic_load(&h->process.count[NT_COUNT_DOUBT]) == 0)
		nanosleep(&pause, NULL);
	host_commit(key, &plan);
	return NULL;
}

static void doubt_waits_for_the_outcome(void **state)
{
	struct nt_shm_key *key;
	pthread_t leader;
	static struct host h;

	host_open(&h, "bandit");
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	atomic_store(&key->hold_at, h.seq[NT_ALLREDUCE] + 1);
	assert_int_equal(pthread_create(&leader, NULL, answer_later, &h), 0);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_LL);
	assert_int_equal(h.rc, NT_NCCL_OK);
	pthread_join(leader, NULL);
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_DOUBT]), 1);
	host_close(&h);
}

static void doubt_without_end_is_an_error(void **state)
{
	static struct host h;

	host_open(&h, "bandit,agree_timeout=1");
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	atomic_store(&host_key(&h, NT_ALLREDUCE, SIZE)->hold_at, h.seq[NT_ALLREDUCE] + 1);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.rc, NT_NCCL_SYSTEM_ERROR);
	assert_non_null(
		strstr(host_said, "nccl-tune: communicator 0000000000000abc dp rank 3: AllReduce"));
	assert_non_null(strstr(host_said, "the node of its rank 0 is gone"));
	assert_memory_equal(h.table, h.cost, sizeof(h.cost));
	/* A second try does not wait again. */
	host_decide(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.rc, NT_NCCL_SYSTEM_ERROR);
	host_close(&h);
}

struct late_launch {
	struct host *h;
	void *group;
	size_t bytes;
};

static void *callback_thread(void *arg)
{
	const struct timespec pause = { .tv_nsec = 30000000 };
	struct late_launch *late = arg;

	nanosleep(&pause, NULL);
	late->group = nt_event_group(late->h->comm);
	nanosleep(&pause, NULL);
	(void)host_coll_event_of(late->h, NT_ALLREDUCE, late->bytes, RING_SIMPLE);
	nt_event_group_stop(&late->h->process, late->group);
	return NULL;
}

/* Coll events left to CUDA's callback thread: the next decision waits for them, so that its turn is
 * that of all ranks. */
static void late_events_are_waited_for(void **state)
{
	struct late_launch late;
	struct nt_shm_key *key;
	pthread_t callback;
	unsigned m;
	static struct host h;

	host_open(&h, "bandit");
	m = h.comm->fixed.slot.index;
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	nt_event_call(h.comm, false);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	nt_event_launch(h.comm);
	late = (struct late_launch){ .h = &h, .bytes = SIZE };
	assert_int_equal(pthread_create(&callback, NULL, callback_thread, &late), 0);
	nt_event_call(h.comm, false);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	pthread_join(callback, NULL);
	assert_non_null(late.group);
	assert_int_equal(atomic_load(&key->turn[m]), h.seq[NT_ALLREDUCE] + 1);
	assert_true(atomic_load(&h.comm->fixed.shm->slot[m].flags) & NT_PARTICIPANT_ASYNC);
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_ASYNC]), 1);
	host_close(&h);
}

static void events_that_never_come_end_tuning(void **state)
{
	static struct host h;

	host_open(&h, "bandit,agree_timeout=1");
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	nt_event_launch(h.comm);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.rc, NT_NCCL_OK); /* no plan was in force: the baseline is safe */
	assert_int_equal(h.mask, 0);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	host_close(&h);
}

UNIT_TESTS(a_capture_ends_windows_and_keeps_arms, registered_buffers_may_be_a_capture,
	   doubt_waits_for_the_outcome, doubt_without_end_is_an_error, late_events_are_waited_for,
	   events_that_never_come_end_tuning);

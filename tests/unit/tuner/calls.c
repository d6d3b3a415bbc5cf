/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a process counts, as its tray has them. */
#include "tests/unit/tuner/decide-host.h"

#include "record/calls-record.h"

#define SIZE 262144u

/* What the tray says of the only communicator, as after SIGKILL. */
static struct nt_calls_rank told(struct host *h)
{
	static char text[NT_RANK_RECORD_MAX];
	struct nt_calls_rank *ranks, rank;
	struct nt_error err = { "" };
	size_t bytes, count;

	bytes = nt_calls_format(&h->process.tray.tray->calls, 1, text, sizeof(text));
	if (nt_calls_read(text, bytes, &ranks, &count, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(count, 1);
	rank = ranks[0];
	free(ranks);
	return rank;
}

/* In any mode, with or without events. */
static void calls_are_counted(void **state)
{
	struct nt_calls_rank rank;
	static struct host h;

	host_open(&h, "observe,stall=7");
	rank = told(&h);
	assert_int_equal(rank.begun, 0);
	assert_int_equal(rank.rank, 3);
	assert_int_equal(rank.ranks, 8);
	assert_int_equal(rank.nodes, 2);
	assert_int_equal(rank.stall_s, 7);
	assert_string_equal(rank.node, "n1");
	for (int i = 0; i < 300; i++)
		host_decide(&h, NT_ALLREDUCE, SIZE);
	host_decide(&h, NT_ALLGATHER, 4 * SIZE);
	rank = told(&h);
	assert_int_equal(rank.begun, 301);
	assert_int_equal(rank.last[0], nt_calls_kind(NT_ALLGATHER, nt_band(4 * SIZE)));
	assert_int_equal(rank.last[1], nt_calls_kind(NT_ALLREDUCE, nt_band(SIZE)));
	assert_int_equal(rank.last_count, NT_CALLS_LAST);
	assert_false(rank.left);
	nt_comm_close_tuner(h.comm);
	assert_false(told(&h).left);
	nt_comm_close_profiler(h.comm);
	assert_true(told(&h).left);
	host_close(&h);
}

/* Only measured calls are known to have ended. */
static void ends_are_noted(void **state)
{
	void *event, *kernel;
	static struct host h;

	host_open(&h, "observe");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(told(&h).ended, -1);
	while (!(h.mask & (int)NT_PROF_KERNEL_CH) && told(&h).begun < 100)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_true(h.mask & (int)NT_PROF_KERNEL_CH);
	nt_event_call(h.comm, false);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	nt_event_launch(h.comm);
	(void)nt_event_group(h.comm);
	event = host_coll_event(&h, NT_ALLREDUCE, SIZE);
	kernel = nt_event_kernel(h.comm, event, 0, h.gpu_ns);
	assert_non_null(kernel);
	assert_true(told(&h).ended < told(&h).begun);
	nt_event_kernel_end(&h.process, kernel, h.gpu_ns + 50);
	assert_int_equal(told(&h).ended, told(&h).begun);
	host_close(&h);
}

/* Without a tray nothing is told, and all goes on. */
static void no_room(void **state)
{
	static struct host h;

	host_open(&h, "observe");
	h.comm->fixed.calls = NULL;
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.rc, 0);
	assert_int_equal(told(&h).begun, 0);
	assert_null(nt_calls_add(NULL, 0, 1, 0, 1, 1));
	host_close(&h);
}

/* What stands for everybody is nobody. */
static void who_asks_to_read_is_told_once(void **state)
{
	static struct nt_calls calls;
	static const uint32_t none[] = { 0, 1, UINT32_MAX, (uint32_t)INT32_MAX + 1 };
	uint32_t seen = 0;

	assert_int_equal(nt_calls_tracer(NULL, &seen), 0);
	atomic_store(&calls.tracer, 4711);
	assert_int_equal(nt_calls_tracer(&calls, &seen), 4711);
	assert_int_equal(nt_calls_tracer(&calls, &seen), 0);
	for (size_t i = 0; i < LENGTH(none); i++) {
		atomic_store(&calls.tracer, none[i]);
		assert_int_equal(nt_calls_tracer(&calls, &seen), 0);
	}
	atomic_store(&calls.tracer, 4711);
	assert_int_equal(nt_calls_tracer(&calls, &seen), 4711);
}

UNIT_TESTS(calls_are_counted, ends_are_noted, no_room, who_asks_to_read_is_told_once);

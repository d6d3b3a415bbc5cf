/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.c - sends, receives and all-to-alls: what one group does is one call, and has one time; when
 * the events that count them are on */
#include "tuner/p2p.h"

#include "tests/lib/unit.h"
#include "tuner/p2p-watch.h"

#define RANKS 4u

struct world {
	struct nt_p2p p2p;
	struct nt_p2p_groups groups;
	struct nt_p2p_seen seen[NT_P2P_KEYS];
	unsigned count;
};

static bool task(struct world *w, const char *func, size_t count)
{
	return nt_p2p_note(
		&w->p2p, &w->groups, RANKS,
		&(struct nt_p2p_event){ .func = func, .datatype = "ncclFloat32", .count = count });
}

static void group(struct world *w, unsigned sends, unsigned receives, size_t count)
{
	nt_p2p_begin_group(&w->groups);
	for (unsigned i = 0; i < sends; i++)
		(void)task(w, "Send", count);
	for (unsigned i = 0; i < receives; i++)
		(void)task(w, "Recv", count);
}

static void look(struct world *w)
{
	w->count = nt_p2p_read(&w->p2p, RANKS, w->seen);
}

static void a_group_is_a_call(void **state)
{
	static const struct {
		unsigned sends, receives;
		int kind;
	} cases[] = {
		{ 1, 0, NT_P2P_SEND },	   { 2, 0, NT_P2P_SEND },     { 0, 1, NT_P2P_RECV },
		{ 1, 1, NT_P2P_SENDRECV }, { 2, 2, NT_P2P_SENDRECV }, { 3, 1, NT_P2P_SENDRECV },
		{ 3, 3, NT_P2P_ALLTOALL }, { 4, 4, NT_P2P_ALLTOALL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = { .count = 0 };

		group(&w, cases[i].sends, cases[i].receives, 1024);
		look(&w); /* the call under way counts */
		assert_int_equal(w.count, 1);
		assert_int_equal(w.seen[0].kind, cases[i].kind);
		assert_int_equal(w.seen[0].calls, 1);
		assert_int_equal(w.seen[0].sent_bytes, 4096 * cases[i].sends);
		group(&w, cases[i].sends, cases[i].receives, 1024);
		look(&w);
		assert_int_equal(w.count, 1);
		assert_int_equal(w.seen[0].calls, 2);
	}
}

static void two_ranks_exchange_or_do_all_to_all(void **state)
{
	const struct nt_p2p_event send = { "Send", "ncclInt8", 8, false };
	const struct nt_p2p_event receive = { "Recv", "ncclInt8", 8, false };
	struct world w = { .count = 0 };

	for (unsigned twice = 1; twice <= 2; twice++) {
		nt_p2p_begin_group(&w.groups);
		for (unsigned i = 0; i < twice; i++) {
			assert_true(nt_p2p_note(&w.p2p, &w.groups, 2, &send));
			assert_true(nt_p2p_note(&w.p2p, &w.groups, 2, &receive));
		}
	}
	w.count = nt_p2p_read(&w.p2p, 2, w.seen);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.seen[0].kind, NT_P2P_SENDRECV);
	assert_int_equal(w.seen[1].kind, NT_P2P_ALLTOALL); /* the rank itself, too */
}

static void sizes_are_apart_and_bounded(void **state)
{
	struct world w = { .count = 0 };

	for (size_t count = 1; count <= 1u << 30; count *= 2)
		group(&w, 1, 0, count);
	for (size_t count = 1; count <= 1u << 30; count *= 2)
		group(&w, 0, 1, count);
	look(&w);
	assert_int_equal(w.count, 62);
	group(&w, 1, 1, 1);
	group(&w, 1, 1, 4);
	group(&w, 1, 1, 16);
	nt_p2p_begin_group(&w.groups);
	assert_false(task(&w, "Send", 1)); /* no room for the call before it */
	look(&w);
	assert_int_equal(w.count, NT_P2P_KEYS);
}

/* A call's kernels, on two channels. */
static void run(struct world *w, uint64_t from_ns, uint64_t until_ns)
{
	uint32_t serial = nt_p2p_launch(&w->p2p);

	assert_true(serial != 0);
	nt_p2p_kernel(&w->p2p, serial, from_ns + 3);
	nt_p2p_kernel(&w->p2p, serial, from_ns);
	nt_p2p_kernel_end(&w->p2p, serial, until_ns);
	nt_p2p_kernel_end(&w->p2p, serial, until_ns - 10);
}

static void a_call_takes_from_first_start_to_last_end(void **state)
{
	struct world w = { .count = 0 };

	for (unsigned i = 0; i < 3; i++) {
		group(&w, 1, 0, 1024);
		run(&w, 1000 * (i + 1), 1000 * (i + 1) + 500 + i);
	}
	look(&w);
	/* The third may yet have more kernels. */
	assert_int_equal(w.seen[0].times, 2);
	assert_int_equal(w.seen[0].time_ns[0], 500);
	assert_int_equal(w.seen[0].time_ns[1], 501);
	nt_p2p_kernel_end(&w.p2p, 1, 9999999); /* late: nobody's */
	group(&w, 1, 0, 1024);
	run(&w, 8000, 8001);
	look(&w);
	assert_int_equal(w.seen[0].times, 3);
	assert_int_equal(w.seen[0].time_ns[2], 502);
}

static void captured_calls_are_not_timed(void **state)
{
	struct world w = { .count = 0 };

	nt_p2p_begin_group(&w.groups);
	(void)nt_p2p_note(&w.p2p, &w.groups, RANKS,
			  &(struct nt_p2p_event){ "Send", "ncclInt8", 8, true });
	assert_int_equal(nt_p2p_launch(&w.p2p), 0);
	group(&w, 1, 0, 8);
	assert_true(nt_p2p_launch(&w.p2p) != 0);
}

static void events_are_on_while_there_are_sends(void **state)
{
	struct nt_p2p_watch watch = { .off = false };
	uint64_t ms = 1000;

	assert_true(nt_p2p_watch_step(&watch, false, 0, 1, ms));
	assert_true(nt_p2p_watch_step(&watch, false, 999, 1, ms));
	assert_true(nt_p2p_watch_step(&watch, true, 5000, 1, ms)); /* it sends */
	assert_true(nt_p2p_watch_step(&watch, false, 5999, 1, ms));
	assert_false(nt_p2p_watch_step(&watch, false, 6000, 1, ms));
	assert_false(nt_p2p_watch_step(&watch, false, 9000, 1, ms + 9999));
	assert_true(nt_p2p_watch_step(&watch, false, 9000, 1, ms + 10000)); /* a look */
	ms += 10000;
	assert_false(nt_p2p_watch_step(&watch, false, 10000, 1, ms));
	assert_false(nt_p2p_watch_step(&watch, false, 20000, 1, ms + 19999)); /* twice as long */
	assert_true(nt_p2p_watch_step(&watch, false, 20000, 2, ms)); /* a new communicator */
	for (unsigned i = 0; i < 20; i++) {
		assert_false(nt_p2p_watch_step(&watch, false, watch.calls + 1000, 2, ms));
		assert_true(watch.until_ms - ms <= 300000);
		ms = watch.until_ms;
		assert_true(nt_p2p_watch_step(&watch, false, watch.calls, 2, ms));
	}
}

static void first_sends_are_timed(void **state)
{
	struct nt_p2p_watch watch = { .off = false };

	assert_false(nt_p2p_watch_times(&watch, 0, 1));
	assert_true(nt_p2p_watch_times(&watch, 5, 1));
	assert_true(nt_p2p_watch_times(&watch, 68, 2));
	assert_false(nt_p2p_watch_times(&watch, 69, 3));
	assert_false(nt_p2p_watch_times(&watch, 70, 4)); /* for good */
	watch = (struct nt_p2p_watch){ .gap = true }; /* a capture may have gone unseen */
	assert_false(nt_p2p_watch_times(&watch, 5, 1));
	watch = (struct nt_p2p_watch){ .gap = false };
	assert_true(nt_p2p_watch_times(&watch, 5, 1));
	assert_true(nt_p2p_watch_times(&watch, 5, 500));
	assert_false(nt_p2p_watch_times(&watch, 5, 501)); /* silent */
	assert_true(nt_p2p_watch_times(&watch, 6, 9000));
	assert_false(nt_p2p_watch_times(&watch, 7, 10001));
}

UNIT_TESTS(a_group_is_a_call, two_ranks_exchange_or_do_all_to_all, sizes_are_apart_and_bounded,
	   a_call_takes_from_first_start_to_last_end, captured_calls_are_not_timed,
	   events_are_on_while_there_are_sends, first_sends_are_timed);

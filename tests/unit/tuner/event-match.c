/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event-match.c - match Coll events with decisions, and times between starts with samples */
#include "tests/unit/tuner/decide-host.h"

#define SIZE 262144u

/* A host inside an exploration of one key: from here on each collective is a position. */
struct window {
	struct host h;
	struct nt_shm_key *key;
	struct nt_shm_run *run;
	struct nt_plan plan;
	unsigned member;
};

static void open_window_of(struct window *w, int coll, uint64_t stride)
{
	const struct nt_schedule screen = host_screen();
	struct host *h = &w->h;

	host_open(h, "bandit");
	w->plan = host_plan(1, host_open_key(h, coll, SIZE) + 2, &screen);
	w->plan.stride = stride;
	w->plan.until = w->plan.at + (stride > 1 ? stride : nt_schedule_positions(&screen));
	w->key = host_key(h, coll, SIZE);
	w->plan.run = host_run(h, w->key);
	w->run = &h->process.map.shm->run[w->plan.run];
	w->member = h->comm->fixed.slot.index;
	host_commit(w->key, &w->plan);
	while (h->seq[coll] < w->plan.at)
		host_collective(h, coll, SIZE);
	assert_true(h->mask & (int)NT_PROF_KERNEL_CH);
}

/* Position 0 for all that follows. */
static void open_window(struct window *w, int coll)
{
	open_window_of(w, coll, 100000);
}

/* A call of the key, up to its decision; what it is launched in; its event. */
static void call(struct window *w)
{
	nt_event_call(w->h.comm, false);
	host_decide(&w->h, NT_ALLREDUCE, SIZE);
}

static void launch(struct window *w)
{
	nt_event_launch(w->h.comm);
	(void)nt_event_group(w->h.comm);
}

static void *event_of(struct window *w)
{
	return host_coll_event(&w->h, NT_ALLREDUCE, SIZE);
}

/* A window with one call. */
static void *open_call(struct window *w, bool launched)
{
	open_window(w, NT_ALLREDUCE);
	call(w);
	if (launched)
		launch(w);
	return event_of(w);
}

static uint32_t sample(struct window *w)
{
	return atomic_load(&w->run->sample[w->member][0]);
}

static void check_counts(struct window *w, unsigned issued, unsigned done)
{
	assert_int_equal(atomic_load(&w->run->issued[w->member]), issued);
	assert_int_equal(atomic_load(&w->run->done[w->member]), done);
}

static void all_collectives_are_matched(void **state)
{
	static struct window w;

	for (int coll = 0; coll < NT_COLLS; coll++) {
		open_window(&w, coll);
		w.h.duration_ns = 70000;
		host_collective(&w.h, coll, SIZE);
		check_counts(&w, 1, 0);
		/* Whatever comes next on one of its channels ends it. */
		host_collective(&w.h, (coll + 1) % NT_COLLS, SIZE);
		assert_int_equal(sample(&w), 70000);
		check_counts(&w, 1, 1);
		assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_UNMATCHED]), 0);
		host_close(&w.h);
	}
}

/* NCCL adds up a group's tasks for one decision and reports each, some of them on the same
 * channels. */
static void an_aggregated_run_is_one_sample(void **state)
{
	static const size_t parts[] = { SIZE / 4, SIZE / 4, SIZE / 2 };
	static struct window w;
	void *event[3];
	uint64_t start;

	open_window(&w, NT_ALLREDUCE);
	for (int i = 0; i < 3; i++)
		call(&w);
	launch(&w);
	for (int i = 0; i < 3; i++) {
		event[i] = host_coll_event(&w.h, NT_ALLREDUCE, parts[i]);
		assert_non_null(event[i]);
	}
	start = w.h.gpu_ns;
	w.h.duration_ns = 30000;
	for (int i = 0; i < 3; i++) {
		host_kernels(&w.h, event[i]);
		assert_int_equal(sample(&w), 0);
	}
	host_collective(&w.h, NT_REDUCE, SIZE);
	assert_int_equal(sample(&w), w.h.gpu_ns - 30000 - start);
	check_counts(&w, 1, 1);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_UNMATCHED]), 0);
	host_close(&w.h);
}

/* Another key of the same size and arm in the group, another collective, and leftovers of a
 * simulated group. */
static void neighbours_are_told_apart(void **state)
{
	static struct window w;
	void *event[3];

	open_window(&w, NT_ALLREDUCE);
	nt_event_call(w.h.comm, false);
	host_decide(&w.h, NT_ALLREDUCE, SIZE * 4); /* simulated: no events follow */
	nt_event_call(w.h.comm, false);
	host_decide(&w.h, NT_REDUCE, SIZE);
	host_decide(&w.h, NT_ALLREDUCE, SIZE * 8);
	host_decide(&w.h, NT_ALLREDUCE, SIZE);
	event[0] = event_of(&w);
	memcpy(w.h.table, w.h.cost, sizeof(w.h.table));
	event[1] = host_coll_event(&w.h, NT_REDUCE, SIZE);
	event[2] = host_coll_event(&w.h, NT_ALLREDUCE, SIZE * 8);
	assert_non_null(event[0]);
	assert_null(event[1]);
	assert_null(event[2]);
	host_kernels(&w.h, event[0]);
	host_kernels(&w.h, event[1]);
	assert_int_equal(sample(&w), 100000);
	check_counts(&w, 1, 1);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_UNMATCHED]), 0);
	host_close(&w.h);
}

static void another_arm_than_forced_is_counted(void **state)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	host_decide(&h, NT_ALLREDUCE, SIZE);
	memcpy(h.table, h.cost, sizeof(h.table)); /* NCCL runs the baseline's pick all the same */
	assert_null(host_coll_event(&h, NT_ALLREDUCE, SIZE));
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.differed), 1);
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.forced), 0);
	host_close(&h);
}

static void the_first_sample_of_a_position_stays(void **state)
{
	static struct window w;

	open_window(&w, NT_ALLREDUCE);
	host_collective(&w.h, NT_ALLREDUCE, SIZE);
	w.h.duration_ns = 1000;
	host_collective(&w.h, NT_ALLREDUCE, SIZE);
	host_collective(&w.h, NT_ALLREDUCE, SIZE);
	assert_int_equal(sample(&w), 100000);
	check_counts(&w, 3, 2);
	host_close(&w.h);
}

/* Kernels that never report make room by age and count as done. */
static void lost_kernels_are_given_up(void **state)
{
	static struct window w;

	open_window(&w, NT_ALLREDUCE);
	for (int i = 0; i < NT_EVENT_SLOT_COUNT + 10; i++) {
		call(&w);
		(void)event_of(&w);
	}
	check_counts(&w, NT_EVENT_SLOT_COUNT + 10, 10);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_GIVEN_UP]), 10);
	host_close(&w.h);
}

/* GPU times that come after the run went to another key. */
static void a_run_of_another_key_is_not_touched(void **state)
{
	static struct window w;
	void *event;

	event = open_call(&w, false);
	host_kernels(&w.h, event);
	nt_shm_run_free(w.h.process.map.shm, w.plan.run);
	assert_int_equal(nt_shm_run_take(w.h.process.map.shm, w.h.comm->fixed.slot.comm, 9),
			 w.plan.run);
	host_kernels(&w.h, NULL);
	check_counts(&w, 0, 0);
	assert_int_equal(sample(&w), 0);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_DROPPED]), 1);
	host_close(&w.h);
}

/* ... or that come when the same key explores again. */
static void another_plan_of_the_key_is_not_touched(void **state)
{
	struct nt_plan next;
	static struct window w;
	void *event;

	event = open_call(&w, false);
	host_kernels(&w.h, event);
	nt_shm_run_free(w.h.process.map.shm, w.plan.run);
	next = w.plan;
	next.epoch = 2;
	next.at = w.plan.until + 10;
	next.until = next.at + 10;
	next.run = host_run(&w.h, w.key);
	assert_int_equal(next.run, w.plan.run);
	host_commit(w.key, &next);
	host_kernels(&w.h, NULL);
	check_counts(&w, 0, 0);
	assert_int_equal(sample(&w), 0);
	host_close(&w.h);
}

static void events_after_the_end_are_harmless(void **state)
{
	struct nt_coll_event odd = {
		.func = "AlltoAll", .datatype = "ncclFloat32", .algo = "RING", .proto = "LL"
	};
	static struct window w;
	void *event;

	event = open_call(&w, false);
	nt_comm_close_tuner(w.h.comm);
	host_kernels(&w.h, event);
	nt_comm_close_profiler(w.h.comm);
	host_kernels(&w.h, event);
	host_kernels(&w.h, (void *)0x5a5a5a5a5a5a); /* ends the time of a collective long ended */
	check_counts(&w, 1, 0);
	host_kernels(&w.h, event);
	host_kernels(&w.h, event);
	nt_event_kernel(w.h.comm, event, 255, 1);
	check_counts(&w, 1, 0);
	nt_event_group_stop(&w.h.process, (void *)~(uintptr_t)0);
	nt_event_group_stop(&w.h.process, event);
	assert_null(nt_event_coll(w.h.comm, &odd));
	odd.func = odd.algo = odd.proto = odd.datatype = NULL;
	assert_null(nt_event_coll(w.h.comm, &odd));
	assert_true(atomic_load(&w.h.process.count[NT_COUNT_STALE]) >= 3);
	host_close(&w.h);
}

static uint32_t own(struct window *w)
{
	return atomic_load(&w->run->duration[w->member][0]);
}

/* From a call's start to its end, by the channel that began first; not once the next one began. */
static void a_call_has_a_time_of_its_own(void **state)
{
	static struct window w;
	void *event, *kernel;
	uint64_t start;

	event = open_call(&w, false);
	start = w.h.gpu_ns;
	kernel = nt_event_kernel(w.h.comm, event, 0, start);
	assert_non_null(kernel);
	assert_true(kernel != event);
	assert_null(nt_event_kernel(w.h.comm, event, 1, start + 100));
	/* No ends: a Coll event's handle, another number, one before its start, one too late. */
	nt_event_kernel_end(&w.h.process, event, start + 50);
	nt_event_kernel_end(&w.h.process, NULL, start + 50);
	nt_event_kernel_end(&w.h.process, (void *)0x5a5a5a5a5a5a, start + 50);
	nt_event_kernel_end(&w.h.process, kernel, start);
	assert_int_equal(own(&w), 0);
	nt_event_kernel_end(&w.h.process, kernel, start + 21000);
	assert_int_equal(own(&w), 21000);
	/* Another task of the same call: the last one's end counts. */
	kernel = nt_event_kernel(w.h.comm, event, 0, start + 21000);
	assert_non_null(kernel);
	nt_event_kernel_end(&w.h.process, kernel, start + 33000);
	assert_int_equal(own(&w), 33000);
	w.h.gpu_ns = start + 90000;
	host_collective(&w.h, NT_REDUCE, SIZE);
	assert_int_equal(sample(&w), 90000);
	nt_event_kernel_end(&w.h.process, kernel, start + 95000);
	assert_int_equal(own(&w), 33000);
	check_counts(&w, 1, 1);
	host_close(&w.h);
}

/* 32 bits of nanoseconds end at 4.29 s. */
static void calls_that_are_seconds_apart_are_timed(void **state)
{
	const uint64_t ns = 11000000000;
	static struct window w;

	open_window_of(&w, NT_ALLREDUCE, 1);
	w.h.duration_ns = ns;
	for (unsigned p = 0; p < 4; p++)
		host_collective(&w.h, NT_ALLREDUCE, SIZE);
	for (unsigned p = 0; p < 3; p++) {
		assert_int_equal(nt_shm_time_ns(atomic_load(&w.run->sample[w.member][p])),
				 ns >> 10 << 10);
		assert_int_equal(nt_shm_time_ns(atomic_load(&w.run->period[w.member][p])),
				 ns >> 10 << 10);
	}
	host_close(&w.h);
}

static void a_call_without_events_has_no_period(void **state)
{
	static struct window w;

	open_window_of(&w, NT_ALLREDUCE, 1);
	for (unsigned p = 0; p < 5; p++) {
		unsigned channels = w.h.channels;

		w.h.channels = p == 2 ? 0 : channels;
		host_collective(&w.h, NT_ALLREDUCE, SIZE);
		w.h.channels = channels;
	}
	assert_int_not_equal(atomic_load(&w.run->period[w.member][0]), 0);
	assert_int_equal(atomic_load(&w.run->period[w.member][1]), 0);
	assert_int_equal(atomic_load(&w.run->period[w.member][2]), 0);
	assert_int_not_equal(atomic_load(&w.run->period[w.member][3]), 0);
	host_close(&w.h);
}

static void observe_measures_auto_at_times(void **state)
{
	static const unsigned first[] = { 2, 33 }; /* the call before switched them on */
	struct nt_local_key *own;
	unsigned at = 0;
	static struct host h;

	host_open(&h, "observe,min_calls=5");
	for (int i = 0; i < 60; i++) {
		h.duration_ns = 1000 * (uint32_t)(i + 1);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
		assert_memory_equal(h.table, h.cost, sizeof(h.cost));
	}
	own = host_own_key(&h, NT_ALLREDUCE, SIZE);
	for (unsigned window = 0; window < 2; window++)
		for (unsigned i = 0; i < (window ? 4 : 16); i++)
			assert_int_equal(atomic_load(&own->fixed.observed[at++]),
					 1000 * (first[window] + i));
	/* The last of each ended by one that was not measured itself. */
	assert_int_equal(atomic_load(&own->laps.observed), at);
	assert_int_equal(h.mask, 0);
	assert_int_equal(atomic_load(&own->decision.calls), 60);
	host_close(&h);
}

/* A symmetric kernel's task, as 2.31 reports it: counted, but not a sample. */
static void a_symmetric_task_is_nobodys(void **state)
{
	static struct window w;
	void *event;
	struct nt_coll_event task = { .func = "AllReduce",
				      .datatype = "ncclFloat32",
				      .algo = "AGxLL_R",
				      .proto = "",
				      .count = SIZE / 4,
				      .symmetric = true };
	struct nt_local_key *key;

	open_window(&w, NT_ALLREDUCE);
	key = host_own_key(&w.h, NT_ALLREDUCE, SIZE);
	nt_event_call(w.h.comm, false);
	call(&w);
	launch(&w);
	task.seq = w.h.seq[NT_ALLREDUCE]++;
	assert_null(nt_event_coll(w.h.comm, &task));
	event = event_of(&w);
	assert_non_null(event);
	host_kernels(&w.h, event);
	/* Its kernels end the time of what ran before. */
	host_kernels(&w.h, NULL);
	assert_int_equal(sample(&w), 100000);
	check_counts(&w, 1, 1);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_UNMATCHED]), 0);
	assert_int_equal(atomic_load(&key->events.differed), 0);
	/* It is the turn of the next, and no call of the key's band. */
	assert_int_equal(nt_task_log_count(&w.h.comm->events.task_log[NT_ALLREDUCE], task.seq,
					   task.seq + 2, nt_band(SIZE)),
			 1);
	host_close(&w.h);
}

/* NCCL 2.31's profiler thread may report a later start first. */
static void a_start_told_late_is_no_sample(void **state)
{
	static struct window w;
	void *a, *b;

	a = open_call(&w, true);
	assert_non_null(nt_event_kernel(w.h.comm, a, 0, 5000000));
	/* Unmeasured and measured ones that began before it change nothing. */
	assert_null(nt_event_kernel(w.h.comm, NULL, 0, 4000000));
	call(&w);
	launch(&w);
	b = event_of(&w);
	assert_non_null(b);
	w.h.comm->laps.lap[0].late = false;
	assert_null(nt_event_kernel(w.h.comm, b, 0, 3000000));
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_DROPPED]), 1);
	assert_null(nt_event_kernel(w.h.comm, NULL, 0, 5100000));
	assert_int_equal(sample(&w), 100000);
	host_close(&w.h);
}

/* Two in a row: the stamp before them was wrong. */
static void a_stamp_far_ahead_stops_nothing(void **state)
{
	static struct window w;
	void *a;

	a = open_call(&w, true);
	(void)nt_event_kernel(w.h.comm, a, 0, UINT64_MAX / 2);
	(void)nt_event_kernel(w.h.comm, NULL, 0, 5000000);
	(void)nt_event_kernel(w.h.comm, NULL, 0, 5100000);
	assert_int_equal(sample(&w), 0);
	check_counts(&w, 1, 1);
	assert_int_equal(atomic_load(&w.h.process.count[NT_COUNT_DROPPED]), 1);
	host_close(&w.h);
}

/* A thread that arrives while another one is working does not wait, and its report gives no
 * time. */
static void threads_that_meet_lose_times_only(void **state)
{
	static struct window w;
	void *a;

	a = open_call(&w, true);
	assert_non_null(nt_event_kernel(w.h.comm, a, 0, 5000000));
	atomic_store(&w.h.comm->laps.busy, true);
	assert_null(nt_event_kernel(w.h.comm, NULL, 0, 5100000));
	atomic_store(&w.h.comm->laps.busy, false);
	assert_null(nt_event_kernel(w.h.comm, NULL, 0, 5300000));
	assert_int_equal(sample(&w), 0);
	check_counts(&w, 1, 1);
	assert_false(atomic_load(&w.h.comm->laps.busy));
	host_close(&w.h);
}

UNIT_TESTS(all_collectives_are_matched, an_aggregated_run_is_one_sample, neighbours_are_told_apart,
	   another_arm_than_forced_is_counted, the_first_sample_of_a_position_stays,
	   lost_kernels_are_given_up, a_run_of_another_key_is_not_touched,
	   another_plan_of_the_key_is_not_touched, events_after_the_end_are_harmless,
	   a_call_has_a_time_of_its_own, calls_that_are_seconds_apart_are_timed,
	   a_call_without_events_has_no_period, observe_measures_auto_at_times,
	   a_symmetric_task_is_nobodys, a_start_told_late_is_no_sample,
	   a_stamp_far_ahead_stops_nothing, threads_that_meet_lose_times_only);

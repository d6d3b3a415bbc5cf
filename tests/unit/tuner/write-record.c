/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* write-record.c - the rank's record is correct, readable and within its limits */
#include "tests/unit/tuner/decide-host.h"

#include <math.h>
#include "engine/history.h"
#include "engine/marker.h"
#include "record/rankread.h"
#include "tuner/rank-record.h"
#include "tests/lib/schema.h"

#define SIZE 262144u

static char text[NT_RANK_RECORD_MAX];

static void read_text(struct host *h, struct nt_rank *rank)
{
	struct nt_error err = { "" };
	size_t bytes = nt_rank_record_print(&h->process, NULL, false, text, sizeof(text));

	assert_true(bytes > 0 && bytes < sizeof(text));
	assert_int_equal(text[bytes - 1], '\n');
	if (nt_rank_parse(rank, text, bytes, &err) < 0)
		fail_msg("%s in %s", err.text, text);
	if (nt_schema_check_text("rank", text, &err) < 0)
		fail_msg("%s in %s", err.text, text);
}

static const struct nt_key *key_of(const struct nt_rank *rank, int coll)
{
	for (size_t i = 0; i < rank->comms[0].key_count; i++) {
		if (rank->comms[0].keys[i].coll == coll)
			return &rank->comms[0].keys[i];
	}
	fail_msg("no key of %s", nt_coll_name(coll));
	return NULL;
}

/* A key in each state. */
static void play_every_state(struct host *h)
{
	struct nt_schedule final = host_final(TREE_SIMPLE), kept = final;
	struct nt_shm_key *shared;
	struct nt_plan plan;

	host_open(h, "bandit,alpha=0.02");
	host_collective(h, NT_BROADCAST, SIZE + 5);
	(void)host_open_key(h, NT_ALLGATHER, SIZE);
	(void)host_open_key(h, NT_REDUCESCATTER, SIZE);
	atomic_store(&host_key(h, NT_REDUCESCATTER, SIZE)->state, NT_KEY_CLOSED); /* cut short */
	host_collective(h, NT_REDUCESCATTER, SIZE);
	plan = host_plan(1, host_open_key(h, NT_ALLREDUCE, SIZE) + 1, &final);
	host_commit(host_key(h, NT_ALLREDUCE, SIZE), &plan);
	for (int i = 0; i < 1001; i++)
		host_collective(h, NT_ALLREDUCE, SIZE);
	(void)host_open_key(h, NT_REDUCE, SIZE);
	shared = host_key(h, NT_REDUCE, SIZE);
	kept.kind = NT_SCHEDULE_KEPT;
	kept.outcome.verdict = NT_VERDICT_SMALL;
	kept.outcome.chosen_arm = NT_ARM_BASELINE;
	shared->result_bytes = (uint32_t)nt_schedule_write(&kept, shared->result,
							   sizeof(shared->result));
	atomic_store(&shared->state, NT_KEY_CLOSED);
	host_collective(h, NT_REDUCE, SIZE);
	atomic_store(&h->comm->fixed.shm->state, NT_COMM_AGREED);
}

static void every_state_has_its_words(void **state)
{
	const struct nt_key *key;
	struct nt_rank rank;
	static struct host h;

	play_every_state(&h);
	read_text(&h, &rank);
	assert_int_equal(rank.comms[0].state, NT_COMM_AGREED);
	assert_string_equal(rank.policy, "bandit,alpha=0.02");
	assert_false(rank.end);

	key = key_of(&rank, NT_BROADCAST);
	assert_int_equal(key->state, NT_KEYSTATE_COUNTED);
	assert_int_equal(key->bytes, SIZE);
	assert_int_equal(key->auto_arm, RING_SIMPLE);
	assert_int_equal(key->calls, 1);
	assert_int_equal(key_of(&rank, NT_ALLGATHER)->state, NT_KEYSTATE_EXPLORING);
	assert_int_equal(key_of(&rank, NT_REDUCESCATTER)->state, NT_KEYSTATE_EXPLORING);
	assert_true(isnan(key_of(&rank, NT_REDUCESCATTER)->auto_us));

	key = key_of(&rank, NT_ALLREDUCE);
	assert_int_equal(key->state, NT_KEYSTATE_COMMITTED);
	assert_int_equal(key->arm, TREE_SIMPLE);
	assert_float_equal(key->auto_us, 280, 0.01);
	assert_float_equal(key->arm_us, 170, 0.01);
	assert_float_equal(key->arm_p25_us, 160, 0.01);
	assert_float_equal(key->auto_p75_us, 300, 0.01);
	assert_float_equal(key->arm_p75_us, 180, 0.01);
	assert_float_equal(key->auto_own_us, 90, 0.01);
	assert_float_equal(key->arm_own_us, 60, 0.01);
	assert_float_equal(key->auto_period_us, 900, 0.01);
	assert_true(isnan(key->arm_period_us)); /* not known */
	assert_float_equal(key->p, 0.0001, 1e-9);
	assert_int_equal(key->samples, 24);
	assert_int_equal(key->spent_calls, 12);
	assert_float_equal(key->spent_ms, 0, 0); /* exploring cost less than nothing */
	assert_float_equal(key->saved_ms, (1000 - 1) * 110 / 1000.0, 0.001);
	assert_true(key->forced >= NT_CONFIRM_CALLS);

	key = key_of(&rank, NT_REDUCE);
	assert_int_equal(key->state, NT_KEYSTATE_KEPT);
	assert_true(key->decided > 0 && key->decided <= key->calls);
	assert_int_equal(key->best_arm, TREE_SIMPLE);
	assert_true(isnan(key->saved_ms));
	nt_rank_fini(&rank);
	host_close(&h);
}

/* What an earlier step measured is no time of this one. */
static void a_remembered_gain_is_an_estimate(void **state)
{
	struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_warm_key key = { .coll = NT_ALLREDUCE, .arm = TREE_SIMPLE, .gain_ns = 110000 };
	const struct nt_key *of;
	struct nt_rank rank;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "policy");
	key.ranks = h.comm->fixed.ranks;
	key.nodes = h.comm->fixed.nodes;
	key.bytes = nt_band_floor(nt_band(SIZE));
	assert_int_equal(nt_warm_add(&h.process.warm.arms, &key, NULL), 0);
	h.process.warm.checked = true;
	final.outcome = (struct nt_outcome){ .verdict = NT_VERDICT_REMEMBERED,
					     .from = NT_FROM_POLICY,
					     .baseline_arm = RING_SIMPLE,
					     .best_arm = TREE_SIMPLE,
					     .chosen_arm = TREE_SIMPLE,
					     .p = 1 };
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 1, &final);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	for (int i = 0; i < 1001; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	read_text(&h, &rank);
	of = key_of(&rank, NT_ALLREDUCE);
	assert_string_equal(of->from, "policy");
	assert_true(isnan(of->saved_ms) && isnan(of->auto_us));
	assert_float_equal(of->estimated_ms, (double)(of->calls - of->decided) * 0.11, 0.001);
	assert_true(of->estimated_ms > 100);
	nt_rank_fini(&rank);
	host_close(&h);
}

/* Until another arm takes its place, or AUTO. */
static void a_trial_goes_with_its_decision(void **state)
{
	const uint16_t sample[NT_RUN_POSITIONS] = { 100, 90, 101, 91 };
	const struct nt_schedule screen = { .kind = NT_SCHEDULE_SCREEN,
					    .count = 2,
					    .blocks = 2,
					    .arm = { NT_ARM_BASELINE, TREE_SIMPLE } };
	struct nt_histories histories = { .count = 0 };
	struct nt_key_info info = { .baseline_arm = NT_ARM_BASELINE };
	struct nt_history *history;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	info.comm = h.comm->fixed.id;
	info.key = atomic_load(&host_key(&h, NT_ALLREDUCE, SIZE)->id);
	history = nt_history_create(&info, true);
	assert_non_null(history);
	nt_history_screen(history, &screen);
	nt_history_round(history, &screen, sample);
	nt_histories_keep_take(&histories, history);
	/* The helper thread writes it, and may not have started yet. */
	host_unhelp(&h);
	h.process.histories = &histories;
	for (uint32_t settled = 0; settled < 4; settled++) {
		for (unsigned i = 0; i < NT_LOCAL_KEYS; i++)
			atomic_store(&h.comm->key[i].decision.commits, settled);
		read_text(&h, &rank);
		assert_int_equal(key_of(&rank, NT_ALLREDUCE)->trial != NULL, settled < 2);
		nt_rank_fini(&rank);
	}
	h.process.histories = NULL;
	nt_histories_clear(&histories);
	host_close(&h);
}

/* A key may never be decided: its measurements of AUTO are useful nevertheless. */
static void an_exploration_tells_what_it_has_seen_so_far(void **state)
{
	struct nt_histories histories = { .count = 0 };
	struct nt_key_info info = { .baseline_arm = RING_SIMPLE };
	const struct nt_sample_quantiles quantiles = { .samples = 9,
						       .median_us = 120,
						       .p25_us = 110,
						       .p75_us = 140,
						       .min_us = 99,
						       .max_us = 300 };
	struct nt_history *history;
	const struct nt_key *key;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	(void)host_open_key(&h, NT_ALLGATHER, SIZE);
	info.comm = h.comm->fixed.id;
	info.key = atomic_load(&host_key(&h, NT_ALLGATHER, SIZE)->id);
	history = nt_history_create(&info, true);
	assert_non_null(history);
	nt_histories_keep_so_far(&histories, history);
	assert_int_equal(histories.count, 0);
	nt_history_quantiles(history, NT_ARM_BASELINE, &quantiles);
	history->spent_calls = 7;
	history->spent_ms = 2.5f;
	nt_histories_keep_so_far(&histories, history);
	host_unhelp(&h);
	snprintf(h.comm->fixed.name, sizeof(h.comm->fixed.name), "tp \"0\"\x1b");
	h.process.histories = &histories;
	read_text(&h, &rank);
	key = key_of(&rank, NT_ALLGATHER);
	assert_int_equal(key->state, NT_KEYSTATE_EXPLORING);
	assert_float_equal(key->auto_us, 120, 0.01);
	assert_float_equal(key->auto_p25_us, 110, 0.01);
	assert_float_equal(key->auto_p75_us, 140, 0.01);
	assert_int_equal(key->samples, 9);
	assert_int_equal(key->spent_calls, 7);
	assert_float_equal(key->spent_ms, 2.5, 0.001);
	assert_string_equal(rank.comms[0].name, "tp ?0??");
	assert_non_null(strstr(text, "\"p75_us\":140.00,\"min_us\":99.00,\"max_us\":300.00"));
	assert_true(key->trial == NULL);
	nt_rank_fini(&rank);
	/* The history itself replaces it. */
	nt_histories_keep_take(&histories, history);
	assert_int_equal(histories.count, 1);
	h.process.histories = NULL;
	nt_histories_clear(&histories);
	host_close(&h);
}

/* Twelve calls: of three arms, four times each. */
static void a_round_tells_how_far_it_is(void **state)
{
	const struct nt_schedule screen = host_screen();
	const struct nt_key *key;
	struct nt_plan plan;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 2, &screen);
	read_text(&h, &rank);
	assert_string_equal(key_of(&rank, NT_ALLREDUCE)->round, "");
	nt_rank_fini(&rank);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	for (int calls = 0; calls < 20; calls++) {
		/* The newest turn is that of the call before. */
		const int64_t done = calls < 3 ? 0 : calls < 15 ? calls - 3 : 12;

		read_text(&h, &rank);
		key = key_of(&rank, NT_ALLREDUCE);
		assert_string_equal(key->round, "screen");
		assert_int_equal(key->round_arms, 3);
		assert_int_equal(key->round_calls, 12);
		assert_int_equal(key->round_done, done);
		nt_rank_fini(&rank);
		host_collective(&h, NT_ALLREDUCE, SIZE);
	}
	atomic_store(&host_key(&h, NT_ALLREDUCE, SIZE)->state, NT_KEY_CLOSED);
	read_text(&h, &rank);
	assert_string_equal(key_of(&rank, NT_ALLREDUCE)->round, "");
	assert_int_equal(key_of(&rank, NT_ALLREDUCE)->round_calls, -1);
	nt_rank_fini(&rank);
	host_close(&h);
}

/* By calls times predicted time, of all communicators of the process. */
static void a_key_that_takes_no_share_is_not_worth_it(void **state)
{
	const struct nt_key *key;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit,min_calls=4,min_share=50");
	for (int i = 0; i < 4; i++)
		host_collective(&h, NT_BROADCAST, SIZE);
	for (int i = 0; i < 100; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	read_text(&h, &rank);
	key = key_of(&rank, NT_BROADCAST);
	assert_int_equal(key->state, NT_KEYSTATE_COUNTED);
	assert_int_equal(key->reason, NT_REASON_UNWORTHY);
	assert_int_equal(key_of(&rank, NT_ALLREDUCE)->reason, NT_REASON_NONE);
	nt_rank_fini(&rank);
	for (int i = 0; i < 100; i++)
		host_collective(&h, NT_BROADCAST, SIZE);
	read_text(&h, &rank);
	assert_int_equal(key_of(&rank, NT_BROADCAST)->reason, NT_REASON_NONE);
	nt_rank_fini(&rank);
	host_close(&h);
}

static void a_rejection_names_the_culprit(void **state)
{
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	snprintf(h.comm->fixed.shm->why, sizeof(h.comm->fixed.shm->why),
		 "nccl:5:\"n2\":22703\n:22809");
	atomic_store(&h.comm->fixed.shm->state, NT_COMM_REJECTED);
	read_text(&h, &rank);
	assert_int_equal(rank.comms[0].state, NT_COMM_REJECTED);
	assert_string_equal(rank.comms[0].why.text, "nccl:5:'n2':22703?:22809");
	nt_rank_fini(&rank);
	host_close(&h);
}

/* Any process of the user may write there. */
static void a_damaged_state_is_not_recorded(void **state)
{
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	atomic_store(&h.comm->fixed.shm->state, 77);
	read_text(&h, &rank);
	assert_int_equal(rank.comms[0].state, NT_COMM_JOINING);
	nt_rank_fini(&rank);
	host_close(&h);
}

static void observed_times_are_summed_up(void **state)
{
	const struct nt_key *key;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "observe,min_calls=2");
	for (int i = 0; i < 15; i++) {
		h.duration_ns = 1000 * (uint32_t)(100 - i);
		host_collective(&h, NT_ALLREDUCE, SIZE);
	}
	read_text(&h, &rank);
	assert_string_equal(rank.mode, "observe");
	assert_string_equal(rank.comms[0].why.text, "mode:observe");
	key = key_of(&rank, NT_ALLREDUCE);
	assert_int_equal(key->state, NT_KEYSTATE_OBSERVED);
	assert_int_equal(key->samples, 8); /* 92..99 us */
	assert_float_equal(key->auto_us, 96, 0.001);
	assert_float_equal(key->auto_p25_us, 94, 0.001);
	assert_float_equal(key->auto_p75_us, 98, 0.001);
	assert_int_equal(key->calls, 15);
	nt_rank_fini(&rank);
	host_close(&h);
}

/* The process's step marker, and what it runs on. */
static void the_step_marker_is_there(void **state)
{
	struct nt_period_call call[40] = { { .ns = 0 } };
	static struct nt_marker marker;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	/* The helper thread writes it. */
	host_unhelp(&h);
	h.process.platform = (struct nt_platform){ .driver = "580.95.05",
						   .fabric = "ib",
						   .launch = "wide",
						   .outside = "NCCL_MIN_NCHANNELS=8",
						   .inside = "NCCL_BUFFSIZE=8388608" };
	h.process.marker = &marker;
	memcpy(h.process.platform.library, "/env/libnccl.so.2", 18);
	read_text(&h, &rank);
	assert_int_equal(rank.marker.coll, -1);
	nt_rank_fini(&rank);
	for (unsigned i = 0; i < LENGTH(call); i++)
		call[i] = (struct nt_period_call){
			.ns = (1000 + 500 * (uint64_t)i + 400 * (i % 2)) * 1000000,
			.key = nt_key_id(NT_ALLGATHER, nt_band(SIZE), 36),
			.comm = 2,
			.ranks = 8,
			.number = i + 1,
		};
	nt_marker_note(&marker, call, LENGTH(call), 0);
	nt_marker_read(&marker, 1000000, 40);
	read_text(&h, &rank);
	assert_string_equal(rank.driver, "580.95.05");
	assert_string_equal(rank.library, "/env/libnccl.so.2");
	assert_string_equal(rank.fabric, "ib");
	assert_string_equal(rank.launch, "wide");
	assert_string_equal(rank.variables, "NCCL_MIN_NCHANNELS=8");
	assert_string_equal(rank.variables_inside, "NCCL_BUFFSIZE=8388608");
	assert_int_equal(rank.marker.coll, NT_ALLGATHER);
	assert_int_equal(rank.marker.bytes, SIZE);
	assert_int_equal(rank.marker.ranks, 8);
	assert_int_equal(rank.marker.calls, 40);
	assert_int_equal(rank.marker.a_step, 2);
	assert_int_equal(rank.marker.periods, 19);
	assert_float_equal(rank.marker.period_us[8], 1000000, 0.1);
	nt_rank_fini(&rank);
	h.process.marker = NULL;
	host_close(&h);
}

static void assert_fabric(struct host *h, const char *fabric)
{
	struct nt_rank rank;

	read_text(h, &rank);
	assert_string_equal(rank.fabric, fabric);
	nt_rank_fini(&rank);
}

/* Within a node NCCL uses no network, and allows LL128 over NVLink. */
static void one_node_tells_its_links(void **state)
{
	static struct host h;

	host_open(&h, "bandit");
	host_unhelp(&h);
	snprintf(h.process.platform.fabric, sizeof(h.process.platform.fabric), "ib");
	h.comm->fixed.nodes = 1;
	assert_fabric(&h, "any");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_fabric(&h, "pcie");
	h.process.node_step.flags |= NT_FLAG_USER_PROTO;
	assert_fabric(&h, "any");
	h.process.node_step.flags = 0;
	/* Groups within the nodes of a larger step say nothing of what is between them. */
	h.process.nodes = 2;
	assert_fabric(&h, "ib");
	h.process.nodes = 1;
	h.comm->fixed.nodes = 2;
	assert_fabric(&h, "ib");
	h.comm->fixed.nodes = 1;
	assert_true(NT_PAIRS_LL128 & (1u << (RING_SIMPLE - 1)));
	h.cost[RING_SIMPLE - 1] = 45.0f;
	host_collective(&h, NT_ALLGATHER, SIZE);
	assert_fabric(&h, "any");
	host_close(&h);
}

/* Another process's values may be random: they must not break the text. */
static void figures_without_sense_are_left_out(void **state)
{
	struct nt_schedule final = host_final(TREE_SIMPLE);
	struct nt_rank rank;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	final.outcome.baseline_us = NAN;
	final.outcome.best_us = -INFINITY;
	final.outcome.p = 7;
	final.outcome.spent_ms = NAN;
	final.outcome.best_arm = 77;
	final.outcome.baseline_arm = 99;
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	read_text(&h, &rank);
	assert_true(isnan(key_of(&rank, NT_ALLREDUCE)->auto_us));
	assert_true(isnan(key_of(&rank, NT_ALLREDUCE)->saved_ms));
	nt_rank_fini(&rank);
	host_close(&h);
}

/* A process at its limits: keys that do not fit are left out whole and counted. */
/* As large as they can be */
static void give_facts(struct host *h)
{
	struct nt_facts *facts = &h->process.facts;

	nt_fields_clear(&nt_facts_fields, facts);
	memset(facts->ports, 'p', sizeof(facts->ports) - 1);
	memset(facts->links, 'l', sizeof(facts->links) - 1);
	memset(facts->profile, 'v', sizeof(facts->profile) - 1);
	memset(facts->cpus, '1', sizeof(facts->cpus) - 1);
	facts->stack_kib = NT_COUNT_MAX;
	facts->quota = 1.5;
	facts->blocking = true;
	h->process.has_facts = true;
}

static void facts_are_read_as_they_were(void **state)
{
	static struct host h;
	struct nt_rank rank;

	host_open(&h, "bandit");
	read_text(&h, &rank);
	assert_null(rank.facts_object);
	nt_rank_fini(&rank);
	give_facts(&h);
	read_text(&h, &rank);
	assert_memory_equal(rank.facts.ports, h.process.facts.ports, sizeof(rank.facts.ports));
	assert_memory_equal(rank.facts.cpus, h.process.facts.cpus, sizeof(rank.facts.cpus));
	assert_true(rank.facts.stack_kib == NT_COUNT_MAX && rank.facts.quota == 1.5);
	assert_true(rank.facts.blocking && rank.facts.cpu_count == -1 && rank.facts.shm_mb == -1);
	nt_rank_fini(&rank);
	host_close(&h);
}

static void a_full_record_is_still_a_record(void **state)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	size_t written = 0;
	struct nt_rank rank;
	static struct host h;

	host_open(&h, "bandit");
	for (int n = 0; n < NT_COMMS_MAX; n++) {
		if (n)
			h.comm = host_add_comm(&h, 0x1000 + (uint64_t)n, 3, 5, 5);
		assert_non_null(h.comm);
		for (int i = 0; i < NT_LOCAL_KEYS; i++)
			host_collective(&h, i % NT_COLLS,
					nt_band_floor(4 + (unsigned)i / NT_COLLS));
		for (int i = 0; i < NT_LOCAL_KEYS; i++) {
			h.comm->key[i].decision.outcome[1] = final.outcome;
			atomic_store(&h.comm->key[i].decision.commits, 1);
			atomic_store(&h.comm->key[i].decision.state, NT_LOCAL_COMMITTED);
		}
	}
	read_text(&h, &rank);
	for (size_t i = 0; i < rank.comm_count; i++)
		written += rank.comms[i].key_count;
	assert_true(written > 400 && written < (size_t)NT_COMMS_MAX * NT_LOCAL_KEYS);
	assert_true(json_object_get_int64(json_object_object_get(rank.counts, "cut")) > 0);
	nt_rank_fini(&rank);
	/* Keys are worth more than facts. */
	give_facts(&h);
	read_text(&h, &rank);
	assert_null(rank.facts_object);
	for (size_t i = 0; i < rank.comm_count; i++)
		written -= rank.comms[i].key_count;
	assert_int_equal(written, 0);
	nt_rank_fini(&rank);
	assert_int_equal(nt_rank_record_print(&h.process, NULL, true, text, 500), 0);
	host_close(&h);
}

UNIT_TESTS(every_state_has_its_words, a_remembered_gain_is_an_estimate,
	   a_trial_goes_with_its_decision, an_exploration_tells_what_it_has_seen_so_far,
	   a_round_tells_how_far_it_is, a_key_that_takes_no_share_is_not_worth_it,
	   a_rejection_names_the_culprit, a_damaged_state_is_not_recorded,
	   observed_times_are_summed_up, the_step_marker_is_there, one_node_tells_its_links,
	   figures_without_sense_are_left_out, facts_are_read_as_they_were,
	   a_full_record_is_still_a_record);

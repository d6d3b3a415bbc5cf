/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay-record.c - repeat a decision from its record */
#include <math.h>
#include "tests/lib/unit.h"
#include "engine/history.h"
#include "engine/times.h"
#include "record/rank.h"
#include "lab/replay/replay.h"
#include "lab/replay/rng.h"
#include "lab/replay/trial.h"
#include "tuner/rank-history.h"

static const unsigned mask = 0x3f; /* tree and ring */

struct job {
	double us[NT_PAIRS + 1]; /* AUTO last */
	uint64_t seed;
	double miss;
	bool channels; /* they are known */
	double own_share, left_us; /* as a drive's key has them */
	struct nt_policy policy;
	const char *option;
	struct nt_outcome outcome;
	char text[NT_RANK_RECORD_MAX];
	size_t trial_bytes;
};

static void setup(struct job *job, const char *option)
{
	*job = (struct job){ .seed = 7, .option = option };
	nt_policy_default(&job->policy);
	assert_int_equal(nt_policy_parse_option(&job->policy, option, NULL), 0);
	for (unsigned i = 0; i <= NT_PAIRS; i++)
		job->us[i] = 1000;
}

/* Fewer channels make an arm faster, by a tenth for each halving of 16. */
static double time_us(void *arg, unsigned arm, unsigned call)
{
	struct job *job = arg;
	double us = job->us[arm == NT_ARM_BASELINE ? NT_PAIRS : (unsigned)nt_arm_pair((int)arm)];

	(void)call;
	for (unsigned channels = 16; arm != NT_ARM_BASELINE && nt_arm_channels((int)arm) != 0 &&
				     channels > nt_arm_channels((int)arm);
	     channels /= 2)
		us *= 0.9;
	return us * exp(0.04 * nt_rng_normal(nt_rng_hash(job->seed++)));
}

/* Explore with the engine as a job does, and write its record. */
static void play(struct job *job)
{
	struct nt_drive_key key = { .size_bytes = 262144,
				    .mask = mask | 1u << 20,
				    .auto_arm = 5,
				    .time_us = time_us,
				    .arg = job,
				    .own_share = job->own_share,
				    .left_us = job->left_us };
	struct nt_histories histories = { .count = 0 };
	struct nt_driven driven;
	struct nt_drive drive;
	char trial[16384];
	struct nt_json_writer put;
	bool committed;

	if (job->channels)
		key.channels = (struct nt_channels){ .ranks = 8,
						     .most = 16,
						     .given = { [2] = 16, [5] = 12 } };
	for (unsigned i = 0; i < NT_PAIRS; i++)
		key.cost_us[i] = i == 20 ? 5000 : 100.1f + (float)(i * 7 % 5);
	nt_drive_init(&drive, &job->policy);
	drive.engine.histories = &histories;
	drive.miss = job->miss;
	assert_true(nt_drive_run(&drive, &key, &driven));
	job->outcome = driven.outcome;
	assert_int_equal(histories.count, 1);
	nt_json_put_begin(&put, trial, sizeof(trial), NT_RECORD_DEPTH);
	nt_rank_history_trial(&put, histories.first);
	assert_false(put.full);
	job->trial_bytes = put.used - strlen("\"trial\":");
	committed = driven.outcome.chosen_arm != NT_ARM_BASELINE;
	snprintf(
		job->text, sizeof(job->text),
		"{\"v\":1,\"job\":1,\"step\":0,\"node\":\"n\",\"policy\":\"%s\",\"comms\":[{\"id\":\"1\","
		"\"rank\":0,\"ranks\":8,\"nodes\":2,\"state\":\"agreed\",\"keys\":[{\"coll\":\"AllReduce\","
		"\"bytes\":262144,\"state\":\"%s\",\"auto\":\"RING/SIMPLE\",\"arm\":\"%s\",\"p\":%.6g,"
		"%s}]}]}",
		job->option, committed ? "committed" : "kept", nt_arm_name(driven.outcome.best_arm),
		(double)driven.outcome.p, trial);
	nt_histories_clear(&histories);
}

static int again(const char *text, struct nt_replay_row *row, struct nt_error *err)
{
	struct nt_replay replay = { .kind = NT_REPLAY_RECORD, .seed = 99 };
	struct nt_replay_rows rows = { .count = 0 };
	unsigned left_out = 0;
	int rc;

	nt_policy_default(&replay.policy);
	nt_replay_init(&replay);
	rc = nt_replay_record(&replay, text, strlen(text), &rows, &left_out, err);
	if (rc == 0) {
		assert_int_equal(rows.count, 1);
		*row = rows.row[0];
	}
	nt_replay_rows_fini(&rows);
	return rc;
}

static void same_decision(const char *option, double gain, double miss, unsigned verdict)
{
	struct nt_error err = { "" };
	struct nt_replay_row row;
	static struct job job;

	setup(&job, option);
	job.us[2] = 1000 * (1 - gain);
	job.miss = miss;
	play(&job);
	assert_int_equal(job.outcome.verdict, verdict);
	if (again(job.text, &row, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(row.same);
	assert_int_equal(row.chosen_arm, job.outcome.chosen_arm);
	assert_int_equal(row.verdict, job.outcome.verdict);
	assert_float_equal(row.p, (double)job.outcome.p, 1e-12);
	assert_float_equal(row.auto_us, (double)job.outcome.baseline_us, 1e-9);
	assert_string_equal(row.topology, "2x4");
	assert_int_equal((int)row.calls, (int)job.outcome.spent_calls);
}

static void a_round_with_caps_comes_out_again(void **state)
{
	static const char text[] = "\"channels\":{\"ranks\":8,\"most\":16,"
				   "\"own\":{\"TREE/SIMPLE\":16,\"RING/SIMPLE\":12}}";
	struct nt_error err = { "" };
	struct nt_replay_row row;
	static struct job job;
	char *at;

	setup(&job, "bandit,channels=on");
	job.channels = true;
	job.us[2] = 900;
	play(&job);
	assert_string_equal(nt_arm_name(job.outcome.chosen_arm), "TREE/SIMPLE/4ch");
	if (again(job.text, &row, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(row.same);
	assert_int_equal(row.chosen_arm, job.outcome.chosen_arm);
	assert_float_equal(row.p, (double)job.outcome.p, 1e-12);
	at = strstr(job.text, text);
	assert_non_null(at);
	memset(at + 1, 'x', 8); /* without them the rounds are others */
	assert_true(again(job.text, &row, &err) < 0 || !row.same);
	job.channels = false; /* nothing was seen: there is no such round */
	play(&job);
	assert_null(strstr(job.text, "\"channels\":{"));
	assert_int_equal(again(job.text, &row, &err), 0);
	assert_true(row.same);
}

static void decisions_come_out_again(void **state)
{
	same_decision("bandit", 0.2, 0, NT_VERDICT_FASTER);
	same_decision("bandit", 0.2, 0.2, NT_VERDICT_FASTER);
	same_decision("bandit,min_gain=20", 0.05, 0, NT_VERDICT_SCREENED);
	same_decision("bandit,min_gain=7", 0.05, 0, NT_VERDICT_SMALL);
	same_decision("bandit,screen_blocks=5,confirm_blocks=9", 0.2, 0, NT_VERDICT_FASTER);
	same_decision("bandit", 0.2, 0.9, NT_VERDICT_SAMPLES);
	same_decision("bandit,max_calls=60", 0.2, 0, NT_VERDICT_BUDGET);
}

/* The size, as in docs/man/nccl-tune-record.5. */
static void a_trial_is_small(void **state)
{
	static struct job job;

	setup(&job, "bandit");
	job.us[2] = 800;
	play(&job);
	print_message("# %zu bytes for %u calls\n", job.trial_bytes, job.outcome.spent_calls);
	assert_in_range(job.trial_bytes, 100, 9 * job.outcome.spent_calls + 250);
}

/* The history of a key, by the numbers of its communicator and itself. */
static struct nt_history *history_of(uint64_t comm, uint64_t key, bool repeatable)
{
	const struct nt_key_info info = { .comm = comm, .key = key };
	struct nt_history *history = nt_history_create(&info, repeatable);

	assert_non_null(history);
	return history;
}

static void the_oldest_go_first(void **state)
{
	struct nt_histories histories = { .count = 0 };

	for (uint64_t i = 0; i < NT_HISTORIES + 10; i++)
		nt_histories_keep_take(&histories, history_of(i % 3, i / 3, true));
	assert_int_equal(histories.count, NT_HISTORIES);
	assert_null(nt_histories_find(&histories, 0, 0));
	assert_non_null(nt_histories_find(&histories, 0, (NT_HISTORIES + 9) / 3));
	nt_histories_keep_take(&histories, history_of(0, (NT_HISTORIES + 9) / 3, true));
	assert_int_equal(histories.count, NT_HISTORIES);
	assert_null(nt_histories_find(NULL, 0, 0));
	nt_histories_clear(&histories);
}

/* The arms' times come from the recheck; the first exploration can be repeated. */
static void a_recheck_keeps_the_first_times(void **state)
{
	const struct nt_schedule s = { .kind = NT_SCHEDULE_SCREEN, .count = 2, .blocks = 2 };
	const struct nt_sample_quantiles quantiles = { .samples = 5,
						       .median_us = 70,
						       .p25_us = 60 };
	const uint16_t sample[NT_RUN_POSITIONS] = { 1, 2, 3 };
	struct nt_histories histories = { .count = 0 };
	struct nt_history *history = history_of(1, 2, true);

	nt_history_screen(history, &s);
	nt_history_round(history, &s, sample);
	nt_histories_keep_take(&histories, history);
	history = history_of(1, 2, false);
	nt_history_round(history, &s, sample); /* is not kept */
	nt_history_quantiles(history, 7, &quantiles);
	nt_histories_keep_take(&histories, history);
	assert_int_equal(histories.count, 1);
	assert_ptr_equal(nt_histories_find(&histories, 1, 2), history);
	assert_int_equal(history->arms, 1);
	assert_int_equal(history->screened, 1);
	assert_int_equal(history->rounds, 1);
	assert_int_equal(history->end[0], 3);
	assert_memory_equal(history->sample, sample, 3 * sizeof(sample[0]));
	nt_histories_keep_take(&histories, history_of(1, 2, true)); /* a new start */
	assert_int_equal(histories.first->rounds, 0);
	nt_histories_clear(&histories);
}

UNIT_TESTS(a_round_with_caps_comes_out_again, decisions_come_out_again, a_trial_is_small,
	   the_oldest_go_first, a_recheck_keeps_the_first_times);

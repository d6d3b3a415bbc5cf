/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-rates.c - how often the engine is right with simulated noise; nt-engine-sim has more */
#include "tests/lib/unit.h"
#include "tests/fake/rng.h"
#include "lab/replay/drive.h"
#include "tests/fake/noise.h"
#include "tests/unit/sanitized.h"

/* Shares are not tested under a sanitizer: they take too many trials. */
#if SANITIZED
#define TRIALS 10
#define assert_share(holds) ((void)(holds))
#else
#define TRIALS 300
#define assert_share(holds) assert_true(holds)
#endif
#define ARM 2u /* of three arms: the one that differs from the baseline */

struct times {
	const struct nt_noise *noise;
	double gain, stalls;
	/* of the program until the next call, in calls; what the arm adds to it */
	double rest, drag;
	uint64_t seed;
};

static double time_us(void *arg, unsigned arm, unsigned call)
{
	struct times *t = arg;
	uint64_t key = nt_rng_hash(t->seed++);
	double us = nt_noise_us(t->noise, key, call);

	if (arm == ARM)
		us *= (1 - t->gain) * (nt_rng_unit(key ^ 9) < t->stalls ? 2.3 : 1);
	return us + nt_noise_gap_us(t->noise, key, call);
}

/* As noisy as the calls themselves. */
static double rest_us(void *arg, unsigned arm, unsigned call)
{
	struct times *t = arg;

	return nt_noise_us(t->noise, nt_rng_hash(t->seed++), call) *
	       (t->rest + (arm == ARM ? t->drag : 0));
}

static const struct nt_noise *noise_of(const char *name)
{
	for (unsigned i = 0; i < nt_noise_count; i++) {
		if (strcmp(nt_noises[i].name, name) == 0)
			return &nt_noises[i];
	}
	fail_msg("no noise %s", name);
	return NULL;
}

/* The share of trials in which an arm other than the baseline was chosen; recheck: in which it
 * stayed. */
static double share_of(struct times times, const char *noise, bool recheck)
{
	struct nt_drive_key key = {
		.mask = 0x15, .auto_arm = NT_ARM_BASELINE, .time_us = time_us, .rest_us = rest_us
	};
	struct nt_policy policy;
	struct nt_drive drive;
	unsigned chosen = 0;

	times.noise = noise_of(noise);
	key.arg = &times;
	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	nt_drive_init(&drive, &policy);
	for (unsigned t = 0; t < TRIALS; t++) {
		struct nt_driven driven;

		if (recheck)
			assert_true(nt_drive_recheck(&drive, &key, ARM, &driven));
		else
			assert_true(nt_drive_run(&drive, &key, &driven));
		if (recheck)
			chosen += driven.outcome.chosen_arm == ARM;
		else
			chosen += driven.outcome.chosen_arm != NT_ARM_BASELINE;
	}
	return (double)chosen / TRIALS;
}

/* The share of trials in which a remembered arm was confirmed; in mode policy, in which it survived
 * a recheck. */
static double remembered_share(const char *noise, double gain, int64_t mode)
{
	struct times times = { .noise = noise_of(noise), .gain = gain, .seed = 1 };
	struct nt_drive_key key = { .mask = 0x15,
				    .auto_arm = NT_ARM_BASELINE,
				    .time_us = time_us,
				    .rest_us = rest_us,
				    .arg = &times,
				    .remembers = true,
				    .remembered = ARM };
	struct nt_policy policy;
	struct nt_drive drive;
	unsigned count = 0;

	nt_policy_default(&policy);
	policy.mode = mode;
	nt_drive_init(&drive, &policy);
	for (unsigned t = 0; t < TRIALS; t++) {
		struct nt_driven driven;

		if (mode == NT_MODE_POLICY) {
			assert_true(nt_drive_recheck(&drive, &key, ARM, &driven));
			count += driven.outcome.chosen_arm == ARM;
		} else {
			assert_true(nt_drive_run(&drive, &key, &driven));
			count += driven.outcome.from == NT_FROM_WARM;
		}
	}
	return (double)count / TRIALS;
}

static void a_remembered_arm_is_confirmed_where_it_is_faster(void **state)
{
	for (unsigned i = 0; i < nt_noise_count; i++)
		assert_share(remembered_share(nt_noises[i].name, 0, NT_MODE_BANDIT) <= 0.02);
	assert_share(remembered_share("lognormal-3", -0.1, NT_MODE_BANDIT) == 0);
	assert_share(remembered_share("lognormal-3", 0.1, NT_MODE_BANDIT) >= 0.99);
	assert_share(remembered_share("lognormal-8", 0.1, NT_MODE_BANDIT) >= 0.8);
	assert_share(remembered_share("bimodal-3", 0.2, NT_MODE_BANDIT) >= 0.8);
}

static void a_policy_is_kept_while_it_is_ahead(void **state)
{
	for (unsigned i = 0; i < nt_noise_count; i++)
		assert_share(remembered_share(nt_noises[i].name, 0.1, NT_MODE_POLICY) >= 0.95);
	assert_share(remembered_share("lognormal-3", -0.1, NT_MODE_POLICY) <= 0.01);
	assert_share(remembered_share("lognormal-8", -0.1, NT_MODE_POLICY) <= 0.02);
	assert_share(remembered_share("bimodal-3", -0.1, NT_MODE_POLICY) <= 0.03);
}

static double share(const char *noise, double gain, double stalls, bool recheck)
{
	return share_of((struct times){ .gain = gain, .stalls = stalls, .seed = 1 }, noise,
			recheck);
}

static double chosen_share(const char *noise, double gain, double stalls)
{
	return share(noise, gain, stalls, false);
}

static double kept_share(const char *noise, double gain, double stalls)
{
	return share(noise, gain, stalls, true);
}

static void a_second_look_keeps_what_is_ahead(void **state)
{
	for (unsigned i = 0; i < nt_noise_count; i++)
		assert_share(kept_share(nt_noises[i].name, 0.06, 0) >= 0.99);
}

static void a_second_look_gives_up_what_is_behind(void **state)
{
	assert_share(kept_share("lognormal-3", -0.1, 0) <= 0.01);
	assert_share(kept_share("lognormal-8", -0.1, 0) <= 0.03);
	assert_share(kept_share("drift", -0.1, 0) <= 0.01);
	assert_share(kept_share("bimodal-3", -0.1, 0) <= 0.03);
	assert_share(kept_share("lognormal-8", 0.1, 0.5) <= 0.2); /* more stalls */
}

static void identical_arms_are_left_alone(void **state)
{
	for (unsigned i = 0; i < nt_noise_count; i++)
		/* 1 %, plus chance with so few trials */
		assert_share(chosen_share(nt_noises[i].name, 0, 0) <= 0.02);
}

static void a_true_gain_is_found(void **state)
{
	assert_share(chosen_share("lognormal-3", 0.1, 0) >= 0.99);
	assert_share(chosen_share("lognormal-8", 0.1, 0) >= 0.95);
	assert_share(chosen_share("drift", 0.1, 0) >= 0.95);
	assert_share(chosen_share("bimodal-3", 0.1, 0) >= 0.91); /* three looks found less */
	assert_share(chosen_share("steps of 4", 0.1, 0) >= 0.8);
}

/* Most calls of a burst are followed by computing, so that the lower quartile falls between two
 * modes. */
static void a_gain_is_found_in_bursts(void **state)
{
	assert_share(chosen_share("bursts of 4", 0.2, 0) >= 0.5); /* by quartiles: 0.3 */
	assert_share(chosen_share("bursts of 6", 0.2, 0) >= 0.7);
	assert_share(chosen_share("bursts of 4", -0.2, 0) <= 0.01);
}

/* Calls until a key is decided, and the share of trials in which the arm was chosen. */
static double calls_of(const char *noise, double gain, double stalls, double apart_us,
		       double *chosen)
{
	struct times times = {
		.noise = noise_of(noise), .gain = gain, .stalls = stalls, .seed = 1
	};
	struct nt_drive_key key = {
		.mask = 0x6, .auto_arm = NT_ARM_BASELINE, .time_us = time_us, .arg = &times
	};
	struct nt_policy policy;
	struct nt_drive drive;
	double calls = 0;

	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	nt_drive_init(&drive, &policy);
	drive.apart_us = apart_us;
	*chosen = 0;
	for (unsigned t = 0; t < TRIALS; t++) {
		struct nt_driven driven;

		assert_true(nt_drive_run(&drive, &key, &driven));
		calls += driven.calls;
		*chosen += driven.outcome.chosen_arm != NT_ARM_BASELINE;
	}
	*chosen /= TRIALS;
	return calls / TRIALS;
}

/* Twelve pairs suffice for a large gain in quiet times. Small ones are not lost, nor are stalls
 * overlooked. */
static void rare_calls_are_decided_by_fewer(void **state)
{
	double often, rarely, chosen_often, chosen;

	often = calls_of("lognormal-3", 0.2, 0, 1e6, &chosen_often);
	rarely = calls_of("lognormal-3", 0.2, 0, 5e6, &chosen);
	assert_share(rarely <= 0.7 * often);
	assert_share(chosen >= 0.99);
	(void)calls_of("lognormal-15", 0.1, 0, 1e6, &chosen_often);
	(void)calls_of("lognormal-15", 0.1, 0, 5e6, &chosen);
	assert_share(chosen >= chosen_often - 0.1);
	(void)calls_of("lognormal-15", 0, 0, 5e6, &chosen);
	assert_share(chosen <= 0.02);
	(void)calls_of("lognormal-3", 0.1, 0.15, 5e6, &chosen);
	assert_share(chosen <= 0.08);
}

/* One call in a long program: its gain does not show from call to call, but counts. */
static void a_gain_is_found_where_the_rest_hides_it(void **state)
{
	const struct times times = { .gain = 0.1, .rest = 10, .seed = 1 };

	assert_share(share_of(times, "lognormal-3", false) >= 0.93);
	assert_share(share_of(times, "lognormal-8", false) >= 0.9);
}

static void an_arm_that_costs_the_rest_more_is_left(void **state)
{
	/* a round is 3.3 % longer */
	const struct times near = { .gain = 0.1, .rest = 2, .drag = 0.2, .seed = 1 };
	const struct times clear = { .gain = 0.1, .rest = 2, .drag = 0.4, .seed = 1 }; /* 10 % */

	assert_share(share_of(near, "lognormal-3", false) <= 0.1);
	assert_share(share_of(clear, "lognormal-8", false) <= 0.1);
}

static void stalls_are_no_gain(void **state)
{
	assert_share(chosen_share("lognormal-3", 0.1, 0.3) <= 0.02);
	assert_share(chosen_share("bimodal-3", 0.1, 0.3) <= 0.05);
}

UNIT_TESTS(a_remembered_arm_is_confirmed_where_it_is_faster, a_policy_is_kept_while_it_is_ahead,
	   identical_arms_are_left_alone, a_true_gain_is_found, a_gain_is_found_in_bursts,
	   rare_calls_are_decided_by_fewer, a_gain_is_found_where_the_rest_hides_it,
	   an_arm_that_costs_the_rest_more_is_left, stalls_are_no_gain,
	   a_second_look_keeps_what_is_ahead, a_second_look_gives_up_what_is_behind);

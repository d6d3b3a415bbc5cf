/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slowdown.c - alarms of engine/slowdown.h on made-up steps: power and false alarms */
#include "tests/lib/unit.h"

#include <math.h>
#include "engine/slowdown.h"
#include "lab/replay/rng.h"

#define RUNS 100u
#define STEPS 10000u
#define STEP_US 1.1e6
#define CHANGE 60u /* the step at which the program becomes slower */

/* A program, of one step a window. */
struct program {
	double noise; /* deviation of the logarithm */
	double outliers; /* share of steps that take three times as long */
	double slower; /* from step CHANGE on */
	unsigned pause_every; /* steps; a pause of 20 steps */
	double drift; /* a step */
	unsigned longer_every; /* steps; a step then takes 1.2 times as long */
};

static double step_us(const struct program *p, uint64_t seed, unsigned step)
{
	const uint64_t who = nt_rng_mix(seed, step);
	double us = STEP_US * exp(p->noise * nt_rng_normal(who) + p->drift * step);

	if (nt_rng_unit(who + 1) < p->outliers)
		us *= 3;
	if (p->slower > 0 && step >= CHANGE)
		us *= p->slower;
	if (p->pause_every && step % p->pause_every == p->pause_every - 1)
		us *= 20;
	if (p->longer_every)
		us *= pow(1.2, step / p->longer_every);
	return us;
}

/* Alarms in so many steps; *first: the step of the first one. */
static unsigned alarms_of(const struct program *p, uint64_t seed, unsigned steps, unsigned *first)
{
	struct nt_marker_step end = { .steps = 1, .us = 1000 };
	struct nt_slowdown s = { 0 };
	unsigned alarms = 0;

	nt_slowdown_begin(&s, STEP_US);
	for (unsigned i = 0; i < steps; i++) {
		end.steps++;
		end.us += (uint64_t)step_us(p, seed, i);
		if (!nt_slowdown_see(&s, &end))
			continue;
		if (alarms++ == 0)
			*first = i;
		nt_slowdown_begin(&s, STEP_US);
	}
	return alarms;
}

static unsigned alarms_in_runs(const struct program *p)
{
	unsigned alarms = 0, first;

	for (uint64_t seed = 1; seed <= RUNS; seed++)
		alarms += alarms_of(p, seed, STEPS, &first);
	return alarms;
}

/* At most one in 10^5 steps; three where the program really becomes slower ten times. */
static void false_alarms_are_rare(void **state)
{
	static const double noise[] = { 0, 0.03, 0.08, 0.15 };

	for (unsigned i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		assert_in_range(alarms_in_runs(&(struct program){ .noise = noise[i] }), 0, 10);
		assert_in_range(alarms_in_runs(&(struct program){
					.noise = noise[i], .outliers = 0.02, .pause_every = 50 }),
				0, 10);
		assert_in_range(
			alarms_in_runs(&(struct program){ .noise = noise[i], .drift = 0.0003 }), 0,
			10);
		/* Ten jumps of 1.2. */
		assert_in_range(alarms_in_runs(&(struct program){ .noise = noise[i],
								  .longer_every = 1000 }),
				0, 3 * RUNS);
	}
}

/* Share of runs, in percent, with an alarm within 20 steps of the change and none before. */
static unsigned seen_percent(double noise, double outliers, double slower)
{
	const struct program p = { .noise = noise, .outliers = outliers, .slower = slower };
	unsigned seen = 0, first;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		first = 0;
		(void)alarms_of(&p, seed, CHANGE + 20, &first);
		seen += first > CHANGE;
	}
	return seen * 100 / RUNS;
}

static void a_slower_program_is_seen(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const double outliers = 0.02 * i;

		assert_in_range(seen_percent(0, outliers, 1.25), 99, 100);
		assert_in_range(seen_percent(0.03, outliers, 1.25), 99, 100);
		assert_in_range(seen_percent(0.08, outliers, 1.25), 90, 100);
		assert_in_range(seen_percent(0.08, outliers, 1.4), 95, 100);
		assert_in_range(seen_percent(0.15, outliers, 1.4), 70, 100);
	}
	/* not worth a recheck */
	assert_in_range(seen_percent(0.03, 0, 1.04), 0, 0);
	assert_in_range(seen_percent(0.03, 0, 0.7), 0, 0);
}

/* An alarm learns the new period: the same program gives no other. */
static void one_change_is_one_alarm(void **state)
{
	const struct program p = { .noise = 0.03, .slower = 1.6 };
	unsigned first = 0;

	assert_int_equal(alarms_of(&p, 1, STEPS, &first), 1);
	assert_in_range(first, CHANGE + 3, CHANGE + 10);
}

/* What is known too roughly, or is not called, makes no window. */
static void windows_are_long_enough(void **state)
{
	struct nt_marker_step end = { .steps = 3, .us = 1000, .doubt_us = 100000 };
	struct nt_slowdown s = { 0 };

	assert_false(nt_slowdown_see(&s, &end)); /* not begun */
	nt_slowdown_begin(&s, 100000);
	assert_int_equal(s.stride, 8);
	for (unsigned i = 0; i < 21; i++) {
		assert_false(nt_slowdown_see(&s, &end));
		end.us += 100000;
		end.steps++;
	}
	assert_int_equal(s.from.steps, 8);
	assert_int_equal(s.learnt, 0);
	assert_false(nt_slowdown_see(&s, &end));
	assert_int_equal(s.from.steps, 24);
	assert_int_equal(s.learnt, 1);
	end.us += 60000000; /* not called */
	assert_false(nt_slowdown_see(&s, &end));
	assert_int_equal(s.learnt, 1);
	nt_slowdown_end(&s);
	end.steps += 100;
	assert_false(nt_slowdown_see(&s, &end));
	assert_int_equal(s.learnt, 1);
}

UNIT_TESTS(false_alarms_are_rare, a_slower_program_is_seen, one_change_is_one_alarm,
	   windows_are_long_enough);

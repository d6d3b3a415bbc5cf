/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A race of launch profiles: the order of laps, who is dropped, who wins, and how often chance
 * does */
#include <math.h>
#include "tests/lib/unit.h"
#include "launch/measure/race.h"
#include "lab/replay/rng.h"

#define PROFILES 5
#define CALLS 3

static struct nt_race race;

/* What laps would measure. */
struct world {
	double ratio[1 + PROFILES]; /* of the time with a profile to that with the default */
	double worse; /* the last call of profile 1 takes so many times as long; 0: it does not */
	double deviation; /* between laps */
	double drift; /* of the logarithm, from lap to lap */
	double time_s, lap_s;
	bool mix;
	unsigned fails, wrong; /* a profile; 0: none */
};

static const struct nt_cal_call known[CALLS] = { { 4, 65536, 100 },
						 { 4, 1 << 20, 10 },
						 { 4, 16 << 20, 1 } };
static const struct nt_cal_call unknown[CALLS] = { { 4, 65536, 0 },
						   { 4, 1 << 20, 0 },
						   { 4, 16 << 20, 0 } };

static uint64_t seed;

/* Runs a race; the laps as digits in order. */
static const char *run(const struct world *w, enum nt_race_end *end)
{
	static char order[NT_RACE_LAPS + 1];
	double at_s = 0;
	int which;

	memset(order, 0, sizeof(order));
	nt_race_init(&race, PROFILES, w->mix ? known : unknown, CALLS, w->time_s, w->lap_s);
	for (unsigned n = 0; (which = nt_race_next(&race, at_s, end)) >= 0; n++) {
		double us[CALLS] = { 100, 600, 6000 };
		const double noise = w->deviation * nt_rng_normal(seed++) + w->drift * n;

		assert_true(nt_race_limit_s(&race, (unsigned)which, at_s) <=
			    w->time_s - at_s + 1.001);
		order[n] = (char)('0' + which);
		at_s += w->lap_s;
		if (w->fails == (unsigned)which && which > 0) {
			nt_race_fail(&race, (unsigned)which, NT_RACER_FAILED);
			continue;
		}
		if (w->wrong == (unsigned)which && which > 0) {
			nt_race_fail(&race, (unsigned)which, NT_RACER_WRONG);
			continue;
		}
		for (unsigned c = 0; c < CALLS; c++)
			us[c] *= w->ratio[which] * exp(noise);
		if (which == 1 && w->worse > 0)
			us[2] *= w->worse;
		nt_race_note(&race, (unsigned)which, us, w->lap_s, at_s);
	}
	assert_true(at_s <= w->time_s);
	return order;
}

static const struct world quiet = {
	.ratio = { 1, 1, 1, 1, 1, 1 }, .deviation = 0.01, .time_s = 200, .lap_s = 2
};

static void a_clear_winner_is_found_and_losers_run_once(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;
	const char *order;

	w.ratio[1] = 1.5;
	w.ratio[2] = 0.4;
	w.ratio[3] = 0.9;
	w.ratio[4] = 2;
	w.ratio[5] = 0.8;
	order = run(&w, &end);
	assert_int_equal(strncmp(order, "012345", 6), 0);
	assert_null(strchr(order + 6, '1'));
	assert_null(strchr(order + 6, '4'));
	assert_int_equal(end, NT_RACE_CLEAR);
	assert_int_equal(nt_race_winner(&race, end), 2);
	assert_true(fabs(exp(-race.racer[2].log_ratio) - 2.5) < 0.2);
	assert_true(race.racer[2].laps >= 2 && race.laps < 20);
}

/* Sockets between two H200: the one that is fastest on average is slower at a small size. */
static void one_that_is_slow_at_a_size_pushes_no_other_out(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;

	w.deviation = 0.05;
	w.time_s = 26;
	w.ratio[1] = 0.35;
	w.worse = 4;
	w.ratio[2] = 0.6;
	w.ratio[3] = 0.65;
	run(&w, &end);
	assert_int_equal(nt_race_winner(&race, end), 2);
	w.mix = true; /* in this one the program calls the slow size seldom */
	run(&w, &end);
	assert_true(nt_race_winner(&race, end) > 0);
}

static void rounds_are_reversed(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;

	w.deviation = 0;
	for (unsigned i = 1; i <= PROFILES; i++)
		w.ratio[i] = 0.9;
	assert_int_equal(strncmp(run(&w, &end), "012345543210012345", 18), 0);
}

/* A network that becomes slower from lap to lap favours none. */
static void a_drift_decides_nothing(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;

	for (int up = -1; up <= 1; up += 2) {
		w.drift = 0.02 * up;
		run(&w, &end);
		assert_int_equal(nt_race_winner(&race, end), 0);
		w.ratio[3] = 0.6;
		run(&w, &end);
		assert_int_equal(nt_race_winner(&race, end), 3);
		w.ratio[3] = 1;
	}
}

/* What happens in this share of many races. */
static double share_of(const struct world *w, unsigned races, unsigned winner)
{
	unsigned count = 0;

	for (unsigned i = 0; i < races; i++) {
		enum nt_race_end end;

		run(w, &end);
		count += nt_race_winner(&race, end) == winner;
	}
	return (double)count / races;
}

static void noise_alone_leaves_the_default(void **state)
{
	static const double times_s[] = { 26, 60, 200 };

	for (unsigned i = 0; i < 2 * sizeof(times_s) / sizeof(times_s[0]); i++) {
		struct world w = quiet;
		double share;

		w.deviation = 0.1;
		w.time_s = times_s[i / 2];
		w.mix = i % 2;
		share = share_of(&w, 1000, 0);
		print_message("%.0f s, mix %d: the default in %.2f %%\n", w.time_s, w.mix,
			      100 * share);
		assert_true(share >= 0.99);
	}
}

static void a_gain_is_found_in_spite_of_noise(void **state)
{
	struct world w = quiet;

	w.deviation = 0.1;
	w.time_s = 60;
	w.ratio[2] = 1 / 2.4;
	assert_true(share_of(&w, 300, 2) >= 0.99);
	w.ratio[2] = 1 / 1.5;
	assert_true(share_of(&w, 300, 2) >= 0.95);
	w.ratio[2] = 1 / 1.2;
	w.time_s = 200;
	assert_true(share_of(&w, 300, 2) >= 0.8);
}

/* The two ranks of one GPU: times of a lap are 1.4 times as long, or as short. */
static void a_race_that_ends_by_time_may_be_undecided(void **state)
{
	struct world w = { .ratio = { 1, 1, 1, 1, 1, 1 },
			   .deviation = 0.3,
			   .mix = true,
			   .time_s = 56,
			   .lap_s = 4 };
	unsigned undecided = 0;

	assert_true(share_of(&w, 1000, 0) >= 0.95);
	w.ratio[2] = 1 / 1.9;
	assert_true(share_of(&w, 1000, 2) >= 0.38);
	for (unsigned i = 0; i < 300; i++) {
		enum nt_race_end end;

		run(&w, &end);
		assert_false(nt_race_undecided(&race, end) && nt_race_winner(&race, end) != 0);
		undecided += nt_race_undecided(&race, end);
	}
	assert_true(undecided >= 100);
	w.deviation = 0.01;
	assert_true(share_of(&w, 10, 2) == 1);
}

static void too_little_time_leaves_the_default(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;

	w.ratio[1] = 0.4;
	w.time_s = 13;
	assert_string_equal(run(&w, &end), "012345");
	assert_int_equal(end, NT_RACE_TIME);
	assert_int_equal(nt_race_winner(&race, end), 0);
	/* Before a second round that does not fit, half of them are dropped. */
	w.time_s = 27;
	assert_int_equal(strncmp(run(&w, &end), "012345", 6), 0);
	assert_int_equal(nt_race_winner(&race, end), 1);
	w.time_s = 1;
	assert_string_equal(run(&w, &end), "");
	assert_int_equal(end, NT_RACE_TIME);
}

static void the_mix_decides_or_all_sizes(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;

	w.ratio[1] = 0.5;
	w.worse = 2.6; /* the largest call takes 1.3 times as long */
	run(&w, &end);
	assert_int_equal(nt_race_winner(&race, end), 0);
	assert_int_equal(race.racer[1].state, NT_RACER_BEATEN);
	w.mix = true; /* it is called once in 111 calls: 22000 become 15800 us */
	run(&w, &end);
	assert_int_equal(nt_race_winner(&race, end), 1);
	w.worse = 8;
	run(&w, &end);
	assert_int_equal(nt_race_winner(&race, end), 0);
}

static void failing_and_wrong_profiles_do_not_run_again(void **state)
{
	struct world w = quiet;
	enum nt_race_end end;
	const char *order;

	w.ratio[1] = w.ratio[2] = 0.3;
	w.ratio[3] = 0.5;
	w.fails = 1;
	w.wrong = 2;
	order = run(&w, &end);
	assert_int_equal(strncmp(order, "012345", 6), 0);
	assert_true(!strchr(order + 6, '1') && !strchr(order + 6, '2'));
	assert_int_equal(nt_race_winner(&race, end), 3);
	assert_int_equal(race.racer[1].state, NT_RACER_FAILED);
	assert_int_equal(race.racer[2].state, NT_RACER_WRONG);
}

static void a_default_that_fails_or_is_wrong_ends_it(void **state)
{
	static const struct {
		enum nt_racer_state state;
		enum nt_race_end end;
	} rows[] = { { NT_RACER_FAILED, NT_RACE_NO_DEFAULT }, { NT_RACER_WRONG, NT_RACE_WRONG } };
	const double us[CALLS] = { 1, 1, 1 }, fast[CALLS] = { 0.2, 0.2, 0.2 };
	enum nt_race_end end;

	for (unsigned i = 0; i < 4; i++) {
		nt_race_init(&race, 1, unknown, CALLS, 100, 2);
		for (unsigned n = 0; n < 3 * (i / 2); n++) {
			nt_race_note(&race, 0, us, 2, n);
			nt_race_note(&race, 1, fast, 2, n);
		}
		nt_race_fail(&race, 0, rows[i % 2].state);
		assert_int_equal(nt_race_next(&race, 20, &end), -1);
		assert_int_equal(end, rows[i % 2].end);
		assert_int_equal(nt_race_winner(&race, end), 0);
	}
}

static void the_default_alone_is_measured_twice(void **state)
{
	const double us[CALLS] = { 1, 1, 1 };
	enum nt_race_end end;

	nt_race_init(&race, 0, unknown, CALLS, 100, 2);
	for (unsigned n = 0; n < 2; n++) {
		assert_int_equal(nt_race_next(&race, n, &end), 0);
		nt_race_note(&race, 0, us, 1, n + 1);
	}
	assert_int_equal(nt_race_next(&race, 2, &end), -1);
	assert_int_equal(end, NT_RACE_CLEAR);
}

UNIT_TESTS(a_clear_winner_is_found_and_losers_run_once,
	   one_that_is_slow_at_a_size_pushes_no_other_out, rounds_are_reversed,
	   a_drift_decides_nothing, noise_alone_leaves_the_default,
	   a_gain_is_found_in_spite_of_noise, a_race_that_ends_by_time_may_be_undecided,
	   too_little_time_leaves_the_default, the_mix_decides_or_all_sizes,
	   failing_and_wrong_profiles_do_not_run_again, a_default_that_fails_or_is_wrong_ends_it,
	   the_default_alone_is_measured_twice);

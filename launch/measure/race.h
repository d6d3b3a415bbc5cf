/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* race.h - launch profiles against NCCL's default, lap by lap: which is measured next, and who wins
 *
 * A lap is one run of the benchmark in all tasks. Each profile that is left runs one, the default
 * first, and so on; every other time in reverse order, so that a network that becomes slower or
 * faster favours none. The cost of a lap is that of the
 * program's calls or, where these are unknown, the mean of the logarithms over all calls. It is
 * compared with the laps of the default before and after it. Laps with the same settings differ
 * by more than their samples say (launch/estimate.h), so a lap is one sample.
 *
 * A profile wins if it is at least 3 % faster than the default, by more than chance with regard to
 * the number of profiles and, where the program's calls are unknown, not 10 % slower at any.
 *
 * Threads:  pure functions.
 * Memory:   a value.
 * Errors:   none.
 * Units:    seconds since the race began; microseconds; natural logarithms of ratios.
 */
#ifndef NT_RACE_H
#define NT_RACE_H

#include <stdbool.h>
#include "launch/measure/request.h"

#define NT_RACERS (1 + NT_CAL_PROFILES) /* the default is the first */
#define NT_RACE_LAPS 512

enum nt_racer_state {
	NT_RACER_OPEN = 0,
	NT_RACER_BEATEN, /* it can no longer win, or was in the worse half when time was short */
	NT_RACER_FAILED,
	NT_RACER_WRONG, /* its results were wrong */
};

/* Why there is no further lap. */
enum nt_race_end {
	NT_RACE_GOES_ON = 0,
	NT_RACE_CLEAR, /* nothing can win any more, or the winner is certain */
	NT_RACE_TIME, /* no further lap fits */
	NT_RACE_NO_DEFAULT, /* a lap of the default failed */
	NT_RACE_WRONG, /* the default's results were wrong: no result can be trusted */
};

struct nt_racer {
	enum nt_racer_state state;
	unsigned laps; /* measured */
	double longest_s;
	double deviation; /* between its laps */
	/* Against the default; 0 for it, and without laps. */
	double log_ratio; /* below 0: faster */
	double error; /* standard error of it */
	double p; /* one-sided: the probability if it is not faster */
	double worst; /* the largest ratio of a call */
};

struct nt_race {
	unsigned count; /* racers */
	unsigned calls;
	double weight[NT_CAL_CALLS]; /* all 0: unknown */
	double time_s; /* time limit */
	double guess_s; /* of a lap, before the first */
	double degrees; /* of freedom of the errors */
	struct nt_racer racer[NT_RACERS];
	unsigned laps;
	struct {
		unsigned racer;
		float log_us[NT_CAL_CALLS];
		double log_cost;
	} lap[NT_RACE_LAPS];
};

/* profiles: besides the default. calls[i].calls is used, and the number of calls. */
void nt_race_init(struct nt_race *race, unsigned profiles, const struct nt_cal_call *calls,
		  unsigned count, double time_s, double guess_s);
/* Are the program's calls known? */
bool nt_race_knows_mix(const struct nt_race *race);
/* Who is next, or -1 and the reason. */
int nt_race_next(const struct nt_race *race, double elapsed_s, enum nt_race_end *end);
/* For how long a lap may run. */
double nt_race_limit_s(const struct nt_race *race, unsigned which, double elapsed_s);

/* A lap has ended with these medians of each call, above 0. */
void nt_race_note(struct nt_race *race, unsigned which, const double *median_us, double took_s,
		  double elapsed_s);
/* It has failed, or its results were wrong. */
void nt_race_fail(struct nt_race *race, unsigned which, enum nt_racer_state state);

/* The winner of a race that has ended so; 0: the default, or nobody. */
unsigned nt_race_winner(const struct nt_race *race, enum nt_race_end end);
/* One was faster when the time was over, and none beyond chance. */
bool nt_race_undecided(const struct nt_race *race, enum nt_race_end end);

#endif

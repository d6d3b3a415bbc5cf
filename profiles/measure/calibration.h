/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - which profile a calibration runs next, which it drops, and when it ends
 *
 * Profiles run in turn, and the first of a round is the last of the next, so that other load on the
 * machine affects all of them. Turns of one profile differ; by how much is estimated from those of
 * the calibration itself (profiles/estimate.h). After each turn a profile is dropped that cannot
 * win any more. If two more rounds of all that are left do not fit into the time, only the better
 * half continues. The calibration ends when nothing can win, when the winner is certain, or when no
 * turn fits into the remaining time.
 *
 * Profiles are compared by the cost of the program's mix of calls. If that is unknown, they are
 * compared at each size, because a program may call only that.
 *
 * Threads:  pure; there is no clock in it.
 * Memory:   a value.
 * Errors:   none.
 * Units:    seconds since the calibration began; ratios of the default's cost, below 1 faster.
 */
#ifndef NT_CALIBRATION_H
#define NT_CALIBRATION_H

#include <stdbool.h>
#include "profiles/mix-cost.h"

#define NT_CALIBRATION_MAX 16 /* profiles, with the default */
#define NT_CALIBRATION_VIEWS 16 /* sizes */

enum nt_contender_state {
	NT_CONTENDER_OPEN = 0,
	NT_CONTENDER_BEATEN, /* it can no longer win, or was in the worse half */
	NT_CONTENDER_FAILED, /* its step failed, hung or left no measurements */
	NT_CONTENDER_WRONG, /* its results were wrong */
};

struct nt_contender {
	char name[NT_PROFILE_NAME];
	enum nt_contender_state state;
	unsigned runs; /* completed runs */
	unsigned round; /* runs, with the failed one */
	double longest_s;
	struct nt_mix_cost cost; /* the result of the runs; not for the default */
	struct nt_mix_cost view[NT_CALIBRATION_VIEWS]; /* by the mix, or at each size */
};

/* Why there is no further run. */
enum nt_calibration_end {
	NT_CALIBRATION_GOES_ON = 0,
	NT_CALIBRATION_CLEAR, /* nothing can win any more, or the winner is certain */
	NT_CALIBRATION_TIME, /* no further run fits */
	NT_CALIBRATION_NO_DEFAULT, /* the default's first step failed: nothing can be compared */
	NT_CALIBRATION_WRONG, /* the default's own results were wrong: no result can be trusted */
};

struct nt_calibration {
	unsigned count;
	struct nt_contender contender[NT_CALIBRATION_MAX]; /* the default is the first */
	double time_s; /* time limit */
	double guess_s; /* of a run, before the first */
	unsigned views; /* 1 where the mix is known */
};

/* Begins with the default; add candidates in the order of trials. */
void nt_calibration_init(struct nt_calibration *calibration, double time_s, double guess_s);
/* false if there is no room for it. */
bool nt_calibration_add(struct nt_calibration *calibration, const char *profile);

/* The next contender, or -1 and the reason in *end. */
int nt_calibration_next(const struct nt_calibration *calibration, double elapsed_s,
			enum nt_calibration_end *end);

/* The expected time of a contender's next run. */
double nt_calibration_estimate_s(const struct nt_calibration *calibration, unsigned which);

/* A run has ended; NT_CONTENDER_OPEN: successfully. */
void nt_calibration_note(struct nt_calibration *calibration, unsigned which,
			 enum nt_contender_state state, double took_s);

/* Compute each cost from the calibration's entries. mix NULL: unknown. -1: no memory. */
int nt_calibration_weigh(struct nt_calibration *calibration, const struct nt_memory *found,
			 const struct nt_where *where, const struct nt_mix *mix, int64_t now_s);

/* Drop what cannot win, and the worse half if time is short. */
void nt_calibration_judge(struct nt_calibration *calibration, double elapsed_s);

/* For how long a run makes calls, if it takes start_s to start: some rounds of all profiles must
 * fit. */
unsigned nt_calibration_calls_s(double time_s, unsigned profiles, double start_s);

/* An entry for each profile with two or more turns, which stands for them. -1 and *err. */
int nt_calibration_pool(const struct nt_calibration *calibration, const struct nt_memory *found,
			struct nt_memory *out, struct nt_error *err);

#endif

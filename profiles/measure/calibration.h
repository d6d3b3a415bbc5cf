/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - which profile a calibration runs next, which it drops, and when it ends
 *
 * Profiles run in turn, and the first of a round is the last of the next, so that other load on the
 * machine affects all of them. Turns of one profile differ; by how much is estimated from those of
 * the calibration itself (profiles/estimate.h). After each turn a profile is dropped that cannot
 * win any more. When time is short for two more rounds of all that are left, only the better half
 * of them goes on. The calibration ends when nothing can win, when who wins is sure, or when no
 * turn fits into the remaining time.
 *
 * Profiles are compared by what a program's mix of calls costs. If it is not known, any size may be
 * all that a program calls: they are compared at each, and may win at each.
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
	NT_CONTENDER_BEATEN, /* it can no longer win, or half of them were better */
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
	NT_CALIBRATION_CLEAR, /* nothing can win any more, or it is sure who wins */
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

/* What the calibration's entries say of each. mix NULL: it is not known. -1: no memory. */
int nt_calibration_weigh(struct nt_calibration *calibration, const struct nt_memory *found,
			 const struct nt_where *where, const struct nt_mix *mix, int64_t now_s);

/* With the weights as they are now: drops what cannot win, and the worse half if time is short. */
void nt_calibration_judge(struct nt_calibration *calibration, double elapsed_s);

/* How long the calls of one run are made, of so many profiles, when a run takes start_s beside
 * them: such that some rounds fit. */
unsigned nt_calibration_calls_s(double time_s, unsigned profiles, double start_s);

/* An entry for each profile with two or more turns, which stands for them. -1 and *err. */
int nt_calibration_pool(const struct nt_calibration *calibration, const struct nt_memory *found,
			struct nt_memory *out, struct nt_error *err);

#endif

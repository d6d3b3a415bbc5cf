/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - which profile a calibration runs next, which are given up, and when it is over
 *
 * Runs go by turns, the first of a round last in the next, so that what a machine does meanwhile
 * hits all alike. A profile is given up once its ratio is certainly above that of the best, or
 * above the default's; one whose step failed at once. It is over when nothing is open any more, or
 * when no run fits into what is left of the time.
 *
 * Threads:  pure; there is no clock in it.
 * Memory:   a value.
 * Errors:   none.
 * Units:    seconds since the calibration began; ratios of the default's cost, below 1 faster.
 */
#ifndef NT_CALIBRATION_H
#define NT_CALIBRATION_H

#include <stdbool.h>
#include "launch/weigh.h"

#define NT_CALIBRATION_MAX 16 /* profiles, the default among them */
#define NT_CALIBRATION_ROUNDS 3

enum nt_contender_state {
	NT_CONTENDER_OPEN = 0,
	NT_CONTENDER_BEATEN, /* it cannot win any more */
	NT_CONTENDER_FAILED, /* its step failed, hung or left nothing */
};

struct nt_contender {
	char name[NT_PROFILE_NAME];
	enum nt_contender_state state;
	unsigned runs; /* that ended well */
	unsigned round; /* turns it had, the failed one included */
	double longest_s;
	struct nt_weight weight; /* what the runs say; of the default nothing */
};

/* Why no further run is made. */
enum nt_calibration_end {
	NT_CALIBRATION_GOES_ON = 0,
	NT_CALIBRATION_CLEAR, /* nothing is open any more, or one candidate and it has won */
	NT_CALIBRATION_ROUNDS_OVER,
	NT_CALIBRATION_TIME, /* no further run fits */
	NT_CALIBRATION_NO_DEFAULT, /* the default's first step failed: nothing can be compared */
};

struct nt_calibration {
	unsigned count;
	struct nt_contender contender[NT_CALIBRATION_MAX]; /* the default is the first */
	double time_s; /* what it may take */
	double guess_s; /* of a run, before one was seen */
};

/* The default alone; add candidates in the order in which they are worth a try. */
void nt_calibration_init(struct nt_calibration *calibration, double time_s, double guess_s);
/* false if there is no room for it. */
bool nt_calibration_add(struct nt_calibration *calibration, const char *profile);

/* The contender whose turn it is, or -1 and *end why. */
int nt_calibration_next(const struct nt_calibration *calibration, double elapsed_s,
			enum nt_calibration_end *end);

/* How long a contender's next run is thought to take. */
double nt_calibration_estimate_s(const struct nt_calibration *calibration, unsigned which);

/* A run has ended. */
void nt_calibration_note(struct nt_calibration *calibration, unsigned which, bool well,
			 double took_s);

/* With the weights as they are now: gives up what cannot win. */
void nt_calibration_judge(struct nt_calibration *calibration);

/* How long a calibration takes unless somebody says it: 30 s for two nodes, a quarter more each
 * time their number doubles. */
double nt_calibration_time_s(unsigned nodes);

/* How long the calls of one run are made, of so many profiles, when a run takes start_s beside
 * them. */
unsigned nt_calibration_calls_s(double time_s, unsigned profiles, double start_s);

#endif

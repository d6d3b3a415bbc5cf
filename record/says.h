/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - what steps gained: the figures, and the sentence that has them
 *
 *	step 23.5 ms, was 44.7 ms (1.90 x); saved 14.2 s, spent 50.9 s
 *	step 42.0 ms with sockets-many, without not measured
 *	so far: step 44.7 ms; nothing saved yet: still exploring
 *	cut short: saved 14.2 s
 *	nothing saved: NCCL's choice is best
 *	step 62.7 ms; nothing saved: NCCL's is best in 44 % compared
 *	nothing saved: not tuned (nopmix)
 *	calibrated for 18.5 s
 *	stalled: others wait for rank 3 on n1 (AllReduce 64M, call 1204)
 *
 * The step's time is that of the program that took longest, in the newest of the steps, with a
 * launch profile if one was used; "was": with NCCL's own settings, as these steps took, or else as
 * is remembered. Saved and spent times are sums over all steps. "so far": a step was running; "cut
 * short": the processes of the last one did not record their end. Pieces that do not fit are left
 * out.
 *
 * A step's sentence stands in its record, and in front of the job's, for people who read sacct's
 * own columns; that of all steps is a report's first line.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Units:    in the names; of times, 0 is not known.
 */
#ifndef NT_SAYS_H
#define NT_SAYS_H

#include <stdbool.h>
#include "record/row-time.h"
#include "record/job-summary.h"

#define NT_SAYS_NAME 48
#define NT_SAYS_PROGRAMS 8 /* of a job; others are compared with memories alone */

struct nt_says_gain {
	/* Of the program that took longest, in its newest step, with a launch profile if one was
	 * used; and without. */
	double step_us, without_us, speed;
	bool by_job; /* the steps say so, not memories */
	char profile[NT_SAYS_NAME]; /* of that step; "": none */
	char program[NT_SAYS_NAME]; /* that took longest, and its place */
	double ranks, nodes;
	double launch_ms, calls_ms; /* saved */
	double exploring_ms, calibration_ms; /* spent */
	double net_ms;
};

/* What the summary's steps gained, from this one on. out: "" if nothing is known. */
struct nt_says_gain nt_says(const struct nt_summary *summary, size_t first, char out[NT_SAYS_MAX]);

/* Microseconds of one rank in the row's calls; 0: not known, or they are no part of the program's
 * own steps, as far as they were timed. */
double nt_says_row_us(const struct nt_step *step, const struct nt_key *row, enum nt_which which);

/* Does it measure for others, and run no program of the user's? */
bool nt_step_is_calibration(const struct nt_step *step);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - what a job gained: its figures, and the sentence that has them
 *
 *	step 23.5 ms, was 44.7 ms (1.90 x); saved 14.2 s, spent 50.9 s
 *	step 42.0 ms with sockets-many, without not measured
 *	so far: step 44.7 ms; nothing saved yet: still exploring
 *	cut short: saved 14.2 s
 *	nothing saved: NCCL's choice is best
 *	step 62.7 ms; nothing saved: NCCL's is best in 44 % compared
 *	nothing saved: not tuned (nopmix)
 *	calibrated for 18.5 s
 *	step 62.7 ms; set-up: ports (n17)
 *	stalled: others wait for rank 3 on n1 (AllReduce 64M, call 1204)
 *
 * The step's time is that of the program that took longest, in the newest step of the job, with a
 * launch profile if one was used; "was": with NCCL's own settings, as steps of this job took, or
 * else as is remembered. Saved and spent times are sums over all steps.
 * "so far": a step was running; "cut short": the processes of the last one did not record their
 * end. "set-up": the worst finding, and where; for it the last pieces give way. Other pieces that do
 * not fit are left out.
 *
 * It stands in AdminComment, for people who read sacct's own columns, and is a report's first line:
 * there nt_says_add() takes the figures from text, here nt_says_take() from a summary. A report has
 * its findings behind that line.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   none; what cannot be read does not count.
 * Units:    in the names; of times, 0 is not known.
 */
#ifndef NT_SAYS_H
#define NT_SAYS_H

#include <stdbool.h>
#include "contract/finding.h"
#include "lib/json-scanner.h"

#define NT_SAYS_MAX 71 /* with its NUL */
#define NT_SAYS_NAME 48
#define NT_SAYS_PROGRAMS 8 /* of a job; others are compared with memories alone */

/* Why nothing was saved, in increasing order of importance where times are not known. */
enum nt_says_why {
	NT_SAYS_NONE,
	NT_SAYS_SEEN,
	NT_SAYS_LITTLE,
	NT_SAYS_COMM,
	NT_SAYS_OPEN,
	NT_SAYS_USED,
	NT_SAYS_BEST,
	NT_SAYS_WHYS
};

/* A collective of a size in a step. */
struct nt_says_key {
	double calls, comms; /* calls of all its communicators */
	double own_us, us, predicted_us; /* of a call: its own, to the next, NCCL's prediction */
	int reason; /* enum nt_reason_id */
};

struct nt_says_step {
	char program[NT_SAYS_NAME], launch[NT_SAYS_NAME];
	double ranks, nodes;
	double step_us, steps, speed; /* speed: with the profile, by memories */
	double saved_ms, spent_ms, estimated_ms, calibration_s;
	bool saves, observed, early, cut;
	struct nt_finding worst; /* text "": none */
	char late[40], call[40]; /* whom it waits for, in which call; "": nobody */
	double why_us[NT_SAYS_WHYS]; /* time of calls, by reason */
	bool why[NT_SAYS_WHYS]; /* it has calls, or communicators, with the reason */
	int reason[NT_SAYS_WHYS];
};

/* A program's own steps, at one place. */
struct nt_says_program {
	char name[NT_SAYS_NAME];
	double ranks, nodes;
	double own_us, own_steps; /* with NCCL's own settings: all together, their number */
	double used_us, used_steps; /* with launch profiles */
	double remembered_us; /* saved, by memories */
	double all_us, now_us; /* of all steps; one's own in the newest step of the job */
	bool used; /* a profile; then, in the newest such step: */
	double profile_us, speed;
	char profile[NT_SAYS_NAME];
};

struct nt_says {
	bool any; /* a step */
	bool observed, saves; /* a step was only measured; another saved something */
	bool runs, cut; /* a step runs; the last one did not record its end */
	double saved_ms, spent_ms, estimated_ms, calibration_ms;
	struct nt_says_program program[NT_SAYS_PROGRAMS];
	unsigned programs;
	struct nt_finding worst; /* of all steps */
	struct nt_says_step newest; /* the last one that tells of calls */
};

/* What follows from them. */
struct nt_says_gain {
	/* Of the program that took longest, in its newest step, with a launch profile if one was
	 * used; and without. */
	double step_us, without_us, speed;
	bool by_job; /* steps of this job say so, not memories */
	char profile[NT_SAYS_NAME]; /* of that step; "": none */
	char program[NT_SAYS_NAME]; /* that took longest, and its place */
	double ranks, nodes;
	double launch_ms, calls_ms; /* saved */
	double exploring_ms, calibration_ms; /* spent */
	double net_ms;
};

/* Microseconds of one rank in the key's calls; 0: not known, or they are no part of the program's
 * own steps, as far as they were timed. steps: their number, 0 unknown. */
double nt_says_key_us(const struct nt_says_key *key, double steps);

/* Adds a key, and the reason of a communicator. */
void nt_says_key_add(struct nt_says_step *step, const struct nt_says_key *key);
void nt_says_why_add(struct nt_says_step *step, int reason);
/* The arguments of NT_REASON_BEHIND. */
void nt_says_behind(struct nt_says_step *step, const char *from, const char *end);

/* Does it measure for others, and run no program of the user's? */
bool nt_says_is_calibration(const char *program);

/* Adds a step, in their order. */
void nt_says_take(struct nt_says *says, const struct nt_says_step *step);
/* From its record, perhaps reduced. */
void nt_says_add(struct nt_says *says, struct nt_text step);

struct nt_says_gain nt_says_gain(const struct nt_says *says);

/* "" if nothing is known. Returns out. */
const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX]);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - a job's record in one sentence, for people who read AdminComment in sacct's own columns
 *
 *	step 23.5 ms, was 44.7 ms (1.90 x); saved 0.8 s
 *	so far: step 44.7 ms; nothing saved yet: still exploring
 *	cut short: saved 14.2 s
 *	nothing saved: NCCL's choice is best
 *	nothing saved: not tuned (nopmix)
 *	stalled: others wait for rank 3 on n1 (AllReduce 64M, call 1204)
 *
 * The step's time is that of the last step that was measured; saved and spent times are sums over
 * all steps, without the launch profile's part. "so far": a step was running; "cut short": the
 * processes of the last one did not record their end. Pieces that do not fit are left out.
 * Calibrations do not count.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   none; what cannot be read does not count.
 */
#ifndef NT_SAYS_H
#define NT_SAYS_H

#include <stdbool.h>
#include "lib/json-scanner.h"

#define NT_SAYS_MAX 71 /* with its NUL */

struct nt_says {
	bool any; /* a step */
	bool observed, saves; /* a step was only measured; another saved something */
	bool runs, cut; /* a step runs; the last one did not record its end */
	double step_us, speed; /* 0: not known */
	double saved_ms, spent_ms, estimated_ms;
	char late[40], call[40]; /* whom the last step waits for, in which call; "": nobody */
	int why, reason; /* the most important reason for NCCL's choice */
};

/* Adds a step's record, perhaps reduced. */
void nt_says_add(struct nt_says *says, struct nt_text step);

/* "" if nothing is known. Returns out. */
const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX]);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - a job's record in one sentence, for people who read AdminComment in sacct's own columns
 *
 *	step 23.5 ms, was 44.7 ms (1.90 x); saved 0.8 s
 *
 * It begins the job's record. The step's time is that of the last step that was measured; what was
 * saved is the sum over all steps. Steps of a calibration do not count.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   none; what cannot be read is not counted.
 */
#ifndef NT_SAYS_H
#define NT_SAYS_H

#include <stdbool.h>
#include "lib/json-scanner.h"

#define NT_SAYS_MAX 71 /* with its NUL */

struct nt_says {
	bool observed, saves; /* a step only measured; a step tells what it saved */
	double step_us, speed; /* 0: not known */
	double saved_ms;
};

/* Adds a step's record, whole or thinned. */
void nt_says_add(struct nt_says *says, struct nt_text step);

/* "" where nothing is known. Returns out. */
const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX]);

#endif

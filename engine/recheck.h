/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck.h - is the committed arm still the best?
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_RECHECK_H
#define NT_RECHECK_H

#include "engine/judge.h"

nt_judge nt_recheck;

/* A committed arm's key was explored anew, with result COMMIT or KEEP. Commit another arm,
 * ROLL_BACK, or STAY? */
void nt_recheck_review(const struct nt_evaluation *seen, struct nt_next *next);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck.h - is the arm in force still the one to have?
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_RECHECK_H
#define NT_RECHECK_H

#include "engine/judge.h"

nt_judge nt_recheck;

/* Where an arm is in force and all was explored anew: is what that came to, COMMIT or KEEP, a
 * reason to leave the arm? Then COMMIT another or ROLL_BACK, else STAY. */
void nt_recheck_review(const struct nt_case *seen, struct nt_next *next);

#endif

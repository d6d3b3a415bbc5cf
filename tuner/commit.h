/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - a plan for good becomes a rank's arm: which, why, and what it saves and saved
 *
 * Threads:  decision (tuner/comm.h); others read by nt_key_commits().
 */
#ifndef NT_COMMIT_H
#define NT_COMMIT_H

#include "tuner/key.h"

/* A plan for good is in force, as its schedule says with this arm. Repetitions change nothing. */
void nt_commit(struct nt_own_key *key, const struct nt_plan *plan,
	       const struct nt_schedule *schedule, uint32_t arm);

/* A window over a plan for good is in force. Repetitions change nothing. */
void nt_commit_window(struct nt_own_key *key, const struct nt_plan *plan,
		      const struct nt_schedule *schedule);

#endif

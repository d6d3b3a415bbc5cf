/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - note a committed plan in a rank's key: the arm, the reason, the time saved
 *
 * Threads:  decision (tuner/comm.h); others read with nt_key_commits().
 */
#ifndef NT_COMMIT_H
#define NT_COMMIT_H

#include "tuner/local-key.h"

/* A plan that commits this arm is in force. Idempotent. */
void nt_commit(struct nt_local_key *key, const struct nt_plan *plan,
	       const struct nt_schedule *schedule, uint32_t arm);

/* A window over a committed plan is in force. Idempotent. */
void nt_commit_window(struct nt_local_key *key, const struct nt_plan *plan,
		      const struct nt_schedule *schedule);

#endif

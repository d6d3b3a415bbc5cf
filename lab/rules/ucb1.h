/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ucb1.h - the bandit of Auer, Cesa-Bianchi and Fischer (2002), for comparison
 *
 * Every call uses the arm with the highest upper confidence bound of its mean reward: the time of
 * the fastest call so far divided by that of the call. After NT_UCB1_CALLS for each arm the most
 * used one wins. It does not suit a job: each call depends on the one before, so all ranks would
 * have to agree on every call.
 *
 * Threads:  one thread.
 * Memory:   the heap, while it runs.
 * Errors:   false without memory.
 */
#ifndef NT_LAB_UCB1_H
#define NT_LAB_UCB1_H

#include "lab/replay/drive.h"

#define NT_UCB1_CALLS 40

bool nt_ucb1_run(const struct nt_drive_key *key, struct nt_driven *out);

#endif

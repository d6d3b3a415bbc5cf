/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ucb1.h - the bandit of Auer, Cesa-Bianchi and Fischer (2002), to compare with
 *
 * Every call goes to the arm with the highest upper confidence bound of its mean reward, which
 * is the share that the fastest call so far has of a call's time. After NT_UCB1_CALLS for each
 * arm the one most used wins. It does not fit a job: calls that depend on the one before would
 * each have to be agreed on by all ranks.
 *
 * Threads:  one thread.
 * Memory:   the heap, while it runs.
 * Errors:   false without memory.
 */
#ifndef NT_REPLAY_UCB1_H
#define NT_REPLAY_UCB1_H

#include "replay/drive.h"

#define NT_UCB1_CALLS 40

bool nt_ucb1_run(const struct nt_drive_key *key, struct nt_driven *out);

#endif

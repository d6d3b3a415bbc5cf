/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-rank.h - findings on single ranks and nodes: cpus, shm, gpus, limits
 *
 * seen is sorted by node.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_FINDINGS_RANK_H
#define NT_FINDINGS_RANK_H

#include <stdbool.h>
#include "record/findings-list.h"

/* seen: all processes of the step. */
void nt_findings_judge_cpus(struct nt_findings *findings, const struct nt_facts_seen *seen,
			    size_t count);
/* seen: those of the largest communicator, here and in the other rules. */
void nt_findings_judge_ranks(struct nt_findings *findings, const struct nt_facts_seen *seen,
			     size_t count, int64_t nodes, bool small_shm);

#endif

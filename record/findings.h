/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - what is wrong with a step's set-up, from the facts of its processes
 *
 * Judged are the processes of the step's largest communicator, since others may be started
 * differently for a reason; only the processors of a node are shared by all. A step of one rank has
 * no findings. What is only unusual is none: each rule says what else must hold.
 *
 * Nodes are compared where most are known, and what all nodes have where all are: processes may
 * have told nothing, since they were killed or their records are full.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's; nt_findings_judge sorts seen.
 */
#ifndef NT_FINDINGS_H
#define NT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/findings-list.h"

/* small_shm: NCCL's GPU times had no room in /dev/shm. nodes: of the step; fewer nodes' processes
 * may be there. slower: what the user's memory says, as in a step's record; "": nothing. */
void nt_findings_judge(struct nt_findings *findings, struct nt_facts_seen *seen, size_t count,
		       int64_t nodes, bool small_shm, const char *slower);

#endif

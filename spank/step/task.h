/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - the environment of a step's tasks, in slurmstepd
 *
 * Threads:  the hooks of one process, one at a time.
 * Memory:   the caller's.
 * Errors:   logged to slurmd's log here; the task runs without the variable.
 */
#ifndef NT_TASK_H
#define NT_TASK_H

#include <stdbool.h>
#include <slurm/spank.h>
#include "contract/policy.h"
#include "spank/step/env.h"

struct nt_task_env nt_task_env(spank_t spank);

/* NCCL's plugin variables and the policy. tuned becomes false if the policy cannot be set; place's
 * flags are set. */
void nt_task_tune(spank_t spank, const char *plugin, const struct nt_policy *policy,
		  struct nt_node_step *node_step, bool *tuned);

#endif

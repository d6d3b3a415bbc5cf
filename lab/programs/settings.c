/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include "contract/policy.h"

static void set_number(const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

int nt_settings_apply(const char *policy, const char *shm, const char *library,
		      const struct nt_task_place *task, struct nt_error *err)
{
	struct nt_node_step place = { .fingerprint = 1, .job = 1 };
	struct nt_policy values;
	char text[4096];

	nt_policy_default(&values);
	if (nt_policy_parse_option(&values, policy, err) < 0)
		return -1;
	snprintf(place.shm, sizeof(place.shm), "%s", shm);
	snprintf(place.node, sizeof(place.node), "n%u", task->node);
	if (nt_policy_format_task(&values, &place, text, sizeof(text), err) < 0)
		return -1;
	setenv(NT_ENV_POLICY, text, 1);
	setenv("NCCL_TUNER_PLUGIN", library, 1);
	setenv("NCCL_PROFILER_PLUGIN", library, 1);
	set_number("SLURM_PROCID", task->task);
	set_number("PMIX_RANK", task->task);
	set_number("SLURM_LOCALID", task->local);
	set_number("SLURM_STEP_NUM_TASKS", task->tasks);
	set_number("SLURM_STEP_NUM_NODES", task->nodes);
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/jobstate.h"

#include <slurm/slurm.h>
#include <string.h>

static const struct {
	const char *name, *words;
} states[JOB_END] = {
	[JOB_PENDING] = { "PENDING", "waiting to start" },
	[JOB_RUNNING] = { "RUNNING", "running" },
	[JOB_SUSPENDED] = { "SUSPENDED", "suspended" },
	[JOB_COMPLETE] = { "COMPLETED", "completed" },
	[JOB_CANCELLED] = { "CANCELLED", "cancelled" },
	[JOB_FAILED] = { "FAILED", "failed" },
	[JOB_TIMEOUT] = { "TIMEOUT", "ended by its time limit" },
	[JOB_NODE_FAIL] = { "NODE_FAIL", "ended with a node" },
	[JOB_PREEMPTED] = { "PREEMPTED", "preempted" },
	[JOB_BOOT_FAIL] = { "BOOT_FAIL", "failed to boot" },
	[JOB_DEADLINE] = { "DEADLINE", "ended by its deadline" },
	[JOB_OOM] = { "OUT_OF_MEMORY", "out of memory" },
};

const char *nt_job_state(uint32_t state)
{
	state &= JOB_STATE_BASE;
	return state < JOB_END ? states[state].words : NULL;
}

const char *nt_job_state_named(struct nt_text name)
{
	const char *space = memchr(name.at, ' ', name.bytes);
	const size_t bytes = space ? (size_t)(space - name.at) : name.bytes;

	for (size_t i = 0; i < JOB_END; i++) {
		if (states[i].name && strlen(states[i].name) == bytes &&
		    memcmp(states[i].name, name.at, bytes) == 0)
			return states[i].words;
	}
	return NULL;
}

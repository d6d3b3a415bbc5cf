/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - the state of spank_nccl_tune.so in the process that loaded it
 *
 * Threads:  the one that calls the hooks.
 * Memory:   one static object in plugin.c; client.c and stepd.c get a pointer to it.
 */
#ifndef NT_SPANK_CONTEXT_H
#define NT_SPANK_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include "contract/policy.h"
#include "site/conf.h"
#include "spank/arguments.h"
#include "spank/option.h"
#include "spank/step/profile-env.h"
#include "spank/step/task.h"

/* srun and slurmstepd define it, other programs do not. */
extern slurm_conf_t slurm_conf __attribute__((weak));

struct nt_plugin {
	struct nt_conf conf; /* nccl-tune.conf */
	struct nt_error site_error;
	bool site_ok;
	enum nt_precedence rank; /* of the next callback's value */
	const char *variable; /* the environment variable that was used for the option */
	struct nt_asked asked; /* for this step */
	bool refused;
	char text[NT_POLICY_MAX]; /* the option's value */

	/* slurmstepd */
	struct nt_applied applied; /* the step's launch profile */
	enum nt_ended ended; /* how its tasks ended so far */
	bool tuned; /* the step's tasks load the plugin unless their users prevent it */
	struct nt_policy policy;
	struct nt_node_step node_step;
	int shm_fd; /* the node's; -1: none */
	uid_t uid; /* the step's user */
	gid_t gid;
	bool helper_tried;
	bool helped; /* nt-recordd was started */
	int socket; /* to it; -1: none, or none any more */
	uint32_t tasks_ended;
};

#endif

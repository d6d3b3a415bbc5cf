/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile-env.h - a launch profile's variables in the environment of a step's tasks
 *
 * srun's ticket names the variables. It comes from the user's environment; a malformed ticket sets
 * nothing. A variable that the task already has is not changed, nor are those that NCCL reads
 * together with it. A variable that a profile has set for the step around this one is not the
 * user's, and is removed if this step has another profile. All nodes of a step have the same
 * environment, so all get the same result: NCCL must not start with different settings on one of
 * them. Therefore a node that gets a valid ticket sets the profile even if the step cannot be tuned
 * there.
 *
 * Threads:  one at a time.
 * Memory:   values.
 * Errors:   none; trouble says what was refused, without text of the user.
 * Host:     slurmstepd, as root: nothing of the user's is opened.
 */
#ifndef NT_APPLY_H
#define NT_APPLY_H

#include <stdbool.h>
#include "lib/error.h"
#include "launch/measure/request.h"
#include "launch/ticket.h"
#include "spank/step/env.h"

struct nt_applied {
	bool valid; /* the step has a ticket */
	struct nt_ticket ticket; /* settings: what was set; left: with what was left here */
	char text[NT_TICKET_MAX]; /* the same for nt-recordd; "-": none */
	char calibrate[NT_CAL_REQUEST_MAX]; /* what tasks measure first, not checked; "": nothing */
	struct nt_error trouble; /* "": none */
};

/* profile: whether this step's tasks may have one (a batch script's may not). site_file: NCCL's
 * configuration of this node, writable by root only, whose variables are not changed. */
void nt_profile_env_apply(const struct nt_task_env *env, bool profile, const char *site_file,
			  struct nt_applied *out);

/* In a task: the same with a profile that the step's tasks have measured and agreed upon. */
void nt_profile_env_apply_measured(const struct nt_task_env *env,
				   const struct nt_cal_profile *profile, const char *site_file);

#endif

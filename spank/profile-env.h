/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile-env.h - a launch profile's variables in the environment of a step's tasks
 *
 * srun's ticket says which; it comes out of the user's environment, and what is malformed sets
 * nothing. A variable that the task has is left alone, and so is what NCCL reads together with it;
 * but what a profile has set for the step around this one is not the user's, and goes if this step
 * has another. All nodes of a step have the same environment, and so come to the same: NCCL must
 * not start with other settings on one of them. This is therefore done on every node where a
 * valid ticket arrives, also where the step cannot be tuned.
 *
 * Threads:  one at a time.
 * Memory:   values.
 * Errors:   none; trouble says what was refused, without any text of the user's.
 * Host:     slurmstepd, as root: nothing of the user's is opened.
 */
#ifndef NT_APPLY_H
#define NT_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "contract/names.h"
#include "profiles/ticket.h"

/* The environment of the tasks. */
struct nt_task_env {
	/* 0: out holds the value; 1: there is one that does not fit; -1: it is not set. */
	int (*get)(void *context, const char *name, char *out, size_t out_bytes);
	void (*set)(void *context, const char *name, const char *value);
	void (*unset)(void *context, const char *name);
	void *context;
};

#define NT_ENV_LONG "(long)" /* stands for a value that there is no room for */
/* The value, in out; NT_ENV_LONG where it does not fit; NULL: it is not set. */
const char *nt_task_env_get(const struct nt_task_env *env, const char *name, char *out,
			    size_t out_bytes);

struct nt_applied {
	bool valid; /* the step has a ticket */
	struct nt_ticket ticket; /* settings: what was set; left: with what was left here */
	char text[NT_TICKET_MAX]; /* the same for nt-recordd; "-": none */
	struct nt_error trouble; /* "": none */
};

/* profile: whether this step's tasks may have one (not a batch script's). site_file: NCCL's
 * configuration of this node, whose variables are left alone; root's alone to write. */
void nt_apply(const struct nt_task_env *env, bool profile, const char *site_file,
	      struct nt_applied *out);

#endif

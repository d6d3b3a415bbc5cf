/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - what a user or a site asks for, as one value that crosses from srun into every rank
 *
 * Two text forms. The option form is what people type: MODE[,key=value]... with defaults left out.
 * The task form is NCCL_TUNE_POLICY: key=value[,key=value]..., every setting, then the place of
 * this node. Both parse strictly: an unknown key, a repeated key, or a value out of range is an
 * error that names it.
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types; nothing is allocated.
 * Errors:   -1 and *err set; the output is then unspecified.
 */
#ifndef NT_POLICY_H
#define NT_POLICY_H

#include <stdint.h>
#include <stdio.h>
#include "contract/error.h"
#include "contract/names.h"
#include "contract/setting.h"

/* Where a task runs; set by the SPANK plugin, never by a user, no part of the policy's hash. */
struct nt_place {
	char dir[NT_PATH_MAX]; /* the step's runtime directory on this node */
	char node[64]; /* Slurm's name of the node */
	uint64_t fingerprint; /* of the node's hardware; 0 where it is unknown */
	uint32_t job, step; /* Slurm's ids */
	uint32_t flags; /* NT_PLACE_* */
};

#define NT_PLACE_NO_TUNER 1u /* the user's own NCCL_TUNER_PLUGIN was left alone */
#define NT_PLACE_NO_PROFILER 2u /* the user's own NCCL_PROFILER_PLUGIN was left alone */
#define NT_PLACE_USER_ALGO 4u /* the user's own NCCL_ALGO is in force */
#define NT_PLACE_USER_PROTO 8u /* the user's own NCCL_PROTO is in force */

void nt_policy_default(struct nt_policy *policy);

/* Option form over what *policy holds, so that a site's default can be given first: settings not
 * named keep their values. "" is an error. */
int nt_policy_parse_option(struct nt_policy *policy, const char *text, struct nt_error *err);
/* The same; *given gets a bit for the number of each setting that is named. */
int nt_policy_parse_given(struct nt_policy *policy, uint64_t *given, const char *text,
			  struct nt_error *err);
/* The option form of policy: mode, then every setting that differs from the default. */
/* The same without a mode in front: key=value[,key=value]...; *given is added to. */
int nt_policy_parse_pairs(struct nt_policy *policy, uint64_t *given, const char *text,
			  struct nt_error *err);
/* Of the settings with a bit in given; "" if there is none. */
int nt_policy_format_pairs(const struct nt_policy *policy, uint64_t given, char *out,
			   size_t out_bytes, struct nt_error *err);
int nt_policy_format_option(const struct nt_policy *policy, char *out, size_t out_bytes,
			    struct nt_error *err);

/* Task form. place->dir and place->node must hold no comma. */
int nt_policy_format_task(const struct nt_policy *policy, const struct nt_place *place, char *out,
			  size_t out_bytes, struct nt_error *err);
int nt_policy_parse_task(struct nt_policy *policy, struct nt_place *place, const char *text,
			 struct nt_error *err);

/* Equal on two nodes exactly when every setting is equal (FNV-1a of the option form). */
uint32_t nt_policy_hash(const struct nt_policy *policy);

/* Whether arms may be tried or committed at all: bandit, policy or profile. */
static inline int nt_mode_chooses(int64_t mode)
{
	return mode >= NT_MODE_BANDIT;
}

/* Legal pairs that are not to be tried: bits by pair (contract/key.h). */
uint32_t nt_policy_forbidden(const struct nt_policy *policy);

#endif

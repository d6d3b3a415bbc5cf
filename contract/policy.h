/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - the settings of a step, passed from srun to every rank
 *
 * Users type the option form: MODE[,key=value]..., without defaults. The task form,
 * NCCL_TUNE_POLICY, is key=value[,key=value]... with every setting, the node and the step. Unknown
 * keys, repeated keys and values out of range are errors.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   -1 and *err; the output is then unspecified.
 */
#ifndef NT_POLICY_H
#define NT_POLICY_H

#include <stdint.h>
#include <stdio.h>
#include "lib/error.h"
#include "contract/names.h"
#include "contract/setting.h"

/* A step on a node. From the SPANK plugin; not part of the hash. */
struct nt_node_step {
	char shm[NT_PATH_MAX]; /* the path of the node's memory; "": it has none */
	char node[64]; /* Slurm's name of the node */
	uint64_t fingerprint; /* of the node's hardware; 0 where it is unknown */
	uint32_t job, step; /* Slurm's ids */
	uint32_t flags; /* NT_FLAG_* */
};

#define NT_FLAG_NO_TUNER 1u /* the user's NCCL_TUNER_PLUGIN was kept */
#define NT_FLAG_NO_PROFILER 2u /* the user's NCCL_PROFILER_PLUGIN was kept */
#define NT_FLAG_USER_ALGO 4u /* the user's NCCL_ALGO is in force */
#define NT_FLAG_USER_PROTO 8u /* the user's NCCL_PROTO is in force */
/* In a rank's record only: LL128 was legal and not tried. */
#define NT_FLAG_LL128_NET 16u
#define NT_FLAG_LL128_C2C 32u
/* In a process only: the variable named another plugin when NCCL read it. */
#define NT_FLAG_OTHER_TUNER 64u
#define NT_FLAG_OTHER_PROFILER 128u

void nt_policy_default(struct nt_policy *policy);

/* Parses the option form on top of *policy: settings that are not named keep their values. "" is an
 * error. */
int nt_policy_parse_option(struct nt_policy *policy, const char *text, struct nt_error *err);
/* The same; sets *given to a bit for each setting that is named. */
int nt_policy_parse_given(struct nt_policy *policy, uint64_t *given, const char *text,
			  struct nt_error *err);
/* The mode, then settings that differ from the default. -1: no room. */
int nt_policy_format_option(const struct nt_policy *policy, char *out, size_t out_bytes);

#define NT_POLICY_SHM "shm" /* its key, the last one, which the task's process adds */

/* node_step->shm and node_step->node must not contain commas. */
int nt_policy_format_task(const struct nt_policy *policy, const struct nt_node_step *node_step,
			  char *out, size_t out_bytes, struct nt_error *err);
int nt_policy_parse_task(struct nt_policy *policy, struct nt_node_step *node_step, const char *text,
			 struct nt_error *err);

/* Equal if and only if all settings are (FNV-1a of the option form). */
uint32_t nt_policy_hash(const struct nt_policy *policy);

/* Can arms be tried or committed? */
static inline int nt_mode_chooses(int64_t mode)
{
	return mode >= NT_MODE_BANDIT;
}

/* Pairs that must not be tried: bits by pair. */
uint32_t nt_policy_forbidden(const struct nt_policy *policy);

#endif

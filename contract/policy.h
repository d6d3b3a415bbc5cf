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
 * Units:    in the names; decimals are held in millionths. What is in seconds may be written with
 *           an s at its end.
 */
#ifndef NT_POLICY_H
#define NT_POLICY_H

#include <stdint.h>
#include <stdio.h>
#include "contract/error.h"
#include "contract/names.h"

enum nt_mode {
	NT_MODE_OFF = 0,
	NT_MODE_OBSERVE = 1,
	NT_MODE_BANDIT = 2,
	NT_MODE_POLICY = 3,
	NT_MODE_PROFILE = 4,
};
enum nt_switch { NT_SWITCH_OFF = 0, NT_SWITCH_ON = 1 };
enum nt_graphs { NT_GRAPHS_MAY = 0, NT_GRAPHS_NEVER = 1 };
enum nt_rewards { NT_REWARD_CALL = 0, NT_REWARD_PERIOD = 1 }; /* engine/times.h */
/* engine/rule.h */
enum nt_rules {
	NT_RULE_OWN = 0,
	NT_RULE_PAPER_ONLINE = 1,
	NT_RULE_PAPER_OFFLINE = 2,
	NT_RULE_RACE = 3,
};

/* key, member, kind, min, max, default, unit, what it means. NT_ENUM lists its words in
 * policy.c; NT_DEC members are millionths, bounds given in millionths; NT_NAME members are texts,
 * "off" by default. */
/* clang-format off */
#define NT_SETTINGS(X) \
	X(mode, mode, NT_ENUM, 0, NT_MODE_PROFILE, 0, "", \
	  "off, observe (measure only), bandit (measure and choose), policy (what is remembered, without trying) or profile (measure everything)") \
	X(min_gain, min_gain_micro, NT_DEC, 0, 90000000, 3000000, "percent", \
	  "smallest gain worth an override") \
	X(alpha, alpha_micro, NT_DEC, 1, 500000, 10000, "", \
	  "largest p value, after correction, that counts as evidence") \
	X(screen_blocks, screen_blocks, NT_INT, 2, 64, 8, "blocks", \
	  "measurements of every arm in the first round") \
	X(confirm_blocks, confirm_blocks, NT_INT, 8, 128, 24, "blocks", \
	  "measurements of the best arms and of AUTO in the second round") \
	X(channels, channels, NT_ENUM, 0, 1, 0, "", \
	  "off, or on: the best choices are tried with fewer and with more channels, too") \
	X(chunks, chunks, NT_ENUM, 0, 1, 0, "", \
	  "off, or on: and with smaller chunks, which NCCL 2.30.3 or newer allows") \
	X(min_calls, min_calls, NT_INT, 1, 1000000, 24, "calls", \
	  "calls of a collective and size before it is explored") \
	X(min_share, min_share_micro, NT_DEC, 0, 100000000, 1000000, "percent", \
	  "of the communication time that a collective and size must take to be explored") \
	X(budget, budget_micro, NT_DEC, 0, 100000000, 0, "percent", \
	  "of a key's calls, and of their time, that exploring may cost; 0: no such limit") \
	X(max_calls, max_calls, NT_INT, 0, 1000000, 1000, "calls", \
	  "of one key that exploring may take; 0: no such limit") \
	X(max_extra, max_extra_ms, NT_INT, 0, 100000000, 60000, "milliseconds", \
	  "beyond AUTO that exploring one key may cost; 0: no such limit") \
	X(recheck, recheck_s, NT_INT, 0, 100000, 60, "seconds", \
	  "from the first decision to the first look at whether it still holds; 0: never") \
	X(join_timeout, join_timeout_s, NT_INT, 1, 3600, 60, "seconds", \
	  "how long the ranks of a communicator may take to be seen") \
	X(agree_timeout, agree_timeout_s, NT_INT, 1, 3600, 120, "seconds", \
	  "how long a rank in doubt waits for a node that is gone") \
	X(graphs, graphs, NT_ENUM, 0, 1, 0, "", \
	  "may, or never: the promise that lets NCCL 2.27 be tuned (no CUDA graphs)") \
	X(reward, reward, NT_ENUM, 0, 1, 0, "", \
	  "what is compared: call, the time to the next collective, or period, to the next one of the same kind and size") \
	X(rule, rule, NT_ENUM, 0, NT_RULE_RACE, 0, "", \
	  "what decides: nccl-tune; race, with evidence that counts at any time; or to compare with them paper-online or paper-offline") \
	X(launch, launch, NT_NAME, 0, 0, 0, "", \
	  "NCCL's settings at its start: off, auto (as is remembered) or the name of a launch profile") \
	X(calibrate, calibrate_s, NT_INT, 0, 3600, 0, "seconds", \
	  "to measure launch profiles before the step, where nothing is known; 0: never")
/* clang-format on */

#define NT_MEMBER_NT_INT(member) int64_t member;
#define NT_MEMBER_NT_DEC(member) int64_t member;
#define NT_MEMBER_NT_ENUM(member) int64_t member;
#define NT_MEMBER_NT_NAME(member) char member[NT_LAUNCH_NAME];

struct nt_policy {
#define NT_SETTING_MEMBER(key, member, kind, ...) NT_MEMBER_##kind(member)
	NT_SETTINGS(NT_SETTING_MEMBER)
#undef NT_SETTING_MEMBER
};

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
/* The option form of policy: mode, then every setting that differs from the default. */
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

const char *nt_mode_name(int64_t mode);
const char *nt_policy_rule_name(int64_t rule);

#endif

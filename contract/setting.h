/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* setting.h - the table of settings: what there is to say, and each value as a text
 *
 * Everything that reads or prints settings goes by this table and by a setting's number, its place
 * in it; number 0 is the mode.
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types; nothing is allocated.
 * Errors:   -1 and *err names the value and what is accepted.
 * Units:    in the names; decimals are held in millionths. What is in seconds may be written with
 *           an s at its end.
 */
#ifndef NT_SETTING_H
#define NT_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"
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
 * setting.c; NT_DEC members are millionths, bounds given in millionths; NT_NAME members are texts,
 * "off" by default; NT_SET members have a bit for each name of contract/coll.h. */
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
	  "to measure launch profiles before the step, where nothing is known; 0: never") \
	X(algorithms, algorithms, NT_SET, 1, (1 << NT_ALGOS) - 1, (1 << NT_ALGOS) - 1, "", \
	  "that may be tried: all, or some joined by +") \
	X(protocols, protocols, NT_SET, 1, (1 << NT_PROTOS) - 1, (1 << NT_PROTOS) - 1, "", \
	  "that may be tried: all, or some joined by +") \
	X(topology, topology, NT_ENUM, 0, 1, 0, "", \
	  "off, or on: NCCL's rings, trees, channels and links of each node go into the record")
/* clang-format on */

#define NT_MEMBER_NT_INT(member) int64_t member;
#define NT_MEMBER_NT_DEC(member) int64_t member;
#define NT_MEMBER_NT_ENUM(member) int64_t member;
#define NT_MEMBER_NT_SET(member) int64_t member;
#define NT_MEMBER_NT_NAME(member) char member[NT_LAUNCH_NAME];

struct nt_policy {
#define NT_SETTING_MEMBER(key, member, kind, ...) NT_MEMBER_##kind(member)
	NT_SETTINGS(NT_SETTING_MEMBER)
#undef NT_SETTING_MEMBER
};

#define NT_SETTING_ONE(...) +1
#define NT_SETTING_COUNT (0 NT_SETTINGS(NT_SETTING_ONE))
#define NT_SETTING_DOMAIN 120 /* room for what a setting accepts, in words */
#define NT_SETTING_TEXT 64 /* room for a value */

/* What number i is called, measured in and for; "" where it has no unit. */
const char *nt_setting_key(unsigned i);
const char *nt_setting_unit(unsigned i);
const char *nt_setting_doc(unsigned i);
int nt_setting_find(const char *key, size_t key_bytes); /* its number, or -1 */
/* "may or never", "0 to 90 percent" */
const char *nt_setting_domain(unsigned i, char out[NT_SETTING_DOMAIN]);

void nt_setting_default(struct nt_policy *policy, unsigned i);
int nt_setting_parse(struct nt_policy *policy, unsigned i, const char *text, struct nt_error *err);
/* Whether it is the default's. */
bool nt_setting_format(const struct nt_policy *policy, unsigned i, char out[NT_SETTING_TEXT]);
void nt_setting_copy(struct nt_policy *to, const struct nt_policy *from, unsigned i);
bool nt_setting_same(const struct nt_policy *a, const struct nt_policy *b, unsigned i);
/* Of those that are no names. */
int64_t nt_setting_number(const struct nt_policy *policy, unsigned i);
void nt_setting_put(struct nt_policy *policy, unsigned i, int64_t value);

/* Says of item, "key" or "key=value", that there is no such setting, and what may have been
 * meant. */
int nt_setting_unknown(const char *item, struct nt_error *err);

const char *nt_mode_name(int64_t mode);
int nt_mode_parse(const char *name, size_t bytes); /* -1 where there is none */
const char *nt_policy_rule_name(int64_t rule);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* setting.h - the table of settings, and their values as text
 *
 * A setting is addressed by its position in the table. Number 0 is the mode.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   -1; *err names the value and what is accepted.
 * Units:    in the names; decimals are in millionths. Seconds may be written with an s.
 */
#ifndef NT_SETTING_H
#define NT_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"
#include "lib/error.h"
#include "contract/names.h"

enum nt_mode {
	NT_MODE_OFF = 0,
	NT_MODE_OBSERVE = 1,
	NT_MODE_BANDIT = 2,
	NT_MODE_POLICY = 3,
	NT_MODE_PROFILE = 4,
};
enum nt_switch { NT_SWITCH_OFF = 0, NT_SWITCH_ON = 1 };
/* In order of what they allow. */
enum nt_ll128 { NT_LL128_OFF = 0, NT_LL128_AUTO = 1, NT_LL128_ON = 2 };
enum nt_graphs { NT_GRAPHS_MAY = 0, NT_GRAPHS_NEVER = 1 };
enum nt_rewards { NT_REWARD_CALL = 0, NT_REWARD_PERIOD = 1 }; /* engine/times.h */

enum { NT_CALIBRATE_AUTO = -1, NT_CALIBRATE_MAX_S = 3600 };

/* key, member, kind, min, max, default, words, unit, meaning. words: for values from min on, of an
 * NT_ENUM all, of an NT_INT some. NT_DEC: in millionths; NT_NAME: strings, "off" by default;
 * NT_SET: a bit for each name in contract/coll.h. To add a setting: a line here, a paragraph in
 * nccl-tune(7), the code that uses it, and a test. `NT_WRITE=1 ./dev test unit/lists` rewrites the
 * shells' completion, from which tests have the defaults. */
/* clang-format off */
#define NT_WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NT_SETTINGS(X) \
	X(mode, mode, NT_ENUM, 0, NT_MODE_PROFILE, 0, NT_WORDS("off", "observe", "bandit", "policy", "profile"), "", \
	  "off, observe (measure only), bandit (measure and choose), policy (use what is remembered, explore nothing) or profile (measure everything)") \
	X(min_gain, min_gain_micro, NT_DEC, 0, 90000000, 3000000, NULL, "percent", \
	  "smallest gain for which NCCL's choice is overridden") \
	X(alpha, alpha_micro, NT_DEC, 1, 500000, 10000, NULL, "", \
	  "largest p value, after correction, that counts as evidence") \
	X(screen_blocks, screen_blocks, NT_INT, 2, 64, 8, NULL, "blocks", \
	  "measurements of every arm in the first round") \
	X(confirm_blocks, confirm_blocks, NT_INT, 8, 128, 24, NULL, "blocks", \
	  "measurements of the best arms and of NCCL's choice in the second round") \
	X(channels, channels, NT_ENUM, 0, 1, 0, NT_WORDS("off", "on"), "", \
	  "on: also try the best choices with fewer and more channels") \
	X(min_calls, min_calls, NT_INT, 1, 1000000, 24, NULL, "calls", \
	  "calls of a collective and size before it is explored") \
	X(min_share, min_share_micro, NT_DEC, 0, 100000000, 1000000, NULL, "percent", \
	  "share of the communication time that a collective and size must take to be explored") \
	X(budget, budget_micro, NT_DEC, 0, 100000000, 0, NULL, "percent", \
	  "share of the calls of a collective and size, and of their time, that exploring may cost; 0: no limit") \
	X(max_calls, max_calls, NT_INT, 0, 1000000, 1000, NULL, "calls", \
	  "calls that exploring one collective and size may take; 0: no limit") \
	X(max_extra, max_extra_ms, NT_INT, 0, 100000000, 60000, NULL, "milliseconds", \
	  "extra time that exploring one collective and size may cost; 0: no limit") \
	X(recheck, recheck_s, NT_INT, 0, 100000, 60, NULL, "seconds", \
	  "time from a decision until it is first rechecked; 0: never") \
	X(join_timeout, join_timeout_s, NT_INT, 1, 3600, 60, NULL, "seconds", \
	  "how long to wait for all ranks of a communicator") \
	X(agree_timeout, agree_timeout_s, NT_INT, 1, 3600, 120, NULL, "seconds", \
	  "how long a rank waits for a node that disappeared while agreeing") \
	X(graphs, graphs, NT_ENUM, 0, 1, 0, NT_WORDS("may", "never"), "", \
	  "never: the program uses no CUDA graphs, so NCCL 2.27 can be tuned") \
	X(reward, reward, NT_ENUM, 0, 1, 0, NT_WORDS("call", "period"), "", \
	  "what is compared: call (time to the next collective) or period (time to the next one of the same kind and size)") \
	X(launch, launch, NT_NAME, 0, 0, 0, NULL, "", \
	  "NCCL's start-up settings: off, auto (chosen from measurements) or the name of a launch profile") \
	X(calibrate, calibrate_s, NT_INT, NT_CALIBRATE_AUTO, NT_CALIBRATE_MAX_S, NT_CALIBRATE_AUTO, NT_WORDS("auto", "off"), "seconds", \
	  "the longest that a step's tasks measure launch profiles before the program: auto (60 s on two nodes), off, or seconds") \
	X(algorithms, algorithms, NT_SET, 1, (1 << NT_ALGOS) - 1, (1 << NT_ALGOS) - 1, NULL, "", \
	  "what may be tried: all, or some joined by +") \
	X(protocols, protocols, NT_SET, 1, (1 << NT_PROTOS) - 1, (1 << NT_PROTOS) - 1, NULL, "", \
	  "what may be tried: all, or some joined by +") \
	X(ll128, ll128, NT_ENUM, 0, NT_LL128_ON, NT_LL128_AUTO, NT_WORDS("off", "auto", "on"), "", \
	  "off: LL128 is never tried; auto: not where it may give wrong results; on: wherever NCCL allows it") \
	X(stall, stall_s, NT_INT, 0, 100000, 60, NULL, "seconds", \
	  "how long ranks wait in a call before the record names the ranks that have not begun it; 0: never") \
	X(on_stall, on_stall, NT_ENUM, 0, 1, 0, NT_WORDS("off", "stacks"), "", \
	  "stacks: record the stacks of the ranks that others wait for, as py-spy or gdb reads them") \
	X(topology, topology, NT_ENUM, 0, 1, 0, NT_WORDS("off", "on"), "", \
	  "on: record NCCL's rings, trees, channels and links of each node")
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
#define NT_SETTING_DOMAIN 120 /* longest description of the accepted values */
#define NT_SETTING_TEXT 64 /* longest value */

/* Of setting i; the unit may be "". */
const char *nt_setting_key(unsigned i);
const char *nt_setting_unit(unsigned i);
const char *nt_setting_doc(unsigned i);
int nt_setting_find(const char *key, size_t key_bytes); /* its number, or -1 */
/* "may or never", "0 to 90 percent" */
const char *nt_setting_domain(unsigned i, char out[NT_SETTING_DOMAIN]);

void nt_setting_default(struct nt_policy *policy, unsigned i);
int nt_setting_parse(struct nt_policy *policy, unsigned i, const char *text, struct nt_error *err);
/* Returns whether the value is the default. */
bool nt_setting_format(const struct nt_policy *policy, unsigned i, char out[NT_SETTING_TEXT]);
void nt_setting_copy(struct nt_policy *to, const struct nt_policy *from, unsigned i);
bool nt_setting_same(const struct nt_policy *a, const struct nt_policy *b, unsigned i);
/* Not for kind NT_NAME. */
int64_t nt_setting_number(const struct nt_policy *policy, unsigned i);
void nt_setting_put(struct nt_policy *policy, unsigned i, int64_t value);

/* Error for an unknown "key" or "key=value", with the closest known key. */
int nt_setting_unknown(const char *item, struct nt_error *err);

/* The time limit of calibrate=auto: 60 for two nodes, 25 % more for each doubling. */
int64_t nt_calibrate_auto_s(uint32_t nodes);

const char *nt_mode_name(int64_t mode);
int nt_mode_parse(const char *name, size_t bytes); /* -1: none */

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* effective-policy.h - a step's settings, from the site's and the user's (site/rules.h)
 *
 * Threads:  one at a time.
 * Memory:   values; the structure points to the site and to the texts it was made from.
 * Errors:   -1 and *err.
 */
#ifndef NT_EFFECTIVE_POLICY_H
#define NT_EFFECTIVE_POLICY_H

#include "spank/option.h"

struct nt_effective_policy {
	const struct nt_conf *conf;
	const char *text; /* the option's value; NULL: none was given */
	enum nt_precedence rank; /* of the text */
	struct nt_policy user; /* the user's file */
	uint64_t user_given;
};

/* The settings of a step in that partition; NULL: unknown. rules: for callers that want details. */
int nt_effective_policy(const struct nt_effective_policy *settle, const char *partition,
			enum nt_unknown unknown, struct nt_site_rules *rules,
			struct nt_step_settings *outcome, struct nt_error *err);

/* The text of the user's file (nt_conf_user_text); invalid settings are ignored. */
void nt_effective_policy_take_user(struct nt_effective_policy *settle, const char *text);
/* The same, and put it into this process's environment for slurmstepd. */
void nt_effective_policy_pass_user(struct nt_effective_policy *settle, const char *text);

#endif

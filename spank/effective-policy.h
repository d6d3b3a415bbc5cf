/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* effective-policy.h - what a step gets, of all that the site and the user say (site/rules.h)
 *
 * Threads:  one at a time.
 * Memory:   values; a settlement points to the site and to the texts that it was made from.
 * Errors:   -1 and *err.
 */
#ifndef NT_EFFECTIVE_POLICY_H
#define NT_EFFECTIVE_POLICY_H

#include "spank/option.h"
#include "spank/where.h"

struct nt_effective_policy {
	const struct nt_site *site;
	const struct nt_conf *conf;
	const char *text; /* the option's value; NULL: none was given */
	enum nt_precedence rank; /* of the text */
	struct nt_policy user; /* the user's file */
	uint64_t user_given;
};

/* What a step there gets. rules is filled in for who wants to know more. */
int nt_effective_policy(const struct nt_effective_policy *settle, const struct nt_step_where *where,
			enum nt_unknown unknown, struct nt_site_rules *rules,
			struct nt_step_settings *outcome, struct nt_error *err);

/* What the user's file says (nt_conf_user_text); what makes no sense counts for nothing. */
void nt_effective_policy_take_user(struct nt_effective_policy *settle, const char *text);
/* The same, left in this process's environment for slurmstepd. */
void nt_effective_policy_pass_user(struct nt_effective_policy *settle, const char *text);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Apply the site's rules to the user's settings. */
#include "spank/effective-policy.h"

#include <stdlib.h>

int nt_effective_policy(const struct nt_effective_policy *settle, const char *partition,
			enum nt_unknown unknown, struct nt_site_rules *rules,
			struct nt_step_settings *outcome, struct nt_error *err)
{
	const struct nt_asked asked = { settle->text, settle->rank, &settle->user,
					settle->user_given };

	nt_rules_make(rules, settle->conf, partition, unknown);
	return nt_rules_apply(rules, &asked, outcome, err);
}

void nt_effective_policy_take_user(struct nt_effective_policy *settle, const char *text)
{
	nt_policy_default(&settle->user);
	settle->user_given = 0;
	if (!text || !text[0] ||
	    nt_policy_parse_pairs(&settle->user, &settle->user_given, text, NULL) < 0)
		settle->user_given = 0;
}

void nt_effective_policy_pass_user(struct nt_effective_policy *settle, const char *text)
{
	nt_effective_policy_take_user(settle, text);
	if (settle->user_given)
		setenv(NT_ENV_USER_FILE, text, 1);
	else if (getenv(NT_ENV_USER_FILE)) /* srun may have copied it: empty means none */
		setenv(NT_ENV_USER_FILE, "", 1);
}

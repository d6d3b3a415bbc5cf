/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The site's rules over the user's wishes. */
#include "spank/settle.h"

#include <stdlib.h>
#include "spank/slurm_compat.h"

static struct nt_asked asked_of(const struct nt_settle *settle)
{
	return (struct nt_asked){
		.text = settle->text,
		.rank = settle->rank,
		.user = settle->user_given ? &settle->user : NULL,
		.user_given = settle->user_given,
	};
}

int nt_settle(const struct nt_settle *settle, const struct nt_step_where *where,
	      enum nt_unknown unknown, struct nt_site_rules *rules, struct nt_outcome *outcome,
	      struct nt_error *err)
{
	const struct nt_site_default plugstack = nt_site_default_of(settle->site);
	const struct nt_asked asked = asked_of(settle);

	nt_rules_make(rules, &plugstack, settle->conf, where, unknown);
	return nt_rules_apply(rules, &asked, outcome, err);
}

int nt_settle_check(const struct nt_settle *settle, struct nt_error *err)
{
	const struct nt_step_where nowhere = { NULL, NULL, NULL };
	const struct nt_asked asked = asked_of(settle);
	struct nt_outcome outcome;
	struct nt_site_rules rules;

	if (nt_settle(settle, &nowhere, NT_UNKNOWN_LOOSE, &rules, &outcome, err) < 0)
		return -1;
	return nt_rules_check_caps(&rules, &asked, err);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* Within a job Slurm sets all three, those that there are. */
struct nt_step_where nt_settle_environment(void)
{
	struct nt_step_where where = {
		.partition = variable("SLURM_JOB_PARTITION"),
		.account = variable("SLURM_JOB_ACCOUNT"),
		.qos = variable("SLURM_JOB_QOS"),
	};

	if (where.partition && !where.account)
		where.account = "";
	if (where.partition && !where.qos)
		where.qos = "";
	if (!NT_SLURM_TELLS_QOS)
		where.qos = NULL; /* as on the nodes */
	return where;
}

int nt_settle_read_user(struct nt_settle *settle, struct nt_error *err)
{
	char path[NT_PATH_MAX], text[NT_POLICY_MAX];
	int rc = nt_conf_read_user(&settle->user, &settle->user_given, path, err);

	if (rc == 0)
		rc = nt_policy_format_pairs(&settle->user, settle->user_given, text, sizeof(text),
					    err);
	if (rc == 0 && settle->user_given) {
		setenv(NT_ENV_USER_FILE, text, 1);
		return 0;
	}
	settle->user_given = 0;
	/* From where it is copied, an empty one counts as none. */
	if (getenv(NT_ENV_USER_FILE))
		setenv(NT_ENV_USER_FILE, "", 1);
	return rc < 0 ? -1 : 0;
}

void nt_settle_take_user(struct nt_settle *settle, const char *text)
{
	nt_policy_default(&settle->user);
	settle->user_given = 0;
	if (!text || !text[0] ||
	    nt_policy_parse_pairs(&settle->user, &settle->user_given, text, NULL) < 0)
		settle->user_given = 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - determine the value of each setting
 *
 * For each setting, the first of these that has a value:
 *
 *     site lock > command line > variable > the job's option > site default > built-in
 *
 * The command line, the variable (SLURM_NCCL_TUNE) and the option of the job around the step are
 * texts MODE[,key=value...]; only the first one that is present is used. The site default is that
 * of the partition's section, or else of [site]; a lock enforces the site default. What a limit of
 * the site does not allow is then refused, or reduced to the limit.
 *
 * Limits come from the same sections in the same order, except "tuning = off", which applies
 * wherever it is. If a step's partition is unknown, the strictest limits of all sections apply, and
 * no partition's defaults.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; rules point into the struct nt_conf that they were made from.
 * Errors:   -1 and *err.
 */
#ifndef NT_RULES_H
#define NT_RULES_H

#include "contract/policy.h"
#include "site/conf.h"

enum nt_precedence {
	NT_RANK_BUILT_IN,
	NT_RANK_FILE, /* nccl-tune.conf */
	NT_RANK_JOB, /* the option of the job around the step */
	NT_RANK_VARIABLE,
	NT_RANK_OPTION, /* the command line */
	NT_RANK_LOCK,
	NT_RANK_LIMIT, /* reduced to it */
};

/* Where a value or a limit is given. */
struct nt_value_source {
	enum nt_precedence rank;
	const struct nt_conf_section *section; /* of NT_RANK_FILE, _LOCK and _LIMIT; NULL: none */
	unsigned line;
};

struct nt_site_rules {
	const struct nt_conf *conf;
	struct nt_policy policy; /* the site default */
	struct nt_value_source source[NT_SETTING_COUNT];
	uint64_t limit[NT_LIMITS];
	struct nt_value_source limit_source[NT_LIMITS]; /* rank BUILT_IN: there is none */
};

/* How sections count if it is unknown which of them the step is in. */
enum nt_unknown {
	NT_UNKNOWN_STRICT, /* the strictest limits: to enforce */
	NT_UNKNOWN_NONE, /* not at all: to show */
};

/* partition: of the step; NULL: unknown. */
void nt_rules_make(struct nt_site_rules *rules, const struct nt_conf *conf, const char *partition,
		   enum nt_unknown unknown);

/* What was asked for; NULL and 0: nothing. */
struct nt_asked {
	const char *text; /* the option's */
	enum nt_precedence rank; /* JOB, VARIABLE or OPTION */
};

#define NT_REMARKS_MAX 8
struct nt_step_settings {
	struct nt_policy policy;
	struct nt_value_source source[NT_SETTING_COUNT];
	bool refused; /* what was asked for is not allowed: nothing is tuned */
	unsigned remarks;
	struct nt_error remark[NT_REMARKS_MAX]; /* differences from what was asked for */
};

/* -1: the text is invalid, or asks for a mode or set of which nothing is allowed; outcome then has
 * mode off. There are remarks on locked settings and on those reduced to a limit. */
int nt_rules_apply(const struct nt_site_rules *rules, const struct nt_asked *asked,
		   struct nt_step_settings *outcome, struct nt_error *err);

/* Both: the settings of a step in that partition. */
int nt_rules_settle(struct nt_site_rules *rules, const struct nt_conf *conf, const char *partition,
		    enum nt_unknown unknown, const struct nt_asked *asked,
		    struct nt_step_settings *outcome, struct nt_error *err);

#endif

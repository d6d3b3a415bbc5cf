/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settle.h - what a step gets, of all that the site and the user say (site/rules.h)
 *
 * Threads:  one at a time.
 * Memory:   values; a settlement points to the site and to the texts that it was made from.
 * Errors:   -1 and *err.
 */
#ifndef NT_SETTLE_H
#define NT_SETTLE_H

#include "spank/option.h"

struct nt_settle {
	const struct nt_site *site;
	const struct nt_conf *conf;
	const char *text; /* the option's value; NULL: none was given */
	enum nt_rank rank; /* of the text */
	struct nt_policy user; /* the user's file */
	uint64_t user_given;
};

/* Before it is known where the step will run: is it what somebody at this site may ask for? */
int nt_settle_check(const struct nt_settle *settle, struct nt_error *err);

/* What a step there gets. rules is filled in for who wants to know more. */
int nt_settle(const struct nt_settle *settle, const struct nt_step_where *where,
	      enum nt_unknown unknown, struct nt_site_rules *rules, struct nt_outcome *outcome,
	      struct nt_error *err);

/* What srun's environment says of where a step runs: for messages, since users write it. */
struct nt_step_where nt_settle_environment(void);

/* Reads the user's file, and leaves what it says in this process's environment for slurmstepd. -1:
 * it holds a mistake, and nothing of it counts. */
int nt_settle_read_user(struct nt_settle *settle, struct nt_error *err);
/* What that has left; what makes no sense counts for nothing. */
void nt_settle_take_user(struct nt_settle *settle, const char *text);

#endif

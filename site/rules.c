/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Combine sections, and apply them to what was asked for. */
#include "site/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ALL UINT64_MAX

static const enum nt_limit sets[] = { NT_LIMIT_ALGORITHMS, NT_LIMIT_PROTOCOLS };

/* Of the others a bit means that something is allowed, or they are caps. */
static bool is_denial(enum nt_limit limit)
{
	return limit == NT_LIMIT_OFF || limit == NT_LIMIT_LOCKED;
}

static bool is_cap(enum nt_limit limit)
{
	return limit >= NT_LIMIT_BUDGET;
}

/* ---- sections */

static uint64_t strictest(enum nt_limit limit, uint64_t a, uint64_t b)
{
	if (is_cap(limit))
		return a < b ? a : b;
	return is_denial(limit) ? a | b : a & b;
}

static void set_limit(struct nt_site_rules *rules, enum nt_limit limit, uint64_t value,
		      const struct nt_conf_section *section)
{
	if (rules->limit[limit] == value && rules->limit_source[limit].rank != NT_RANK_BUILT_IN)
		return;
	rules->limit[limit] = value;
	rules->limit_source[limit] = (struct nt_value_source){ NT_RANK_FILE, section,
							       section->limit_line[limit] };
}

/* Apply a section that the step is in. */
static void lay(struct nt_site_rules *rules, const struct nt_conf_section *section)
{
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		if (!section->setting_line[i])
			continue;
		nt_setting_copy(&rules->policy, &section->policy, i);
		rules->source[i] = (struct nt_value_source){ NT_RANK_FILE, section,
							     section->setting_line[i] };
	}
	for (int l = 0; l < NT_LIMITS; l++) {
		const enum nt_limit limit = (enum nt_limit)l;

		if (!section->limit_line[l])
			continue;
		if (limit == NT_LIMIT_OFF && rules->limit[l])
			continue; /* no section turns it on again */
		set_limit(rules, limit, section->limit[l], section);
		if (limit == NT_LIMIT_ALGORITHMS || limit == NT_LIMIT_PROTOCOLS ||
		    limit == NT_LIMIT_LL128) {
			const unsigned i = nt_limit_setting(limit);

			nt_setting_put(&rules->policy, i, (int64_t)section->limit[l]);
			rules->source[i] = rules->limit_source[l];
		}
	}
}

/* Apply a section that the step may be in. */
static void weigh(struct nt_site_rules *rules, const struct nt_conf_section *section,
		  enum nt_unknown unknown)
{
	for (int l = 0; l < NT_LIMITS && unknown == NT_UNKNOWN_STRICT; l++) {
		const enum nt_limit limit = (enum nt_limit)l;
		uint64_t value;

		if (!section->limit_line[l])
			continue;
		value = strictest(limit, rules->limit[l], section->limit[l]);
		if (value != rules->limit[l])
			set_limit(rules, limit, value, section);
	}
}

static void lay_partition(struct nt_site_rules *rules, const char *name, enum nt_unknown unknown)
{
	const struct nt_conf *conf = rules->conf;

	for (unsigned i = 1; i < conf->count; i++) {
		if (!name)
			weigh(rules, &conf->section[i], unknown);
		else if (strcmp(conf->section[i].name, name) == 0)
			lay(rules, &conf->section[i]);
	}
}

static void lay_built_in(struct nt_site_rules *rules)
{
	nt_policy_default(&rules->policy);
	for (int l = 0; l < NT_LIMITS; l++)
		rules->limit[l] = is_denial((enum nt_limit)l) ? 0 : ALL;
	rules->limit[NT_LIMIT_MODES] = (UINT64_C(1) << (NT_MODE_PROFILE + 1)) - 1;
	rules->limit[NT_LIMIT_CALIBRATE] = NT_CONF_CALIBRATE_S;
	rules->limit[NT_LIMIT_LL128] = (uint64_t)rules->policy.ll128;
}

/* Does 0 mean no limit? */
static bool zero_is_most(enum nt_limit limit)
{
	return limit != NT_LIMIT_CALIBRATE && limit != NT_LIMIT_LL128;
}

/* Is a value over a cap? A negative one is auto, which keeps to the cap. */
static bool is_over(const struct nt_site_rules *rules, enum nt_limit limit,
		    const struct nt_policy *policy)
{
	const int64_t value = nt_setting_number(policy, nt_limit_setting(limit));

	if (!is_cap(limit) || rules->limit[limit] == ALL || value < 0)
		return false;
	return (uint64_t)value > rules->limit[limit] || (value == 0 && zero_is_most(limit));
}

/* The source of a value that was reduced to a limit. */
static struct nt_value_source reduced(const struct nt_site_rules *rules, enum nt_limit limit)
{
	struct nt_value_source source = rules->limit_source[limit];

	if (source.rank != NT_RANK_BUILT_IN)
		source.rank = NT_RANK_LIMIT;
	return source;
}

static const char *here(const struct nt_value_source *source, char out[NT_PATH_MAX])
{
	char title[NT_PATH_MAX];

	if (!source->section || !source->section->name[0])
		return "at this site";
	snprintf(out, NT_PATH_MAX, "in %.60s", nt_conf_title(source->section, title));
	return out;
}

__attribute__((format(printf, 2, 3))) static void remark(struct nt_step_settings *outcome,
							 const char *format, ...)
{
	va_list args;

	if (outcome->remarks == NT_REMARKS_MAX)
		return;
	va_start(args, format);
	vsnprintf(outcome->remark[outcome->remarks].text, sizeof(outcome->remark[0].text), format,
		  args);
	va_end(args);
	outcome->remarks++;
}

static void remark_over(const struct nt_site_rules *rules, enum nt_limit limit,
			struct nt_step_settings *outcome)
{
	const unsigned i = nt_limit_setting(limit);
	char value[NT_SETTING_TEXT], least[NT_SETTING_TEXT], most[NT_SETTING_TEXT];
	char seconds[NT_SETTING_TEXT], where[NT_PATH_MAX];
	struct nt_policy cap = outcome->policy;
	const char *unit = nt_setting_unit(i);
	const bool calibrate = limit == NT_LIMIT_CALIBRATE; /* in seconds, not "off" */

	(void)nt_setting_format(&outcome->policy, i, value);
	nt_setting_put(&cap, i, 0);
	(void)nt_setting_format(&cap, i, least);
	nt_setting_put(&cap, i, (int64_t)rules->limit[limit]);
	(void)nt_setting_format(&cap, i, most);
	snprintf(seconds, sizeof(seconds), "%" PRIu64, rules->limit[limit]);
	remark(outcome, "%s %s is not allowed %s (want %s to %s%s%s): it is %s", nt_setting_key(i),
	       value, here(&rules->limit_source[limit], where),
	       zero_is_most(limit) ? "more than 0, up"
	       : calibrate	   ? "0"
				   : least,
	       calibrate ? seconds : most, *unit ? " " : "", unit, most);
}

/* Reduce what is over a cap. outcome gets a remark; NULL: nobody asked for the value. */
static void bound(const struct nt_site_rules *rules, struct nt_policy *policy,
		  struct nt_value_source *source, struct nt_step_settings *outcome)
{
	for (int l = NT_LIMIT_BUDGET; l < NT_LIMITS; l++) {
		const enum nt_limit limit = (enum nt_limit)l;
		const unsigned i = nt_limit_setting(limit);

		if (!is_over(rules, limit, policy))
			continue;
		if (outcome)
			remark_over(rules, limit, outcome);
		nt_setting_put(policy, i, (int64_t)rules->limit[l]);
		source[i] = reduced(rules, limit);
	}
}

/* The default is within the limits itself. */
static void bound_default(struct nt_site_rules *rules)
{
	bound(rules, &rules->policy, rules->source, NULL);
	rules->policy.algorithms &= (int64_t)rules->limit[NT_LIMIT_ALGORITHMS];
	rules->policy.protocols &= (int64_t)rules->limit[NT_LIMIT_PROTOCOLS];
	if (!(rules->limit[NT_LIMIT_MODES] >> rules->policy.mode & 1)) {
		rules->policy.mode = NT_MODE_OFF;
		rules->source[0] = reduced(rules, NT_LIMIT_MODES);
	}
}

void nt_rules_make(struct nt_site_rules *rules, const struct nt_conf *conf, const char *partition,
		   enum nt_unknown unknown)
{
	memset(rules, 0, sizeof(*rules));
	rules->conf = conf;
	lay_built_in(rules);
	lay(rules, &conf->section[0]);
	lay_partition(rules, partition, unknown);
	bound_default(rules);
}

/* ---- wishes */

/* The settings asked for, and who asks for each; -1: the text is invalid. */
static int collect(const struct nt_site_rules *rules, const struct nt_asked *asked,
		   struct nt_policy *wish, enum nt_precedence rank[NT_SETTING_COUNT],
		   struct nt_error *err)
{
	uint64_t given = 0;

	*wish = rules->policy;
	if (asked->text && nt_policy_parse_given(wish, &given, asked->text, err) < 0)
		return -1;
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++)
		rank[i] = given >> i & 1 ? asked->rank : NT_RANK_BUILT_IN;
	return 0;
}

/* A locked setting keeps the site's value. */
static void hold(const struct nt_site_rules *rules, struct nt_step_settings *outcome, unsigned i)
{
	const struct nt_value_source *lock = &rules->limit_source[NT_LIMIT_LOCKED];
	char value[NT_SETTING_TEXT], wished[NT_SETTING_TEXT], where[NT_PATH_MAX];

	(void)nt_setting_format(&outcome->policy, i, wished);
	(void)nt_setting_format(&rules->policy, i, value);
	if (!nt_setting_same(&outcome->policy, &rules->policy, i))
		remark(outcome, "%s is locked %s: %s, not %s", nt_setting_key(i), here(lock, where),
		       value, wished);
	nt_setting_copy(&outcome->policy, &rules->policy, i);
	outcome->source[i] = *lock;
	outcome->source[i].rank = NT_RANK_LOCK;
}

static int check_mode(const struct nt_site_rules *rules, const struct nt_step_settings *outcome,
		      struct nt_error *err)
{
	const struct nt_value_source *source = &rules->limit_source[NT_LIMIT_MODES];
	const int64_t mode = outcome->policy.mode;
	char allowed[NT_CONF_MODES_TEXT], where[NT_PATH_MAX];

	if (rules->limit[NT_LIMIT_MODES] >> mode & 1)
		return 0;
	return nt_error_set(err, "mode %s is not allowed %s (allowed: %s)", nt_mode_name(mode),
			    here(source, where),
			    nt_conf_modes_text(rules->limit[NT_LIMIT_MODES], ", ", allowed));
}

/* Reduce the sets asked for; -1: nothing remains. */
static int check_sets(const struct nt_site_rules *rules, struct nt_step_settings *outcome,
		      struct nt_error *err)
{
	for (unsigned s = 0; s < 2; s++) {
		const unsigned i = nt_limit_setting(sets[s]);
		const int64_t asked = nt_setting_number(&outcome->policy, i);
		const int64_t left = asked & (int64_t)rules->limit[sets[s]];
		struct nt_policy allowed = outcome->policy;
		char value[NT_SETTING_TEXT], names[NT_SETTING_TEXT], where[NT_PATH_MAX];

		if (left == asked)
			continue;
		(void)nt_setting_format(&outcome->policy, i, value);
		nt_setting_put(&allowed, i,
			       (int64_t)rules->limit[sets[s]] &
				       nt_setting_number(&rules->policy, i));
		(void)nt_setting_format(&allowed, i, names);
		nt_error_set(err, "%s %s is not allowed %s (allowed: %s)", nt_setting_key(i), value,
			     here(&rules->limit_source[sets[s]], where), names);
		if (left == 0)
			return -1;
		remark(outcome, "%s", err->text);
		nt_setting_put(&outcome->policy, i, left);
		outcome->source[i] = reduced(rules, sets[s]);
	}
	return 0;
}

/* If it is unknown which section applies, sections may exclude each other and leave an empty set,
 * which no task could use. */
static void check_left(const struct nt_site_rules *rules, struct nt_step_settings *outcome)
{
	for (unsigned s = 0; s < 2; s++) {
		const unsigned i = nt_limit_setting(sets[s]);

		if (nt_setting_number(&outcome->policy, i) != 0)
			continue;
		nt_setting_default(&outcome->policy, i);
		if (outcome->policy.mode == NT_MODE_OFF)
			continue;
		if (outcome->source[0].rank >= NT_RANK_JOB)
			remark(outcome,
			       "no %s are allowed by all sections that may apply: mode off",
			       nt_setting_key(i));
		outcome->policy.mode = NT_MODE_OFF;
		outcome->source[0] = reduced(rules, sets[s]);
	}
}

static void switch_off(const struct nt_site_rules *rules, struct nt_step_settings *outcome)
{
	const struct nt_value_source *source = &rules->limit_source[NT_LIMIT_OFF];
	char where[NT_PATH_MAX];

	/* Only if the user asked for tuning. */
	if (outcome->policy.mode != NT_MODE_OFF && outcome->source[0].rank >= NT_RANK_JOB)
		remark(outcome, "tuning is switched off %s", here(source, where));
	outcome->policy.mode = NT_MODE_OFF;
	snprintf(outcome->policy.launch, sizeof(outcome->policy.launch), "off");
	outcome->source[0] = *source;
	outcome->source[0].rank = NT_RANK_LOCK;
}

static int refuse(const struct nt_site_rules *rules, struct nt_step_settings *outcome)
{
	outcome->refused = true;
	outcome->policy = rules->policy;
	outcome->policy.mode = NT_MODE_OFF;
	return -1;
}

int nt_rules_apply(const struct nt_site_rules *rules, const struct nt_asked *asked,
		   struct nt_step_settings *outcome, struct nt_error *err)
{
	enum nt_precedence rank[NT_SETTING_COUNT];

	memset(outcome, 0, sizeof(*outcome));
	if (collect(rules, asked, &outcome->policy, rank, err) < 0)
		return refuse(rules, outcome);
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		outcome->source[i] = rules->source[i];
		if (rank[i] != NT_RANK_BUILT_IN)
			outcome->source[i] = (struct nt_value_source){ .rank = rank[i] };
		if (rules->limit[NT_LIMIT_LOCKED] >> i & 1)
			hold(rules, outcome, i);
	}
	if (rules->limit[NT_LIMIT_OFF]) {
		switch_off(rules, outcome);
	} else {
		if (check_mode(rules, outcome, err) < 0 || check_sets(rules, outcome, err) < 0)
			return refuse(rules, outcome);
		bound(rules, &outcome->policy, outcome->source, outcome);
	}
	check_left(rules, outcome);
	return 0;
}

int nt_rules_settle(struct nt_site_rules *rules, const struct nt_conf *conf, const char *partition,
		    enum nt_unknown unknown, const struct nt_asked *asked,
		    struct nt_step_settings *outcome, struct nt_error *err)
{
	nt_rules_make(rules, conf, partition, unknown);
	return nt_rules_apply(rules, asked, outcome, err);
}

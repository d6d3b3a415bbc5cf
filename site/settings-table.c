/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Print settings and limits. */
#include "site/settings-table.h"

/* "command line", "/etc/nccl-tune.conf:12 [partition gpu]" */
static const char *source_text(const struct nt_site_rules *rules,
			       const struct nt_value_source *source, char out[2 * NT_PATH_MAX])
{
	static const char *const names[] = {
		[NT_RANK_BUILT_IN] = "built-in",
		[NT_RANK_JOB] = "the job's option",
		[NT_RANK_VARIABLE] = "the variable",
		[NT_RANK_OPTION] = "command line",
	};
	char title[NT_PATH_MAX];

	if (!source->section)
		return names[source->rank];
	snprintf(out, 2 * NT_PATH_MAX, "%s:%u %.60s%s", rules->conf->path, source->line,
		 nt_conf_title(source->section, title),
		 source->rank == NT_RANK_LOCK	 ? ", locked"
		 : source->rank == NT_RANK_LIMIT ? ", limit"
						 : "");
	return out;
}

static void show_settings(FILE *out, const struct nt_site_rules *rules,
			  const struct nt_step_settings *outcome)
{
	struct nt_policy built_in;

	nt_policy_default(&built_in);
	fprintf(out, "%-15s %-12s %-9s %s\n", "SETTING", "VALUE", "DEFAULT", "FROM");
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		char value[NT_SETTING_TEXT], def[NT_SETTING_TEXT], domain[NT_SETTING_DOMAIN];
		char from[2 * NT_PATH_MAX];

		(void)nt_setting_format(&outcome->policy, i, value);
		(void)nt_setting_format(&built_in, i, def);
		fprintf(out, "%-15s %-12s %-9s %s\n", nt_setting_key(i), value, def,
			source_text(rules, &outcome->source[i], from));
		fprintf(out, "    %s\n", nt_setting_domain(i, domain));
		if (i > 0)
			fprintf(out, "    %s\n", nt_setting_doc(i));
	}
}

static void list_settings(FILE *out, uint64_t mask)
{
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		if (mask >> i & 1)
			fprintf(out, " %s", nt_setting_key(i));
	}
}

static void show_value(FILE *out, unsigned i, uint64_t limit)
{
	struct nt_policy policy;
	char value[NT_SETTING_TEXT];

	nt_policy_default(&policy);
	nt_setting_put(&policy, i, (int64_t)limit);
	(void)nt_setting_format(&policy, i, value);
	fprintf(out, " %s", value);
}

static void show_limit(FILE *out, const struct nt_site_rules *rules, enum nt_limit limit)
{
	const uint64_t value = rules->limit[limit];
	char modes[NT_CONF_MODES_TEXT];
	char from[2 * NT_PATH_MAX];

	if (rules->limit_source[limit].rank == NT_RANK_BUILT_IN)
		return;
	fprintf(out, "%s =", nt_limit_key(limit));
	if (limit == NT_LIMIT_OFF)
		fputs(value ? " off" : " on", out);
	else if (limit == NT_LIMIT_MODES)
		fprintf(out, " %s", nt_conf_modes_text(value, " ", modes));
	else if (limit == NT_LIMIT_LOCKED)
		list_settings(out, value);
	else
		show_value(out, nt_limit_setting(limit), value);
	fprintf(out, "    (%s)\n", source_text(rules, &rules->limit_source[limit], from));
}

/* What a partition's section changes. */
static void show_section(FILE *out, const struct nt_conf *conf,
			 const struct nt_conf_section *section)
{
	struct nt_site_rules rules;
	char title[NT_PATH_MAX], value[NT_SETTING_TEXT];

	nt_rules_make(&rules, conf, section->name, NT_UNKNOWN_NONE);
	fprintf(out, "\nIn %s:\n", nt_conf_title(section, title));
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		if (!section->setting_line[i])
			continue;
		(void)nt_setting_format(&rules.policy, i, value);
		fprintf(out, "%s = %s    (%s:%u)\n", nt_setting_key(i), value, conf->path,
			section->setting_line[i]);
	}
	for (int limit = 0; limit < NT_LIMITS; limit++) {
		if (rules.limit_source[limit].section == section)
			show_limit(out, &rules, (enum nt_limit)limit);
	}
}

void nt_site_show(FILE *out, const struct nt_site_rules *rules,
		  const struct nt_step_settings *outcome, const char *partition)
{
	const struct nt_conf *conf = rules->conf;

	fprintf(out,
		"--" NT_OPTION "=MODE[,SETTING=VALUE...], see nccl-tune(7). Effective "
		"values here%s%s",
		conf->present ? ", from " : ", without a site file",
		conf->present ? conf->path : "");
	if (partition && partition[0])
		fprintf(out, ", partition %s", partition);
	else if (!partition && conf->count > 1)
		fputs(", partition unknown (some have sections)", out);
	fputs(":\n\n", out);
	show_settings(out, rules, outcome);
	fputs("\nSite limits:\n", out);
	for (int limit = 0; limit < NT_LIMITS; limit++)
		show_limit(out, rules, (enum nt_limit)limit);
	for (unsigned i = 0; i < outcome->remarks; i++)
		fprintf(out, "note: %s\n", outcome->remark[i].text);
	for (unsigned i = 1; i < conf->count && !partition; i++)
		show_section(out, conf, &conf->section[i]);
}

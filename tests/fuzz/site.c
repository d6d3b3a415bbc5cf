/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - nccl-tune.conf: what is said of it is plain, and what follows from it gives nobody more
 *          than it allows
 *
 * Input: a site's file; behind a byte 1 what an option says.
 */
#include <string.h>
#include "site/conf.h"
#include "site/rules.h"
#include "site/settings-table.h"
#include "tests/fuzz/fuzz.h"

static void check_error(const struct nt_error *err)
{
	FUZZ_CHECK(err->text[0] != '\0' && !strchr(err->text, '\n'));
	fuzz_check_plain(err->text, strlen(err->text));
}

/* ---- what is read */

static void check_name(const char *name, size_t room)
{
	FUZZ_CHECK(memchr(name, '\0', room) != NULL && !strchr(name, '\n'));
	fuzz_check_plain(name, strlen(name));
}

static void check_conf(const struct nt_conf *conf)
{
	char title[NT_PATH_MAX];

	FUZZ_CHECK(conf->count >= 1 && conf->count <= NT_CONF_SECTIONS);
	FUZZ_CHECK(conf->memory_mib <= NT_CONF_MEMORY_MIB);
	FUZZ_CHECK(conf->site.plugin[0] == '/' && conf->site.rundir[0] == '/');
	check_name(conf->site.plugin, sizeof(conf->site.plugin));
	check_name(conf->site.rundir, sizeof(conf->site.rundir));
	FUZZ_CHECK(conf->sinks.directory[0] == '\0' || conf->sinks.directory[0] == '/');
	check_name(conf->sinks.directory, sizeof(conf->sinks.directory));
	for (unsigned i = 0; i < conf->count; i++) {
		const struct nt_conf_section *section = &conf->section[i];

		check_name(section->name, sizeof(section->name));
		check_name(nt_conf_title(section, title), sizeof(title));
		FUZZ_CHECK((section->name[0] == '\0') == (i == 0));
		FUZZ_CHECK(nt_conf_find(conf, section->name) == section);
	}
}

/* ---- what holds */

/* That a is at most as loose as b. */
static bool is_within(const struct nt_site_rules *a, const struct nt_site_rules *b)
{
	for (int l = 0; l < NT_LIMITS; l++) {
		const uint64_t x = a->limit[l], y = b->limit[l];

		if (l == NT_LIMIT_OFF || l == NT_LIMIT_LOCKED ? (y & ~x) != 0
		    : l >= NT_LIMIT_BUDGET		      ? x > y
							      : (x & ~y) != 0)
			return false;
	}
	return true;
}

static bool is_under(const struct nt_site_rules *rules, enum nt_limit limit, int64_t value)
{
	const uint64_t most = rules->limit[limit];

	if (limit == NT_LIMIT_CALIBRATE && value == NT_CALIBRATE_AUTO)
		return true; /* what it comes to is bounded where the step starts */
	return most == UINT64_MAX ||
	       ((uint64_t)value <= most &&
		(value > 0 || limit == NT_LIMIT_CALIBRATE || limit == NT_LIMIT_LL128));
}

static void check_allowed(const struct nt_site_rules *rules, const struct nt_policy *policy)
{
	for (unsigned i = 0; i < NT_SETTING_COUNT && policy->mode != NT_MODE_OFF; i++)
		FUZZ_CHECK(!(rules->limit[NT_LIMIT_LOCKED] >> i & 1) ||
			   nt_setting_same(policy, &rules->policy, i));
	FUZZ_CHECK(policy->mode >= 0 && policy->mode <= NT_MODE_PROFILE);
	FUZZ_CHECK(!rules->limit[NT_LIMIT_OFF] || policy->mode == NT_MODE_OFF);
	FUZZ_CHECK(rules->limit[NT_LIMIT_MODES] >> policy->mode & 1);
	if (policy->mode == NT_MODE_OFF)
		return;
	FUZZ_CHECK(((uint64_t)policy->algorithms & ~rules->limit[NT_LIMIT_ALGORITHMS]) == 0);
	FUZZ_CHECK(((uint64_t)policy->protocols & ~rules->limit[NT_LIMIT_PROTOCOLS]) == 0);
	FUZZ_CHECK(is_under(rules, NT_LIMIT_BUDGET, policy->budget_micro));
	FUZZ_CHECK(is_under(rules, NT_LIMIT_CALLS, policy->max_calls));
	FUZZ_CHECK(is_under(rules, NT_LIMIT_EXTRA, policy->max_extra_ms));
	FUZZ_CHECK(is_under(rules, NT_LIMIT_CALIBRATE, policy->calibrate_s));
	FUZZ_CHECK(is_under(rules, NT_LIMIT_LL128, policy->ll128));
}

/* A task is told of it, and must understand. */
static void check_told(const struct nt_policy *policy)
{
	const struct nt_node_step place = {
		.shm = "/proc/12/fd/100", .node = "n1", .fingerprint = 7, .job = 12
	};
	char text[2 * NT_POLICY_MAX];
	struct nt_policy read;
	struct nt_node_step there;
	struct nt_error err = { "" };
	int rc = nt_policy_format_task(policy, &place, text, sizeof(text), &err);

	if (rc == 0)
		rc = nt_policy_parse_task(&read, &there, text, &err);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", text, err.text);
	FUZZ_CHECK(rc == 0);
}

static void check_shown(const struct nt_site_rules *rules, const struct nt_step_settings *outcome,
			const char *partition)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL);
	nt_site_show(out, rules, outcome, partition);
	fclose(out);
	fuzz_check_plain(text, bytes);
	free(text);
}

static void check_wish(const struct nt_site_rules *rules, const struct nt_asked *asked,
		       const char *partition)
{
	static struct nt_step_settings outcome;
	struct nt_error err = { "" };

	if (nt_rules_apply(rules, asked, &outcome, &err) < 0) {
		FUZZ_CHECK(outcome.refused && outcome.policy.mode == NT_MODE_OFF);
		FUZZ_CHECK(asked->text); /* who asks for nothing is not */
		FUZZ_CHECK(err.text[0] != '\0');
	} else {
		check_allowed(rules, &outcome.policy);
		check_told(&outcome.policy);
	}
	FUZZ_CHECK(outcome.remarks <= NT_REMARKS_MAX);
	check_shown(rules, &outcome, partition);
}

/* Wherever it runs: who does not know where must not get more than who knows. */
static void check_rules(const struct nt_conf *conf, const struct nt_asked *asked)
{
	static struct nt_site_rules strict, rules;
	const struct nt_asked nothing = { .text = NULL };

	nt_rules_make(&strict, conf, NULL, NT_UNKNOWN_STRICT);
	check_wish(&strict, asked, NULL);
	check_wish(&strict, &nothing, NULL);
	for (unsigned i = 0; i < 3; i++) {
		const char *partition = i > 0 && i < conf->count ? conf->section[i].name
								 : "elsewhere";

		nt_rules_make(&rules, conf, partition, NT_UNKNOWN_STRICT);
		FUZZ_CHECK(is_within(&strict, &rules));
		check_wish(&rules, asked, partition);
	}
}

/* ---- input */

static void read_site(const char *text, const struct nt_asked *asked)
{
	static struct nt_conf conf;
	struct nt_error err = { "" };

	if (nt_conf_parse(&conf, "/etc/nccl-tune.conf", text, strlen(text), &err) < 0) {
		check_error(&err);
		return;
	}
	check_conf(&conf);
	check_rules(&conf, asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	char *site = fuzz_part(&in, 1), *option = fuzz_part(&in, 1);
	struct nt_asked asked = { .text = option, .rank = NT_RANK_OPTION };

	if (site)
		read_site(site, &asked);
	free(site);
	free(option);
	return 0;
}

FUZZ_TEXT_TARGET("[site]\n", "[partition gpu]\n", "[partition cpu]\n", "tuning = off\n",
		 "tuning = on\n", "mode = bandit\n", "modes = off observe\n",
		 "modes = bandit+policy\n", "lock = all\n", "lock = alpha reward\n",
		 "keys = none\n", "keys = min_gain\n", "algorithms = ring\n", "algorithms = tree\n",
		 "protocols = ll simple\n", "budget_max = 10\n", "calls_max = 1000\n",
		 "extra_max = 60s\n", "calibrate_max = 30s\n", "record = file:/a\n",
		 "rundir = /r\n", "plugin = /p\n", "memory_max = 0\n", "pmix = ask\n",
		 "launch = wide\n", "budget = 50\n", "; x\n", "#", "=", ":", "\t", "\"", "\\", "]",
		 "bandit,", "launch=wide,", "algorithms=ring,", "protocols=ll+ll128,",
		 "max_calls=0,", "calibrate=60,", "\x01", "\n\x01", "\n")

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Precedence: every source over every lower one, and the site's limits over all of them. */
#include "site/rules.h"

#include "tests/lib/unit.h"
#include "lib/append.h"

static struct nt_conf conf;

struct given {
	const char *file, *job, *variable, *option;
	const char *partition;
};

/* The clients' value of several texts: the first of the option, the variable and the job's
 * option. */
static int settle(const struct given *given, struct nt_step_settings *outcome, struct nt_error *err)
{
	struct nt_asked asked = { .text = given->option, .rank = NT_RANK_OPTION };
	static struct nt_site_rules rules;

	nt_conf_init(&conf);
	if (given->file && nt_conf_parse(&conf, "f", given->file, strlen(given->file), err) < 0)
		fail_msg("%s", err->text);
	if (!asked.text) {
		asked.text = given->variable;
		asked.rank = NT_RANK_VARIABLE;
	}
	if (!asked.text) {
		asked.text = given->job;
		asked.rank = NT_RANK_JOB;
	}
	nt_rules_make(&rules, &conf, given->partition, NT_UNKNOWN_STRICT);
	return nt_rules_apply(&rules, &asked, outcome, err);
}

/* Bit by bit, each source of min_gain: 1 file, 2 job, 4 variable, 8 option, 16 lock. The highest
 * one that is set wins, in all 32 combinations. */
static void every_rank_beats_all_lower_ones(void **state)
{
	static const enum nt_precedence ranks[] = { NT_RANK_FILE, NT_RANK_JOB, NT_RANK_VARIABLE,
						    NT_RANK_OPTION };
	static const int64_t values[] = { 12, 14, 15, 16 };
	const unsigned gain = (unsigned)nt_setting_find("min_gain", 8);

	for (unsigned set = 0; set < 32; set++) {
		char file[80] = "[site]\n";
		struct given given = { .file = file, .partition = "" };
		struct nt_step_settings outcome;
		struct nt_error err;
		int64_t expected = 3;
		enum nt_precedence rank = NT_RANK_BUILT_IN;

		if (set & 1)
			snprintf(file + 7, sizeof(file) - 7, "min_gain = 12\n");
		given.job = set & 2 ? "off,min_gain=14" : NULL;
		given.variable = set & 4 ? "off,min_gain=15" : NULL;
		given.option = set & 8 ? "off,min_gain=16" : NULL;
		if (set & 16)
			nt_append(file, sizeof(file), "lock = min_gain\n");
		for (unsigned bit = 0; bit < 4; bit++) {
			if (!(set >> bit & 1) || (set & 16 && bit > 0))
				continue;
			expected = values[bit];
			rank = ranks[bit];
		}
		if (set & 16)
			rank = NT_RANK_LOCK;
		assert_int_equal(settle(&given, &outcome, &err), 0);
		assert_int_equal(outcome.policy.min_gain_micro, expected * 1000000);
		assert_int_equal(outcome.source[gain].rank, rank);
	}
}

/* A string of options is taken whole; lower files fill in settings that it does not name. */
static void an_option_is_taken_whole(void **state)
{
	const struct given given = {
		.file = "[site]\nmode = observe\nalpha = 0.2\nchannels = on\n",
		.job = "bandit,min_gain=14",
		.variable = "bandit,screen_blocks=4",
		.option = "policy",
	};
	struct nt_step_settings outcome;
	struct nt_error err;

	assert_int_equal(settle(&given, &outcome, &err), 0);
	assert_int_equal(outcome.policy.mode, NT_MODE_POLICY);
	assert_int_equal(outcome.policy.min_gain_micro, 3000000);
	assert_int_equal(outcome.policy.screen_blocks, 8);
	assert_int_equal(outcome.policy.channels, 1);
	assert_int_equal(outcome.policy.alpha_micro, 200000);
}

#define SECTIONS                                                                   \
	"[site]\nmode=observe\nmodes=observe\nmin_gain=1\nbudget_max=50\n"         \
	"[partition gpu]\nmin_gain=2\nmodes=observe bandit\nprotocols=ll simple\n" \
	"[partition debug]\ntuning=off\n"                                          \
	"[partition long]\nmin_gain=4\nbudget_max=10\nmode=policy\nmodes=policy\n"

static const struct {
	const char *partition, *option;
	const char *expected; /* the option form; "!...": refused, with these words */
} cases[] = {
	{ "cpu", NULL, "observe,min_gain=1,budget=50" },
	{ "gpu", NULL, "observe,min_gain=2,budget=50,protocols=ll+simple" },
	{ "gpu", "bandit", "bandit,min_gain=2,budget=50,protocols=ll+simple" },
	{ "cpu", "bandit", "!mode bandit is not allowed at this site (allowed: off, observe)" },
	{ "long", NULL, "policy,min_gain=4,budget=10" },
	{ "long", "policy,budget=20", "policy,min_gain=4,budget=10" },
	{ "long", "policy,budget=0", "policy,min_gain=4,budget=10" },
	{ "long", "observe",
	  "!mode observe is not allowed in [partition long] (allowed: off, policy)" },
	{ "gpu", "bandit,protocols=ll128+ll", "bandit,min_gain=2,budget=50,protocols=ll" },
	{ "gpu", "bandit,protocols=ll128",
	  "!protocols ll128 is not allowed in [partition gpu] (allowed: ll+simple)" },
	{ "debug", "observe", "off,min_gain=1,budget=50" },
	/* Unknown: the strictest of all, and no section's default. */
	{ NULL, "observe", "off,min_gain=1,budget=10,protocols=ll+simple" },
	{ NULL, NULL, "off,min_gain=1,budget=10,protocols=ll+simple" },
};

static void sections_lie_over_each_other(void **state)
{
	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct given given = {
			.file = SECTIONS,
			.option = cases[i].option,
			.partition = cases[i].partition,
		};
		struct nt_step_settings outcome;
		struct nt_error err = { "" };
		char text[NT_POLICY_MAX];
		int rc = settle(&given, &outcome, &err);

		assert_int_equal(rc < 0, outcome.refused);
		if (rc < 0) {
			assert_int_equal(outcome.policy.mode, NT_MODE_OFF);
			snprintf(text, sizeof(text), "!%s", err.text);
		} else {
			assert_int_equal(
				nt_policy_format_option(&outcome.policy, text, sizeof(text)), 0);
		}
		if (strcmp(text, cases[i].expected) != 0)
			fail_msg("case %zu: %s, not %s", i, text, cases[i].expected);
	}
}

static void what_is_not_as_asked_is_said(void **state)
{
	static const struct {
		const char *file, *option, *says;
	} told[] = {
		{ "[site]\nmin_gain=5\nlock=min_gain\n", "bandit,min_gain=1",
		  "min_gain is locked at this site: 5, not 1" },
		{ "[site]\nmode=observe\nlock=mode\n", "bandit",
		  "mode is locked at this site: observe, not bandit" },
		{ "[site]\nkeys=none\n", "bandit,alpha=0.2",
		  "alpha is locked at this site: 0.01, not 0.2" },
		{ "[site]\ntuning=off\n", "bandit", "tuning is switched off at this site" },
		{ "[partition p]\ntuning=off\n", "bandit",
		  "tuning is switched off in [partition p]" },
		{ "[site]\nbudget_max=2.5\n", "bandit,budget=9",
		  "budget 9 is not allowed at this site (want more than 0, up to 2.5 percent): it "
		  "is 2.5" },
		{ "[site]\nextra_max=100\n", "bandit,max_extra=0",
		  "max_extra 0 is not allowed at this site (want more than 0, up to 100 "
		  "milliseconds): it is 100" },
		{ "[site]\ncalibrate_max=0\n", "bandit,calibrate=9",
		  "calibrate 9 is not allowed at this site (want 0 to 0 seconds): it is off" },
		{ "", "bandit,ll128=on",
		  "ll128 on is not allowed at this site (want off to auto): it is auto" },
		{ "[site]\nll128=on\n[partition p]\nll128=off\n", "bandit,ll128=auto",
		  "ll128 auto is not allowed in [partition p] (want off to off): it is off" },
		{ "[site]\nprotocols=simple\n", "bandit,protocols=ll+simple",
		  "protocols ll+simple is not allowed at this site (allowed: simple)" },
	};

	for (size_t i = 0; i < LENGTH(told); i++) {
		const struct given given = { .file = told[i].file,
					     .option = told[i].option,
					     .partition = "p" };
		struct nt_step_settings outcome;
		struct nt_error err = { "" };

		assert_int_equal(settle(&given, &outcome, &err), 0);
		assert_int_equal(outcome.remarks, 1);
		assert_string_equal(outcome.remark[0].text, told[i].says);
	}
}

/* The site's value of ll128 is the default and the most that users may request. */
static void ll128_is_on_only_where_the_site_says_so(void **state)
{
	static const struct {
		const char *file, *option, *partition;
		int64_t ll128;
	} rows[] = {
		{ NULL, "bandit", "", NT_LL128_AUTO },
		{ NULL, "bandit,ll128=off", "", NT_LL128_OFF },
		{ NULL, "bandit,ll128=on", "", NT_LL128_AUTO },
		{ "[site]\nll128=auto\n", "bandit,ll128=on", "", NT_LL128_AUTO },
		{ "[site]\nll128=on\n", "bandit", "", NT_LL128_ON },
		{ "[site]\nll128=on\n", "bandit,ll128=auto", "", NT_LL128_AUTO },
		{ "[site]\nll128=off\n", "bandit,ll128=on", "", NT_LL128_OFF },
		{ "[site]\nll128=on\nlock=ll128\n", "bandit,ll128=off", "", NT_LL128_ON },
		{ "[partition p]\nll128=on\n", "bandit,ll128=on", "p", NT_LL128_ON },
		{ "[partition p]\nll128=on\n", "bandit,ll128=on", "q", NT_LL128_AUTO },
		/* It is unknown which one applies. */
		{ "[partition p]\nll128=on\n", "bandit,ll128=on", NULL, NT_LL128_AUTO },
		{ "[partition p]\nll128=off\n", "bandit", NULL, NT_LL128_OFF },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct given given = { .file = rows[i].file,
					     .option = rows[i].option,
					     .partition = rows[i].partition };
		struct nt_step_settings outcome;
		struct nt_error err = { "" };

		assert_int_equal(settle(&given, &outcome, &err), 0);
		if (outcome.policy.ll128 != rows[i].ll128)
			fail_msg("row %zu: %d", i, (int)outcome.policy.ll128);
	}
}

/* Users get no message about settings that they did not request. */
static void defaults_within_limits_need_no_words(void **state)
{
	struct given given = {
		.file = "[site]\nbudget_max=5\nmodes=observe\nlock=all\nprotocols=simple\n",
	};
	struct nt_step_settings outcome;
	struct nt_error err;

	assert_int_equal(settle(&given, &outcome, &err), 0);
	assert_int_equal(outcome.remarks, 0);
	assert_int_equal(outcome.policy.mode, NT_MODE_OFF);
	assert_int_equal(outcome.policy.budget_micro, 5000000);
	assert_int_equal(outcome.policy.protocols, 4);
	given.file = "[site]\nmode=observe\ntuning=off\n";
	assert_int_equal(settle(&given, &outcome, &err), 0);
	assert_int_equal(outcome.remarks, 0);
	assert_int_equal(outcome.policy.mode, NT_MODE_OFF);
}

/* Unless the file says how long. */
static void calibrations_are_bounded(void **state)
{
	static const char longer[] = "[site]\ncalibrate_max=600\n[partition p]\ncalibrate_max=0\n";
	struct nt_site_rules rules;
	struct nt_error err;

	nt_conf_init(&conf);
	nt_rules_make(&rules, &conf, "", NT_UNKNOWN_STRICT);
	assert_int_equal(rules.limit[NT_LIMIT_CALIBRATE], 120);
	assert_int_equal(nt_conf_parse(&conf, "f", longer, sizeof(longer) - 1, &err), 0);
	nt_rules_make(&rules, &conf, "", NT_UNKNOWN_STRICT);
	assert_int_equal(rules.limit[NT_LIMIT_CALIBRATE], 600);
	nt_rules_make(&rules, &conf, "p", NT_UNKNOWN_STRICT);
	assert_int_equal(rules.limit[NT_LIMIT_CALIBRATE], 0);
}

/* Two sections that exclude each other: no task is told of an empty set. */
static void where_nothing_is_left_nothing_is_tried(void **state)
{
	struct given given = {
		.file = "[site]\nmode=bandit\n[partition a]\nalgorithms=ring\n"
			"[partition b]\nalgorithms=tree\n",
	};
	const struct nt_node_step place = { .shm = "/d", .node = "n1" };
	char text[NT_POLICY_MAX];
	struct nt_step_settings outcome;
	struct nt_policy read;
	struct nt_node_step there;
	struct nt_error err;

	for (unsigned i = 0; i < 2; i++) {
		given.option = i ? "policy" : NULL;
		assert_int_equal(settle(&given, &outcome, &err), 0);
		assert_int_equal(outcome.policy.mode, NT_MODE_OFF);
		assert_int_equal(outcome.source[0].rank, NT_RANK_LIMIT);
		assert_int_equal(outcome.remarks, i);
		assert_int_equal(
			nt_policy_format_task(&outcome.policy, &place, text, sizeof(text), &err),
			0);
		assert_int_equal(nt_policy_parse_task(&read, &there, text, &err), 0);
	}
	given.option = "bandit,algorithms=ring";
	assert_int_equal(settle(&given, &outcome, &err), -1);
	given.partition = "a";
	assert_int_equal(settle(&given, &outcome, &err), 0);
	assert_int_equal(outcome.policy.mode, NT_MODE_BANDIT);
}

UNIT_TESTS(every_rank_beats_all_lower_ones, an_option_is_taken_whole, sections_lie_over_each_other,
	   what_is_not_as_asked_is_said, ll128_is_on_only_where_the_site_says_so,
	   defaults_within_limits_need_no_words, calibrations_are_bounded,
	   where_nothing_is_left_nothing_is_tried);

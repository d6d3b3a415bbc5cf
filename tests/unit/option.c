/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The site's arguments, the user's option, and the resulting environment and helper. */
#include "spank/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "spank/arguments.h"
#include "spank/effective-policy.h"
#include "spank/step-dir.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Arguments separated by spaces, as in plugstack.conf. */
static int parse_site(struct nt_site *site, const char *line, struct nt_error *err)
{
	char copy[1024];
	char *words[16];
	char *rest = copy;
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	return nt_site_parse(site, count, words, err);
}

/* srun's messages about an option, and the step's policy. */
static int resolve(const struct nt_site *site, const char *text, struct nt_policy *policy,
		   struct nt_error *err)
{
	static struct nt_conf conf;
	const struct nt_step_where nowhere = { NULL, NULL, NULL };
	struct nt_effective_policy settle = {
		.site = site, .conf = &conf, .text = text, .rank = NT_RANK_OPTION
	};
	struct nt_step_settings outcome;
	struct nt_site_rules rules;

	nt_conf_init(&conf);
	if (nt_effective_policy(&settle, &nowhere, NT_UNKNOWN_STRICT, &rules, &outcome, err) < 0)
		return -1;
	*policy = outcome.policy;
	return 0;
}

static void site_without_arguments(void **state)
{
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(parse_site(&site, "", &err), 0);
	assert_string_equal(site.plugin, NT_LIBDIR "/libnccl-tune.so");
	assert_string_equal(site.recordd, NT_LIBEXECDIR "/nt-recordd");
	assert_string_equal(site.rundir, NT_RUN_DIR);
	assert_string_equal(site.spooldir, NT_SPOOL_DIR);
	assert_int_equal(site.defaults.policy.mode, NT_MODE_OFF);
	assert_int_equal(site.defaults.modes, 31);
	assert_int_equal(site.sinks.count, 1);
	assert_int_equal(site.sinks.at[0], NT_SINK_ADMINCOMMENT);
	assert_false(site.pmix);
	assert_string_equal(site.profiles, NT_DATADIR "/profiles.conf");
	assert_string_equal(site.site_memory, NT_SYSCONFDIR "/nccl-tune/memory.jsonl");
	assert_string_equal(site.command, NT_BINDIR "/nccl-tune");
	assert_int_equal(site.defaults.calibrate_max_s, 120);
}

static void site_bounds_calibrations(void **state)
{
	struct nt_policy policy;
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(parse_site(&site,
				    "profiles=/p site_memory=/m command=/c calibrate_max=20s "
				    "default=bandit,launch=auto,calibrate=30",
				    &err),
			 0);
	assert_string_equal(site.profiles, "/p");
	assert_string_equal(site.site_memory, "/m");
	assert_string_equal(site.command, "/c");
	assert_int_equal(site.defaults.policy.calibrate_s, 20);
	assert_int_equal(resolve(&site, NULL, &policy, &err), 0);
	assert_int_equal(resolve(&site, "bandit,calibrate=20", &policy, &err), 0);
	assert_int_equal(resolve(&site, "bandit,calibrate=21", &policy, &err), 0);
	assert_int_equal(policy.calibrate_s, 20);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const bad[] = { "calibrate_max=-1",
						   "calibrate_max=", "calibrate_max=4000",
						   "calibrate_max=5m" };

		assert_int_equal(parse_site(&site, bad[i], &err), -1);
		assert_non_null(strstr(err.text, "(want 0 to 3600 seconds)"));
	}
}

static void bounds_of_directories(void **state)
{
	static const char *const bad[] = { "dirsize=",	  "dirsize=-1",
					   "dirsize=1",	  "dirsize=2g",
					   "dirsize=4mb", "dirsize=m",
					   "dirsize=1k",  "dirsize=99999999999999999999g" };
	static const char *const bad_files[] = { "dirfiles=", "dirfiles=0", "dirfiles=15",
						 "dirfiles=65537", "dirfiles=20k" };
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(parse_site(&site, "pmix=ask", &err), 0);
	assert_int_equal(site.dir_bytes, 128 << 20);
	assert_int_equal(site.dir_files, 8192);
	assert_int_equal(parse_site(&site, "dirsize=1g dirfiles=100", &err), 0);
	assert_int_equal(site.dir_bytes, 1 << 30);
	assert_int_equal(site.dir_files, 100);
	assert_int_equal(parse_site(&site, "dirsize=2048K", &err), 0);
	assert_int_equal(site.dir_bytes, 2 << 20);
	assert_int_equal(parse_site(&site, "dirsize=0", &err), 0);
	assert_int_equal(site.dir_bytes, 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse_site(&site, bad[i], &err), -1);
		assert_non_null(strstr(err.text, "(want 1m to 1g, or 0 for none)"));
	}
	for (unsigned i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		assert_int_equal(parse_site(&site, bad_files[i], &err), -1);
		assert_non_null(strstr(err.text, "(want 16 to 65536)"));
	}
}

static void names_of_profiles_are_looked_up(void **state)
{
	struct nt_site site;
	struct nt_error err;
	char path[] = "/tmp/nt-option-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	fputs("[wide]\nNCCL_BUFFSIZE=8M\n", file);
	fclose(file);
	assert_int_equal(parse_site(&site, "profiles=/nonexistent/p", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "wild", &err), 0);
	snprintf(site.profiles, sizeof(site.profiles), "%s", path);
	assert_int_equal(nt_option_check_launch(&site, "wide", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "auto", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "off", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "default", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "wild", &err), -1);
	assert_non_null(strstr(err.text, "did you mean wide? (there are: default wide"));
	unlink(path);
}

static void site_with_all_arguments(void **state)
{
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(
		parse_site(&site,
			   "plugin=/a/b.so recordd=/c rundir=/run/x// spooldir=/s record=file:/r "
			   "default=observe,min_gain=8 modes=observe pmix=default",
			   &err),
		0);
	assert_string_equal(site.plugin, "/a/b.so");
	assert_string_equal(site.recordd, "/c");
	assert_string_equal(site.rundir, "/run/x");
	assert_string_equal(site.spooldir, "/s");
	assert_int_equal(site.sinks.count, 1);
	assert_int_equal(site.sinks.at[0], NT_SINK_FILE);
	assert_string_equal(site.sinks.directory, "/r");
	assert_int_equal(site.defaults.policy.mode, NT_MODE_OBSERVE);
	assert_int_equal(site.defaults.policy.min_gain_micro, 8000000);
	assert_int_equal(site.defaults.modes, (1 << NT_MODE_OFF) | (1 << NT_MODE_OBSERVE));
	assert_true(site.pmix);
}

static void later_arguments_win(void **state)
{
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(
		parse_site(
			&site,
			"default=bandit,alpha=0.1 pmix=default record=none default=observe pmix=ask "
			"record=admincomment",
			&err),
		0);
	assert_int_equal(site.defaults.policy.mode, NT_MODE_OBSERVE);
	assert_int_equal(site.defaults.policy.alpha_micro, 10000);
	assert_false(site.pmix);
	assert_int_equal(site.sinks.count, 1);
	assert_int_equal(site.sinks.at[0], NT_SINK_ADMINCOMMENT);
}

static void site_mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *named;
	} cases[] = {
		{ "plugins=/a", "'plugins=/a' (want plugin=, recordd=, rundir=" },
		{ "plugin", "'plugin' (want plugin=" },
		{ "rundir=run", "rundir: 'run' (want an absolute path" },
		{ "rundir=/a,b", "rundir: '/a,b' (want an absolute path" },
		{ "default=observ",
		  "default: unknown mode 'observ' (want off, observe, bandit, policy or profile; did you mean observe?)" },
		{ "default=observe,min_gian=1", "default: unknown setting 'min_gian=1'" },
		{ "modes=observe+fast",
		  "modes: 'fast' (want off, observe, bandit, policy and profile, joined by +)" },
		{ "modes=observe default=bandit",
		  "default: mode bandit is not allowed at this site (allowed: off, observe)" },
		{ "pmix=yes", "pmix: 'yes' (want default or ask)" },
		{ "record=file:x", "record: 'x' (want an absolute path" },
		{ "record=admincoment",
		  "record: 'admincoment' (want admincomment, extra, comment and file:DIRECTORY, or "
		  "none); did you mean admincomment?" },
		{ "record=extra,extra", "record: 'extra' (want each at most once)" },
		{ "record=file:/a,b", "record: 'b' (want admincomment, extra" },
		{ "record=", "record: '' (want admincomment, extra" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct nt_site site;
		struct nt_error err = { "" };

		assert_int_equal(parse_site(&site, cases[i].line, &err), -1);
		if (!strstr(err.text, cases[i].named))
			fail_msg("%s: %s", cases[i].line, err.text);
	}
}

static void too_long_paths_are_refused(void **state)
{
	char argument[NT_PATH_MAX + 16] = "plugin=/";
	struct nt_site site;
	struct nt_error err;

	(void)state;
	memset(argument + 8, 'x', NT_PATH_MAX - 2);
	assert_int_equal(parse_site(&site, argument, &err), 0);
	argument[8 + NT_PATH_MAX - 2] = 'x';
	assert_int_equal(parse_site(&site, argument, &err), -1);
}

static void option_lies_over_the_site(void **state)
{
	struct nt_policy policy;
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(parse_site(&site, "default=observe,min_gain=8,alpha=0.02", &err), 0);
	assert_int_equal(resolve(&site, NULL, &policy, &err), 0);
	assert_memory_equal(&policy, &site.defaults.policy, sizeof(policy));
	assert_int_equal(resolve(&site, "bandit,alpha=0.05", &policy, &err), 0);
	assert_int_equal(policy.mode, NT_MODE_BANDIT);
	assert_int_equal(policy.min_gain_micro, 8000000);
	assert_int_equal(policy.alpha_micro, 50000);
	assert_int_equal(resolve(&site, "off", &policy, &err), 0);
	assert_int_equal(policy.mode, NT_MODE_OFF);
}

static void option_keeps_to_the_sites_limit(void **state)
{
	struct nt_policy policy;
	struct nt_site site;
	struct nt_error err;

	(void)state;
	assert_int_equal(parse_site(&site, "modes=observe", &err), 0);
	assert_int_equal(resolve(&site, "bandit", &policy, &err), -1);
	assert_string_equal(err.text,
			    "mode bandit is not allowed at this site (allowed: off, observe)");
	assert_int_equal(resolve(&site, "off", &policy, &err), 0);
	assert_int_equal(resolve(&site, "", &policy, &err), -1);
}

static void complaints_name_the_source(void **state)
{
	const struct nt_error reason = { "unknown mode 'x' (want off)" };
	char line[200];

	(void)state;
	nt_option_complain(line, sizeof(line), NT_RANK_OPTION, NULL, "x", &reason);
	assert_string_equal(line, "--nccl-tune=x: unknown mode 'x' (want off)");
	nt_option_complain(line, sizeof(line), NT_RANK_VARIABLE, "SLURM_NCCL_TUNE", "x", &reason);
	assert_string_equal(line, "SLURM_NCCL_TUNE=x: unknown mode 'x' (want off)");
	nt_option_complain(line, sizeof(line), NT_RANK_JOB, NULL, "x", &reason);
	assert_string_equal(
		line, "--nccl-tune=x of the job around this step: unknown mode 'x' (want off)");
}

static void each_command_has_its_variable(void **state)
{
	(void)state;
	assert_string_equal(nt_option_variable("srun"), "SLURM_NCCL_TUNE");
	assert_string_equal(nt_option_variable("sbatch"), "SBATCH_NCCL_TUNE");
	assert_string_equal(nt_option_variable("salloc"), "SALLOC_NCCL_TUNE");
	assert_null(nt_option_variable("scrontab"));
}

static void errand_round_trips(void **state)
{
	struct nt_arguments errand = {
		.job = 4294967295u,
		.step = NT_STEP_BATCH,
		.uid = 1,
		.gid = 2,
		.flags = 3,
		.component = 7,
		.tasks = 4,
		.nodes = 5,
		.record_bytes = 1024,
		.memory_mib = 5,
		.here = 6,
		.long_mib = 64,
		.long_parents = 1,
		.run = 2,
		.first = 1,
		.node = "n1",
		.long_dir = "/home/a/records",
		.fingerprint = "00f3000000000001",
		.mode = "bandit",
		.dir = "/run/a=b",
		.rundir = "/run",
		.spool = "/s",
		.record = "admincomment,file:/r",
		.cluster = "c",
		.ticket = "profile=sockets-wide;set=NCCL_BUFFSIZE=8M",
		.groups = "/g/slurm/uid_1/job_2/step_0:/g2/s/job_2",
	};
	char text[NT_ARGUMENTS_TEXT + NT_ARGUMENTS_KEY];
	struct nt_arguments parsed;
	struct nt_error err;
	size_t bytes;

	(void)state;
	memset(errand.hosts, 'n', sizeof(errand.hosts) - 1); /* the longest there is */
	bytes = nt_arguments_format(&errand, text);
	assert_int_equal(nt_arguments_parse(&parsed, text, bytes, &err), 0);
	assert_memory_equal(&parsed, &errand, sizeof(errand));
	assert_int_equal(nt_arguments_parse(&parsed, text, bytes - 1, &err), -1);
	assert_string_equal(err.text, "it is truncated");
	assert_int_equal(nt_arguments_parse(&parsed, text, 0, &err), -1);
	/* The first is not there. */
	assert_int_equal(nt_arguments_parse(&parsed, text + strlen(text) + 1,
					    bytes - strlen(text) - 1, &err),
			 -1);
	assert_string_equal(err.text, "a member is missing");
	memcpy(text + bytes, "job=1", 6); /* twice */
	assert_int_equal(nt_arguments_parse(&parsed, text, bytes + 6, &err), -1);
	text[bytes - 1] = 'n'; /* one too long */
	memcpy(text + bytes, "n", 2);
	assert_int_equal(nt_arguments_parse(&parsed, text, bytes + 2, &err), -1);
	bytes = nt_arguments_format(&errand, text);
	text[strlen("job=")] = '-';
	assert_int_equal(nt_arguments_parse(&parsed, text, bytes, &err), -1);
	assert_string_equal(err.text, "member 'job=-294967295'");
}

static void steps_have_names(void **state)
{
	char name[NT_STEP_NAME_MAX];

	(void)state;
	nt_step_name(0, NT_STEP_WHOLE, name);
	assert_string_equal(name, "0");
	nt_step_name(NT_STEP_BATCH, NT_STEP_WHOLE, name);
	assert_string_equal(name, "batch");
	nt_step_name(4294967295u, 127, name);
	assert_string_equal(name, "4294967295+127");
}

static void components_are_told_by_the_title(void **state)
{
	(void)state;
	assert_int_equal(nt_step_component("slurmstepd: [12.0+1]", 12, 0), 1);
	assert_int_equal(nt_step_component("slurmstepd: [12.0+0]   ", 12, 0), 0);
	assert_int_equal(nt_step_component("slurmstepd: [12.0]", 12, 0), NT_STEP_WHOLE);
	assert_int_equal(nt_step_component("slurmstepd: [12.batch]", 12, NT_STEP_BATCH),
			 NT_STEP_WHOLE);
	assert_int_equal(nt_step_component("slurmstepd: [13.0+1]", 12, 0), NT_STEP_WHOLE);
	assert_int_equal(nt_step_component("slurmstepd: [12.0+]", 12, 0), NT_STEP_WHOLE);
	assert_int_equal(nt_step_component("slurmstepd: [12.0+4294967296]", 12, 0), NT_STEP_WHOLE);
	assert_int_equal(nt_step_component("", 12, 0), NT_STEP_WHOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(site_without_arguments),
		cmocka_unit_test(site_bounds_calibrations),
		cmocka_unit_test(bounds_of_directories),
		cmocka_unit_test(names_of_profiles_are_looked_up),
		cmocka_unit_test(site_with_all_arguments),
		cmocka_unit_test(later_arguments_win),
		cmocka_unit_test(site_mistakes_are_named),
		cmocka_unit_test(too_long_paths_are_refused),
		cmocka_unit_test(option_lies_over_the_site),
		cmocka_unit_test(option_keeps_to_the_sites_limit),
		cmocka_unit_test(complaints_name_the_source),
		cmocka_unit_test(each_command_has_its_variable),
		cmocka_unit_test(errand_round_trips),
		cmocka_unit_test(steps_have_names),
		cmocka_unit_test(components_are_told_by_the_title),
	};

	return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The argument in plugstack.conf, the user's option, and what nt-recordd is told. */
#include "spank/option.h"

#include <unistd.h>
#include "tests/lib/unit.h"
#include "spank/arguments.h"
#include "spank/step/step-name.h"
#include "site/conf.h"

/* Arguments separated by spaces, as in plugstack.conf. */
static int parse_line(const char *line, const char **conf, bool *given, struct nt_error *err)
{
	static char copy[1024];
	char *words[16];
	char *rest = copy;
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	return nt_line_parse(count, words, conf, given, err);
}

static void the_line_has_at_most_a_file(void **state)
{
	const char *conf;
	struct nt_error err;
	bool given;

	assert_int_equal(parse_line("", &conf, &given, &err), 0);
	assert_string_equal(conf, NT_CONF_FILE);
	assert_false(given);
	assert_int_equal(parse_line("conf=/a conf=/b", &conf, &given, &err), 0);
	assert_string_equal(conf, "/b");
	assert_true(given);
}

static void other_arguments_are_refused(void **state)
{
	static const struct {
		const char *line, *named;
	} cases[] = {
		{ "conf=a", "conf: 'a' (want an absolute path" },
		{ "conf", "'conf' (want conf=PATH, or nothing; " },
		{ "rundri=/tmp", "'rundri=/tmp' (want conf=PATH, or nothing; " },
		{ "conf=/c rundir=/r", "'rundir=/r' (want conf=PATH, or nothing; settings" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct nt_error err = { "" };
		const char *conf;
		bool given;

		assert_int_equal(parse_line(cases[i].line, &conf, &given, &err), -1);
		if (!strstr(err.text, cases[i].named))
			fail_msg("%s: %s", cases[i].line, err.text);
	}
}

static void names_of_profiles_are_looked_up(void **state)
{
	struct nt_site site = { .profiles = "/nonexistent/p" };
	struct nt_error err;
	char path[] = "/tmp/nt-option-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	fputs("[wide]\nNCCL_BUFFSIZE=8M\n", file);
	fclose(file);
	assert_int_equal(nt_option_check_launch(&site, "wild", &err), 0);
	snprintf(site.profiles, sizeof(site.profiles), "%s", path);
	assert_int_equal(nt_option_check_launch(&site, "wide", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "auto", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "off", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "default", &err), 0);
	assert_int_equal(nt_option_check_launch(&site, "wild", &err), -1);
	assert_non_null(strstr(err.text, "no launch profile 'wild' (there are: default wide"));
	unlink(path);
}

static void complaints_name_the_source(void **state)
{
	const struct nt_error reason = { "unknown mode 'x' (want off)" };
	char line[200];

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
	assert_string_equal(nt_option_variable("srun"), "SLURM_NCCL_TUNE");
	assert_string_equal(nt_option_variable("sbatch"), "SBATCH_NCCL_TUNE");
	assert_string_equal(nt_option_variable("salloc"), "SALLOC_NCCL_TUNE");
	assert_null(nt_option_variable("scrontab"));
}

static void arguments_are_whole(void **state)
{
	struct nt_arguments errand = {
		.version = NT_ARGUMENTS_VERSION,
		.job = 4294967295u,
		.step = NT_STEP_BATCH,
		.uid = 1,
		.gid = 2,
		.flags = 3,
		.component = 7,
		.tasks = 4,
		.nodes = 5,
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
		.rundir = "/run/a=b",
		.spool = "/s",
		.record = "admincomment,file:/r",
		.cluster = "c",
		.ticket = "profile=sockets-wide;set=NCCL_BUFFSIZE=8M",
		.cgroups = "/g/slurm/uid_1/job_2/step_0:/g2/s/job_2",
	};
	struct nt_error err;

	memset(errand.hosts, 'n', sizeof(errand.hosts) - 1); /* the longest there is */
	assert_int_equal(nt_arguments_check(&errand, sizeof(errand), &err), 0);
	assert_int_equal(nt_arguments_check(&errand, sizeof(errand) - 1, &err), -1);
	assert_string_equal(err.text, "the step's plugin is of another version");
	errand.hosts[sizeof(errand.hosts) - 1] = 'n'; /* one too long */
	assert_int_equal(nt_arguments_check(&errand, sizeof(errand), &err), -1);
	assert_string_equal(err.text, "a text is empty or too long");
	errand.hosts[0] = '\0';
	assert_int_equal(nt_arguments_check(&errand, sizeof(errand), &err), -1);
	errand.version[0] = '9';
	assert_int_equal(nt_arguments_check(&errand, sizeof(errand), &err), -1);
}

static void steps_have_names(void **state)
{
	char name[NT_STEP_NAME_MAX];

	nt_step_name(0, NT_STEP_WHOLE, name);
	assert_string_equal(name, "0");
	nt_step_name(NT_STEP_BATCH, NT_STEP_WHOLE, name);
	assert_string_equal(name, "batch");
	nt_step_name(4294967295u, 127, name);
	assert_string_equal(name, "4294967295+127");
}

static void components_are_told_by_the_title(void **state)
{
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

UNIT_TESTS(the_line_has_at_most_a_file, other_arguments_are_refused,
	   names_of_profiles_are_looked_up, complaints_name_the_source,
	   each_command_has_its_variable, arguments_are_whole, steps_have_names,
	   components_are_told_by_the_title);

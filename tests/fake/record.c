/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-record - what tests without Slurm need of it: policies for tasks, and the record of a step
 *
 *  nt-record options          every setting with every other value that matters, one a line
 *  nt-record policy DIR OPTION  NCCL_TUNE_POLICY of the tasks of step 1.0 with that option
 *  nt-record step DIR MODE [DIR]...  the step's record from the rank records in DIR, of several
 *                             nodes where there are more, as nt-recordd makes it; how many there
 *                             were is said on stderr
 *  nt-record long DIR OUT     the part of a long form with those rank records, below OUT
 *  nt-record check SCHEMA FILE...  is the JSON in each of the files, one a line, what the schema
 *                             says?
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "contract/policy.h"
#include "record/step.h"
#include "recordd/collect.h"
#include "recordd/longform.h"
#include "spank/step/step-dir.h"
#include "recordd/step-record.h"
#include "tests/lib/schema.h"

#define NODE "n1"

static int fail(const struct nt_error *err)
{
	fprintf(stderr, "nt-record: %s\n", err->text);
	return 1;
}

static int print_option(const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX];

	if (nt_policy_format_option(policy, text, sizeof(text)) < 0)
		return 1;
	return puts(text) < 0;
}

/* All other words of a setting with words; another value of a number or a set. */
static int print_setting(size_t offset, const char *kind, int64_t min, int64_t max, int64_t value)
{
	bool words = strcmp(kind, "NT_ENUM") == 0;
	int64_t other = value > 0 ? value + value / 8 + 1 : max / 10;
	struct nt_policy policy;
	int rc = 0;

	if (strcmp(kind, "NT_SET") == 0)
		other = value & ~INT64_C(1); /* all except one */
	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	if (strcmp(kind, "NT_NAME") == 0) {
		snprintf((char *)&policy + offset, NT_LAUNCH_NAME, "auto");
		return print_option(&policy);
	}
	for (int64_t v = words ? min : other; v <= (words ? max : other) && rc == 0; v++) {
		memcpy((char *)&policy + offset, &v, sizeof(v));
		if (v != value)
			rc = print_option(&policy);
	}
	return rc;
}

static int print_options(void)
{
	int rc = 0;

#define SETTING(key, member, kind, min, max, value, ...) \
	rc |= print_setting(offsetof(struct nt_policy, member), #kind, min, max, value);
	NT_SETTINGS(SETTING)
#undef SETTING
	return rc;
}

static int print_policy(const char *directory, const char *option)
{
	struct nt_place place = { .node = NODE, .fingerprint = 1, .job = 1, .step = 0 };
	char text[NT_POLICY_MAX];
	struct nt_policy policy;
	struct nt_error err;

	nt_policy_default(&policy);
	snprintf(place.dir, sizeof(place.dir), "%s", directory);
	if (nt_policy_parse_option(&policy, option, &err) < 0 ||
	    nt_policy_format_task(&policy, &place, text, sizeof(text), &err) < 0)
		return fail(&err);
	return puts(text) < 0;
}

static int print_step(const char *directory, const char *mode, char *const *others, int count)
{
	const struct nt_sum_head head = { .mode = mode,
					  .nodes = 1 + (uint32_t)count,
					  .final = true };
	char text[NT_STEP_RECORD_MAX + 1] = "";
	struct nt_error err;
	struct nt_sum sum;
	int rc;

	nt_sum_init(&sum);
	rc = nt_collect_directory(&sum, directory, 1, 0, &err);
	for (int i = 0; i < count && rc == 0; i++)
		rc = nt_collect_directory(&sum, others[i], 1, 0, &err);
	if (rc == 0 && nt_sum_format(&sum, &head, text, sizeof(text)) > 0)
		rc = nt_step_check(text, strlen(text), &err);
	fprintf(stderr, "%zu read, %zu unusable%s%s\n", sum.records, sum.unusable,
		sum.unusable ? ": " : "", sum.unusable_why.text);
	nt_sum_fini(&sum);
	return rc < 0 ? fail(&err) : puts(text) < 0;
}

static int write_long(const char *directory, const char *out)
{
	struct nt_arguments errand = {
		.job = 1, .component = NT_STEP_WHOLE, .nodes = 1, .long_mib = 16, .long_parents = 1
	};
	struct nt_ranks ranks;
	int rc;

	snprintf(errand.cluster, sizeof(errand.cluster), "nt");
	snprintf(errand.node, sizeof(errand.node), NODE);
	snprintf(errand.fingerprint, sizeof(errand.fingerprint), "0000000000000001");
	snprintf(errand.long_dir, sizeof(errand.long_dir), "%s", out);
	nt_ranks_read(&ranks, directory);
	rc = nt_longform_write(&errand, true, &ranks, "", STDERR_FILENO);
	nt_ranks_fini(&ranks);
	return rc;
}

static int check_line(json_object *schema, const char *file, const char *line)
{
	json_object *value = json_tokener_parse(line);
	struct nt_error err = { "it is no JSON" };
	int rc = value ? nt_schema_check(schema, value, &err) : -1;

	if (rc < 0)
		fprintf(stderr, "nt-record: %s: %s\n", file, err.text);
	json_object_put(value);
	return rc;
}

static int check_file(json_object *schema, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, lines = 0;
	char *line = NULL;
	int rc = 0;

	while (file && getline(&line, &room, file) > 0) {
		lines++;
		rc |= check_line(schema, path, line);
	}
	if (lines == 0)
		fprintf(stderr, "nt-record: %s: there is nothing in it\n", path);
	free(line);
	if (file)
		fclose(file);
	return lines == 0 || rc != 0;
}

static int check(const char *schema_path, char *const *path, int count)
{
	struct nt_error err = { "" };
	json_object *schema = nt_schema_read(schema_path, &err);
	int rc = schema && count > 0 ? 0 : 1;

	for (int i = 0; schema && i < count; i++)
		rc |= check_file(schema, path[i]);
	json_object_put(schema);
	return rc;
}

int main(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "options") == 0)
		return print_options();
	if (argc == 4 && strcmp(argv[1], "policy") == 0)
		return print_policy(argv[2], argv[3]);
	if (argc >= 4 && strcmp(argv[1], "step") == 0)
		return print_step(argv[2], argv[3], argv + 4, argc - 4);
	if (argc == 4 && strcmp(argv[1], "long") == 0)
		return write_long(argv[2], argv[3]);
	if (argc > 3 && strcmp(argv[1], "check") == 0)
		return check(argv[2], argv + 3, argc - 3);
	fprintf(stderr, "usage: nt-record options | policy DIR OPTION | step DIR MODE [DIR]... | "
			"long DIR OUT | check SCHEMA FILE...\n");
	return 2;
}

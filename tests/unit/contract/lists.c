/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of nccl-tune-record(5) match the tables of fields, and the completion of shells the
 * table of settings (tests/unit/table-file.h). */
#include "contract/policy.h"

#include "tests/lib/unit.h"
#include "lib/file.h"
#include "record/calls-record.h"
#include "record/rank.h"
#include "record/stacks.h"
#include "record/step.h"
#include "tests/unit/table-file.h"

/* ---- the lists of nccl-tune-record(5) */

static const struct {
	const char *name;
	const struct nt_fields *fields;
} lists[] = {
	{ "rank", &nt_rank_fields },
	{ "comm", &nt_rank_comm_fields },
	{ "sampled", &nt_sampled_fields },
	{ "key", &nt_key_fields },
	{ "marker", &nt_rank_marker_fields },
	{ "warm", &nt_rank_warm_fields },
	{ "facts", &nt_facts_fields },
	{ "explored", &nt_explored_fields },
	{ "explored arm", &nt_explored_arm_fields },
	{ "agreement", &nt_agreement_fields },
	{ "step", &nt_step_fields },
	{ "calls", &nt_calls_fields },
	{ "calls comm", &nt_calls_comm_fields },
	{ "calls last", &nt_calls_last_fields },
	{ "stacks", &nt_stacks_fields },
};

static bool has(const struct nt_fields *fields, const struct nt_field *field)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (fields->field[i].offset == field->offset)
			return true;
	}
	return false;
}

/* The forms of keys that do not have it. */
static const char *lacks(const struct nt_fields *fields, const struct nt_field *field)
{
	if (fields != &nt_key_fields)
		return "";
	if (!has(&nt_rank_key_fields, field))
		return " (not in rank records)";
	if (!has(&nt_report_key_fields, field))
		return " (in rank records alone)";
	return has(&nt_short_key_fields, field) ? "" : " (not in step records)";
}

static void print_list(FILE *out, const struct nt_fields *fields)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < fields->count; i++) {
		const struct nt_field *field = &fields->field[i];

		fprintf(out, ".It Li %s\n%s%s%s%s\n", field->name, field->meaning,
			field->unit[0] ? "; in " : "", field->unit, lacks(fields, field));
	}
	fputs(".El\n", out);
}

static bool print_list_named(FILE *out, const char *name)
{
	for (size_t i = 0; i < LENGTH(lists); i++) {
		if (strcmp(name, lists[i].name) != 0)
			continue;
		print_list(out, lists[i].fields);
		return true;
	}
	return false;
}

/* ---- the completion of shells: SETTING=VALUE[,VALUE]..., the default first */

static const char *const *const words_of[] = {
#define WORDS(key, member, kind, min, max, def, words, ...) words,
	NT_SETTINGS(WORDS)
#undef WORDS
};

static void print_values(FILE *out, const struct nt_policy *defaults, unsigned i,
			 const char *const *words)
{
	char value[NT_SETTING_TEXT], domain[NT_SETTING_DOMAIN];
	const char *names;

	nt_setting_format(defaults, i, value);
	fprintf(out, "\t%s=%s", nt_setting_key(i), value);
	for (; words && *words; words++) {
		if (strcmp(*words, value) != 0)
			fprintf(out, ",%s", *words);
	}
	names = strstr(nt_setting_domain(i, domain), "joined by + of ");
	for (names = names ? names + 14 : NULL; names; names = strchr(names + 1, ' '))
		fprintf(out, ",%.*s", (int)strcspn(names + 1, ","), names + 1);
	fputc('\n', out);
}

static bool print_settings(FILE *out, const char *name)
{
	struct nt_policy defaults;

	if (strcmp(name, "settings") != 0)
		return false;
	nt_policy_default(&defaults);
	fputs("_nccl_tune_modes='", out);
	for (const char *const *word = words_of[0]; *word; word++)
		fprintf(out, "%s ", *word);
	fputs("help'\n_nccl_tune_settings='\n", out);
	for (unsigned i = 1; i < NT_SETTING_COUNT; i++)
		print_values(out, &defaults, i, words_of[i]);
	fputs("'\n", out);
	return true;
}

/* ---- files of the source tree with lists in them */

/* A line that begins with begin names a list, which ends before the line end. */
static const struct {
	const char *directory, *name, *suffix, *begin, *end;
	size_t count; /* lists in it */
	bool (*print)(FILE *out, const char *name);
} files[] = {
	{ "docs/man", "nccl-tune-record", ".5", ".\\\" begin list ", ".\\\" end list",
	  LENGTH(lists), print_list_named },
	{ "etc/bash-completion", "nccl-tune", "", "# begin list ", "# end list", 1,
	  print_settings },
};

/* Copies file i from its text, with each list as its table says. */
static void copy_lists(FILE *out, size_t i, const char *text)
{
	size_t found = 0;
	bool left_out = false;

	for (const char *line = text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n"), begin = strlen(files[i].begin);
		char name[64];

		next = line + length + (line[length] == '\n');
		if (strncmp(line, files[i].end, strlen(files[i].end)) == 0)
			left_out = false;
		if (!left_out)
			fwrite(line, 1, (size_t)(next - line), out);
		if (strncmp(line, files[i].begin, begin) != 0)
			continue;
		left_out = true;
		snprintf(name, sizeof(name), "%.*s", (int)(length - begin), line + begin);
		found += files[i].print(out, name);
	}
	assert_int_equal(found, files[i].count);
}

static bool is_as_the_tables_say(size_t i)
{
	const char *top = getenv("top_srcdir");
	char *made = NULL, *kept;
	struct nt_error err;
	char path[512];
	size_t bytes;
	FILE *out;
	bool same;

	snprintf(path, sizeof(path), "%s/%s/%s%s", top ? top : ".", files[i].directory,
		 files[i].name, files[i].suffix);
	assert_int_equal(nt_file_read(path, 1u << 20, &kept, &bytes, &err), 0);
	out = open_memstream(&made, &bytes);
	assert_non_null(out);
	copy_lists(out, i, kept);
	fclose(out);
	same = strcmp(made, kept) == 0;
	if (!same) {
		out = fopen(table_file_path(path, sizeof(path), files[i].directory, files[i].name,
					    files[i].suffix),
			    "w");
		assert_non_null(out);
		fputs(made, out);
		fclose(out);
		print_error("%s/%s%s is not what the tables say: see %s\n", files[i].directory,
			    files[i].name, files[i].suffix, path);
	}
	free(made);
	free(kept);
	return same;
}

static void lists_are_what_the_tables_say(void **state)
{
	bool same = true;

	for (size_t i = 0; i < LENGTH(files); i++)
		same = is_as_the_tables_say(i) && same;
	assert_true(same);
}

UNIT_TESTS(lists_are_what_the_tables_say);

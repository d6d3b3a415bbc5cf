/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-page - pages and their JSON without Slurm
 *
 *  nt-page [FORM] ranks JOB FILE...   of a step's rank records
 *  nt-page [FORM] long JOB DIRECTORY  of a job's long form
 *  nt-page [FORM] text JOB FILE       of a job's record
 *  nt-page made                       of jobs as nt_summary_json() has them, on standard input
 *
 * FORM: what `nccl-tune report` prints of the same, with --json or --prometheus or as text
 * (--report); else the page.
 */
#include <json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"
#include "record/longset.h"
#include "record/sum.h"
#include "report/html/html.h"
#include "cli/report-output.h"

#define FILE_MAX (64u << 20)

static int add_ranks(struct nt_summary *summary, char *file[], struct nt_error *err)
{
	struct nt_step head;
	struct nt_sum sum;
	int rc = 0;

	nt_sum_init(&sum);
	for (; *file && rc == 0; file++) {
		size_t bytes;
		char *text;

		rc = nt_file_read(*file, FILE_MAX, &text, &bytes, err);
		if (rc < 0)
			break;
		rc = nt_sum_add_record(&sum, text, bytes, NT_SUM_ANY, NT_SUM_ANY, err);
		free(text);
	}
	memset(&head, 0, sizeof(head));
	nt_fields_clear(&nt_step_fields, &head);
	snprintf(head.name, sizeof(head.name), "0");
	if (rc == 0)
		rc = nt_summary_add_sum(summary, &sum, &head, err);
	nt_sum_fini(&sum);
	return rc;
}

static int add_text(struct nt_summary *summary, const char *file, struct nt_error *err)
{
	size_t bytes;
	char *text;
	int rc = nt_file_read(file, FILE_MAX, &text, &bytes, err);

	if (rc < 0)
		return -1;
	rc = nt_summary_parse(summary, text, bytes, NULL, err);
	free(text);
	return rc;
}

static int add_long(struct nt_summary *summary, const char *directory, struct nt_error *err)
{
	struct nt_long_set set;
	int rc;

	nt_long_set_init(&set);
	rc = nt_long_set_add(&set, directory, err);
	if (rc == 0) {
		nt_long_set_sort(&set, 0);
		rc = nt_long_set_summary(&set, summary, NULL, NULL, err);
	}
	nt_long_set_fini(&set);
	return rc;
}

static int show(const struct nt_summary *summary, const char *job, enum nt_form form,
		struct nt_error *err)
{
	struct nt_output output;
	int rc = nt_output_open(&output, form, stdout, err);

	if (rc == 0)
		rc = nt_output_add(&output, job, summary, err);
	nt_output_close(&output, rc == 0);
	return rc;
}

static int show_made(struct nt_error *err)
{
	json_object *jobs;
	size_t bytes;
	char *text;
	int rc = nt_file_read("-", FILE_MAX, &text, &bytes, err);

	if (rc < 0)
		return -1;
	jobs = json_tokener_parse(text);
	nt_html_write(stdout, jobs);
	json_object_put(jobs);
	free(text);
	return rc;
}

static int add(struct nt_summary *summary, char **word, int words, struct nt_error *err)
{
	if (words >= 3 && strcmp(word[0], "ranks") == 0)
		return add_ranks(summary, word + 2, err);
	if (words == 3 && strcmp(word[0], "long") == 0)
		return add_long(summary, word[2], err);
	if (words == 3 && strcmp(word[0], "text") == 0)
		return add_text(summary, word[2], err);
	return nt_error_set(err, "usage: see tests/page/page.c");
}

static enum nt_form form_of(const char *word)
{
	static const struct {
		const char *word;
		enum nt_form form;
	} forms[] = {
		{ "--json", NT_FORM_JSON },
		{ "--prometheus", NT_FORM_PROMETHEUS },
		{ "--report", NT_FORM_TEXT },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(word, forms[i].word) == 0)
			return forms[i].form;
	}
	return NT_FORM_HTML;
}

int main(int argc, char *argv[])
{
	enum nt_form form = argc > 1 ? form_of(argv[1]) : NT_FORM_HTML;
	struct nt_summary summary;
	struct nt_error err = { "" };
	int first = 1, rc;

	first += form != NT_FORM_HTML;
	nt_summary_init(&summary);
	if (argc == 2 && strcmp(argv[1], "made") == 0) {
		rc = show_made(&err);
	} else {
		rc = add(&summary, argv + first, argc - first, &err);
		if (rc == 0)
			rc = show(&summary, argv[first + 1], form, &err);
	}
	nt_summary_fini(&summary);
	if (rc < 0)
		fprintf(stderr, "nt-page: %s\n", err.text);
	return rc < 0;
}

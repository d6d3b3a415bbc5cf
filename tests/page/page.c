/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-page - pages and their JSON without Slurm
 *
 *  nt-page [--json] ranks JOB FILE...   of a step's rank records
 *  nt-page [--json] text JOB FILE       of a job's record
 *  nt-page made                         of jobs as nt_html_add() has them, on standard input
 *
 * With --json what `nccl-tune report --json` prints of the same, else the page.
 */
#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/file.h"
#include "record/sum.h"
#include "report/html.h"
#include "report/print.h"

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

static int show(const struct nt_summary *summary, const char *job, bool json, struct nt_error *err)
{
	json_object *array = json_object_new_array();
	int rc = json ? nt_summary_json(array, job, summary, err)
		      : nt_html_add(array, job, summary, err);

	if (rc == 0 && json)
		puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_NOSLASHESCAPE));
	else if (rc == 0)
		nt_html_write(stdout, array);
	json_object_put(array);
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

int main(int argc, char *argv[])
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
	char **word = argv + 1 + json;
	struct nt_summary summary;
	struct nt_error err = { "usage: see tests/page/page.c" };
	int rc = -1;

	nt_summary_init(&summary);
	if (*word && strcmp(*word, "made") == 0)
		rc = show_made(&err);
	else if (argc - json > 3 && strcmp(*word, "ranks") == 0)
		rc = add_ranks(&summary, word + 2, &err);
	else if (argc - json > 3 && strcmp(*word, "text") == 0)
		rc = add_text(&summary, word[2], &err);
	if (rc == 0 && strcmp(*word, "made") != 0)
		rc = show(&summary, word[1], json, &err);
	nt_summary_fini(&summary);
	if (rc < 0)
		fprintf(stderr, "nt-page: %s\n", err.text);
	return rc < 0;
}

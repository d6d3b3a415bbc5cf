/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report-output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/array.h"
#include "lib/json.h"
#include "lib/plural.h"
#include "lib/table.h"
#include "lib/wrap.h"
#include "report/html/html.h"
#include "report/metrics/report-json.h"
#include "report/model/job-figures.h"
#include "report/text/findings.h"
#include "report/text/print.h"

/* ---- several jobs as a table with a line each, and one job in full */

#define LABEL_MAX (NT_JOB_LABEL_MAX + 16) /* with its run */

struct nt_report_line {
	char label[LABEL_MAX];
	bool known; /* to Slurm: name, nodes (0: unknown) and elapsed time */
	char name[64];
	uint32_t nodes;
	int64_t elapsed_s;
	struct nt_job_figures figures;
};

static const char *const columns[] = { "-JOB",	       "-NAME",	      "NODES", "ELAPSED",
				       "STEP\nbefore", "STEP\nafter", "SAVED" };

/* Without a component and a run. */
static bool same_job(const char *a, const char *b)
{
	const size_t bytes = strcspn(a, "+ ");

	return bytes == strcspn(b, "+ ") && strncmp(a, b, bytes) == 0;
}

static int add_full(struct nt_report_list *list, const char *job, const struct nt_summary *summary,
		    struct nt_error *err)
{
	int rc;

	if (!list->out)
		list->out = open_memstream(&list->full, &list->full_bytes);
	if (list->out && list->count > 1)
		fputc('\n', list->out);
	rc = list->out ? nt_summary_print(list->out, job, summary, false, err) : 0;
	if (!list->out || fflush(list->out) != 0)
		return nt_error_set(err, "no memory for the report");
	return rc;
}

static int add_to_list(struct nt_report_list *list, const char *job, const struct nt_jobtext *text,
		       const struct nt_summary *summary, struct nt_error *err)
{
	struct nt_report_line *line = nt_array_add(&list->lines, &list->count, SIZE_MAX,
						   sizeof(*line));

	if (!line)
		return nt_error_set(err, "no memory for the list of jobs");
	line->known = text != NULL;
	snprintf(line->label, sizeof(line->label), "%s", job ? job : "");
	if (text) {
		snprintf(line->name, sizeof(line->name), "%.63s", text->name);
		line->nodes = text->nodes;
		line->elapsed_s = text->elapsed_s;
	}
	nt_job_figures_make(&line->figures, summary);
	list->several |= !same_job(list->lines[0].label, line->label);
	if (list->count <= 2 && nt_two_jobs_add(&list->two, list->count == 2, summary, err) < 0)
		return -1;
	return list->several ? 0 : add_full(list, job, summary, err);
}

/* As sacct prints it. */
static void add_elapsed(struct nt_table *table, int64_t elapsed_s)
{
	const int64_t days = elapsed_s / 86400;
	char text[32] = "";

	if (days > 0)
		nt_append(text, sizeof(text), "%" PRId64 "-", days);
	nt_cell(table, "%s%02d:%02d:%02d", text, (int)(elapsed_s / 3600 % 24),
		(int)(elapsed_s / 60 % 60), (int)(elapsed_s % 60));
}

static void add_step(struct nt_table *table, double us)
{
	char text[32];

	nt_cell(table, "%s", !(us > 0) ? "-" : nt_time_text(us, text, sizeof(text)));
}

static void add_line(struct nt_table *table, const struct nt_report_line *line)
{
	char text[32];

	nt_cell(table, "%.18s", line->label);
	nt_cell(table, "%.16s", line->known ? line->name : "-");
	nt_cell_count(table, line->nodes > 0 ? line->nodes : line->figures.nodes);
	if (line->known)
		add_elapsed(table, line->elapsed_s);
	else
		nt_cell(table, "-");
	add_step(table, line->figures.gain.without_us);
	add_step(table, line->figures.gain.step_us);
	nt_cell(table, "%s", nt_duration_text(line->figures.gain.net_ms, text, sizeof(text)));
}

/* Components and runs of a job have lines, but count once. */
static size_t count_jobs(const struct nt_report_list *list)
{
	size_t jobs = 0;

	for (size_t i = 0; i < list->count; i++) {
		size_t j = 0;

		while (!same_job(list->lines[j].label, list->lines[i].label))
			j++;
		jobs += i == j;
	}
	return jobs;
}

static void add_sum(struct nt_table *table, const struct nt_report_list *list)
{
	const size_t jobs = count_jobs(list);
	double net_ms = 0;
	int64_t elapsed_s = 0;
	char text[32];

	for (size_t i = 0; i < list->count; i++) {
		net_ms += list->lines[i].figures.gain.net_ms;
		elapsed_s += list->lines[i].elapsed_s;
	}
	nt_cell(table, "%zu job%s", jobs, nt_plural(jobs));
	nt_cell(table, "%s", "");
	nt_cell(table, "%s", "");
	if (elapsed_s > 0)
		add_elapsed(table, elapsed_s);
	else
		nt_cell(table, "-");
	nt_cell(table, "%s", "");
	nt_cell(table, "%s", "");
	nt_cell(table, "%s", nt_duration_text(net_ms, text, sizeof(text)));
}

static void print_table(FILE *out, const struct nt_report_list *list)
{
	struct nt_table table = NT_TABLE(columns, 0);

	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < list->count; i++)
		add_line(&table, &list->lines[i]);
	add_sum(&table, list);
	if (nt_table_print(out, &table, NULL) == 0)
		nt_wrap(out, "", 0,
			"STEP: median time of the program's own step; before: with NCCL's own "
			"settings, if a launch profile was measured. SAVED: net time, what calls "
			"saved less what exploring and calibrating cost. For all of a job: "
			"nccl-tune report JOB; of all jobs: --full.");
}

static void print_list(FILE *out, const struct nt_report_list *list)
{
	if (list->several)
		print_table(out, list);
	if (list->several && list->count == 2) {
		fprintf(out, "\nA: job %s\nB: job %s\n\n", list->lines[0].label,
			list->lines[1].label);
		nt_two_jobs_print(out, &list->two, NULL);
	} else if (list->full_bytes > 0) {
		fwrite(list->full, 1, list->full_bytes, out);
	}
}

static void free_list(struct nt_report_list *list)
{
	if (list->out)
		fclose(list->out);
	nt_two_jobs_fini(&list->two);
	free(list->lines);
	free(list->full);
	*list = (struct nt_report_list){ .count = 0 };
}

/* ---- all formats */

int nt_output_open(struct nt_output *output, enum nt_form form, FILE *out, struct nt_error *err)
{
	memset(output, 0, sizeof(*output));
	output->form = form;
	output->out = out;
	if (form == NT_FORM_JSON || form == NT_FORM_HTML)
		output->array = json_object_new_array();
	else
		return 0;
	if (!output->array)
		return nt_error_set(err, "no memory for the report");
	return 0;
}

static int add_json(struct nt_output *output, const char *job, const struct nt_summary *summary,
		    struct nt_error *err)
{
	int rc = nt_summary_json(output->array, job, summary, err);

	return rc == 0 && output->text ? nt_job_json(output->array, output->text, err) : rc;
}

int nt_output_add(struct nt_output *output, const char *job, const struct nt_summary *summary,
		  struct nt_error *err)
{
	output->jobs++;
	switch (output->form) {
	case NT_FORM_JSON:
	case NT_FORM_HTML: return add_json(output, job, summary, err);
	case NT_FORM_PROMETHEUS: return nt_samples_add(&output->samples, job, summary, err);
	case NT_FORM_TEXT: break;
	}
	if (output->findings) {
		if (job)
			fprintf(output->out, "%sJob %s\n", output->jobs > 1 ? "\n" : "", job);
		if (nt_findings_print(output->out, summary, SIZE_MAX) == 0)
			fputs("Nothing was found.\n", output->out);
		return 0;
	}
	if (output->brief)
		return add_to_list(&output->list, job, output->text, summary, err);
	if (output->jobs > 1)
		fputc('\n', output->out);
	return nt_summary_print(output->out, job, summary, true, err);
}

static void print_json(const struct nt_output *output)
{
	int rc = 0;
	json_object *report = nt_json_object(&rc);

	nt_json_integer(report, "v", NT_REPORT_VERSION, &rc);
	nt_json_add(report, "jobs", json_object_get(output->array), &rc);
	nt_json_print(output->out, report);
	json_object_put(report);
}

void nt_output_close(struct nt_output *output, bool good)
{
	if (output->brief && !output->findings)
		print_list(output->out, &output->list);
	else if (good && output->form == NT_FORM_JSON)
		print_json(output);
	else if (good && output->form == NT_FORM_HTML)
		nt_html_write(output->out, output->array);
	else if (good && output->form == NT_FORM_PROMETHEUS)
		nt_samples_print(output->out, &output->samples);
	json_object_put(output->array);
	free_list(&output->list);
	nt_samples_fini(&output->samples);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report-output.h"

#include <string.h>
#include "lib/json.h"
#include "report/html/html.h"
#include "report/text/print.h"
#include "report/metrics/csv.h"
#include "report/metrics/report-json.h"

int nt_output_open(struct nt_output *output, enum nt_form form, FILE *out, struct nt_error *err)
{
	memset(output, 0, sizeof(*output));
	output->form = form;
	output->out = out;
	if (form == NT_FORM_JSON || form == NT_FORM_CSV || form == NT_FORM_HTML)
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
	case NT_FORM_CSV:
	case NT_FORM_HTML: return add_json(output, job, summary, err);
	case NT_FORM_PROMETHEUS: return nt_samples_add(&output->samples, job, summary, err);
	case NT_FORM_TEXT: break;
	}
	if (output->brief)
		return nt_report_list_add(&output->list, job, output->text, summary, err);
	if (output->jobs > 1)
		fputc('\n', output->out);
	return nt_summary_print(output->out, job, summary, err);
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
	if (output->brief)
		nt_report_list_print(output->out, &output->list);
	else if (good && output->form == NT_FORM_JSON)
		print_json(output);
	else if (good && output->form == NT_FORM_CSV)
		nt_values_print(output->out, output->array);
	else if (good && output->form == NT_FORM_HTML)
		nt_html_write(output->out, output->array);
	else if (good && output->form == NT_FORM_PROMETHEUS)
		nt_samples_print(output->out, &output->samples);
	json_object_put(output->array);
	nt_report_list_fini(&output->list);
	nt_samples_fini(&output->samples);
}

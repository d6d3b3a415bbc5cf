/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - see output.h */
#include "report/output.h"

#include <string.h>
#include "report/html.h"
#include "report/print.h"
#include "report/values.h"

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

int nt_output_add(struct nt_output *output, const char *job, const struct nt_summary *summary,
		  struct nt_error *err)
{
	output->jobs++;
	switch (output->form) {
	case NT_FORM_JSON:
	case NT_FORM_CSV: return nt_summary_json(output->array, job, summary, err);
	case NT_FORM_HTML: return nt_html_add(output->array, job, summary, err);
	case NT_FORM_PROMETHEUS: return nt_samples_add(&output->samples, job, summary, err);
	case NT_FORM_TEXT: break;
	}
	if (output->jobs > 1)
		fputc('\n', output->out);
	return nt_summary_print(output->out, job, summary, err);
}

void nt_output_close(struct nt_output *output, bool good)
{
	if (good && output->form == NT_FORM_JSON)
		fprintf(output->out, "%s\n",
			json_object_to_json_string_ext(output->array,
						       JSON_C_TO_STRING_PRETTY |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	else if (good && output->form == NT_FORM_CSV)
		nt_values_print(output->out, output->array);
	else if (good && output->form == NT_FORM_HTML)
		nt_html_write(output->out, output->array);
	else if (good && output->form == NT_FORM_PROMETHEUS)
		nt_samples_print(output->out, &output->samples);
	json_object_put(output->array);
	nt_samples_fini(&output->samples);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-output.h - print jobs' summaries in one of the formats of `nccl-tune report`
 *
 * Open it, add a summary for each job, close it. Full text is written immediately, all other
 * formats when it is closed, or not at all.
 *
 * Threads:  one at a time.
 * Memory:   nt_output_close frees all; summaries are not kept.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_OUTPUT_H
#define NT_OUTPUT_H

#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/error.h"
#include "record/job-summary.h"
#include "report/metrics/prometheus.h"
#include "report/model/jobtext.h"
#include "report/text/two-jobs.h"

enum nt_form { NT_FORM_TEXT, NT_FORM_JSON, NT_FORM_PROMETHEUS, NT_FORM_HTML };

/* As text without --full: the output depends on whether the summaries are of more than one job. The
 * components and runs of a job, which have labels such as 12+1 and "12 (run 1)", are one job. */
struct nt_report_list {
	struct nt_report_line *lines;
	size_t count;
	bool several; /* jobs */
	struct nt_two_jobs two; /* the first two */
	FILE *out; /* writes to full */
	char *full; /* text of one job */
	size_t full_bytes;
};

struct nt_output {
	enum nt_form form;
	bool findings; /* as text: these alone */
	bool brief; /* as text: several jobs are a line each, printed at the close */
	FILE *out;
	size_t jobs; /* that were added */
	const struct nt_jobtext *text; /* what Slurm knows of the next one; NULL: nothing */
	json_object *array;
	struct nt_samples samples;
	struct nt_report_list list;
};

int nt_output_open(struct nt_output *output, enum nt_form form, FILE *out, struct nt_error *err);
/* job: as nt_summary_print. */
int nt_output_add(struct nt_output *output, const char *job, const struct nt_summary *summary,
		  struct nt_error *err);
/* good: everything was added; otherwise only text is written. */
void nt_output_close(struct nt_output *output, bool good);

#endif

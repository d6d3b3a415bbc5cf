/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report-options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_page(void *argument, const char *text)
{
	struct nt_request *request = argument;

	request->form = NT_FORM_HTML;
	request->page = text;
	return 0;
}

const struct nt_option nt_request_options[] = {
	{ "since", 'S', "Your jobs that ran at or after TIME, in a format of sacct",
	  NT_TEXT(struct nt_request, jobs.span.since, "TIME") },
	{ "until", 'E', "Jobs that ran before TIME",
	  NT_TEXT(struct nt_request, jobs.span.until, "TIME") },
	{ "user", 'u', "Jobs of these users", NT_TEXT(struct nt_request, jobs.span.user, "LIST") },
	{ "partition", 'p', "Only jobs in these partitions",
	  NT_TEXT(struct nt_request, jobs.span.partition, "LIST") },
	{ "full", 0, "Print the full report even of several jobs",
	  NT_FLAG(struct nt_request, full) },
	{ "follow", 0, "Print the summary of a running job whenever it changes, until the job ends",
	  NT_FLAG(struct nt_request, follow) },
	{ "json", 'j', "Print JSON for programs, see nccl-tune(1)",
	  NT_CHOICE(struct nt_request, form, NT_FORM_JSON) },
	{ "csv", 0, "Print comma-separated values (RFC 4180)",
	  NT_CHOICE(struct nt_request, form, NT_FORM_CSV) },
	{ "html", 0,
	  "Write a page for a browser (default: nccl-tune-JOB.html; --html=- for standard output)",
	  NT_TAKE(take_page, "FILE.html"), .optional = true },
	{ "prometheus", 0, "Print metrics for the textfile collector of Prometheus' node exporter",
	  NT_CHOICE(struct nt_request, form, NT_FORM_PROMETHEUS) },
	{ "file", 'f', "Read the record from FILE (-: standard input)",
	  NT_TEXT(struct nt_request, file, "FILE") },
	{ "spool", 's',
	  "Directory of records that are not in accounting yet (root; default: the site's, or " NT_SPOOL_DIR
	  ")",
	  NT_TEXT(struct nt_request, spool, "DIRECTORY") },
	{ 0 },
};

/* No job has such a name, so FILE may be a separate word after --html. */
static bool is_page(const char *word)
{
	size_t length = strlen(word);

	return length > 5 && strcmp(word + length - 5, ".html") == 0;
}

void nt_request_name_page(struct nt_request *request)
{
	char label[NT_JOB_LABEL_MAX];

	if (request->form != NT_FORM_HTML || request->page)
		return;
	snprintf(request->page_name, sizeof(request->page_name), "nccl-tune-%s.html",
		 request->has_id && (request->newest || nt_joblist_is_one(&request->jobs))
			 ? nt_jobid_text(&request->id, label, sizeof(label))
			 : "report");
	request->page = request->page_name;
}

/* No job is named. */
static int take_own_job(struct nt_request *request, struct nt_error *err)
{
	const char *job = getenv("SLURM_JOB_ID"), *array = getenv("SLURM_ARRAY_JOB_ID");
	const char *task = getenv("SLURM_ARRAY_TASK_ID");
	char text[64];

	request->own = job && job[0];
	request->newest = !request->own;
	if (request->newest)
		return 0;
	if (array && task) /* SLURM_JOB_ID of one task is the array's number */
		snprintf(text, sizeof(text), "%s_%s", array, task);
	else
		snprintf(text, sizeof(text), "%s", job);
	return nt_joblist_add(&request->jobs, text, err);
}

int nt_request_take_jobs(struct nt_request *request, char *argv[])
{
	struct nt_error err;

	for (; *argv; argv++) {
		if (request->form == NT_FORM_HTML && !request->page && is_page(*argv))
			request->page = *argv;
		else if (nt_joblist_add(&request->jobs, *argv, &err) < 0)
			return nt_command_misuse("%s", err.text);
	}
	if (nt_joblist_is_empty(&request->jobs) && !request->file &&
	    take_own_job(request, &err) < 0)
		return nt_command_misuse("SLURM_JOB_ID: %s", err.text);
	if (request->file && !nt_joblist_is_empty(&request->jobs) &&
	    !nt_joblist_is_one(&request->jobs))
		return nt_command_misuse("--file takes one job");
	if (request->follow && (!nt_joblist_is_one(&request->jobs) || request->file ||
				request->full || request->form != NT_FORM_TEXT))
		return nt_command_misuse("--follow takes one job, and no other option");
	request->has_id = request->jobs.count > 0;
	if (request->has_id)
		request->id = request->jobs.ranges[0].first;
	return NT_EXIT_OK;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Options, and behind them jobs. */
#include "cli/report-options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct nt_request *request = state->input;

	switch (key) {
	case 'j': request->form = NT_FORM_JSON; return 0;
	case NT_LONG('c'): request->form = NT_FORM_CSV; return 0;
	case NT_LONG('P'): request->form = NT_FORM_PROMETHEUS; return 0;
	case NT_LONG('H'):
		request->form = NT_FORM_HTML;
		request->page = arg;
		return 0;
	case NT_LONG('F'): request->full = true; return 0;
	case 'f': request->file = arg; return 0;
	case 's': request->spool = arg; return 0;
	case 'S': request->jobs.span.since = arg; return 0;
	case 'E': request->jobs.span.until = arg; return 0;
	case 'u': request->jobs.span.user = arg; return 0;
	case 'p': request->jobs.span.partition = arg; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "since", 'S', "TIME", 0, "Your jobs that ran at or after TIME, in a format of sacct", 0 },
	{ "until", 'E', "TIME", 0, "Jobs that ran before TIME", 0 },
	{ "user", 'u', "LIST", 0, "Jobs of these users", 0 },
	{ "partition", 'p', "LIST", 0, "Only jobs in these partitions", 0 },
	{ "full", NT_LONG('F'), NULL, 0, "Print the full report even of several jobs", 0 },
	{ "json", 'j', NULL, 0, "Print JSON for programs, see nccl-tune(1)", 0 },
	{ "csv", NT_LONG('c'), NULL, 0, "Print comma-separated values (RFC 4180)", 0 },
	{ "html", NT_LONG('H'), "FILE.html", OPTION_ARG_OPTIONAL,
	  "Write a page for a browser (default: nccl-tune-JOB.html; --html=- for standard output)",
	  0 },
	{ "prometheus", NT_LONG('P'), NULL, 0,
	  "Print metrics for the textfile collector of Prometheus' node exporter", 0 },
	{ "file", 'f', "FILE", 0, "Read the record from FILE (-: standard input)", 0 },
	{ "spool", 's', "DIRECTORY", 0,
	  "Directory of records that are not in accounting yet (root; default: the site's, or " NT_SPOOL_DIR
	  ")",
	  0 },
	{ 0 },
};

const struct argp nt_request_argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "[JOBS...]\n--since TIME\n--file FILE [JOB[.STEP]]",
	.doc = "Show how a job was tuned, from its record in accounting: a summary, and a table with "
	       "one line per collective and size, with the reason and what to do. Several jobs are "
	       "shown as one line each.\n\n"
	       "Without JOBS, show the current job; outside of jobs, your newest job of the last 30 "
	       "days that has a record.\n\n"
	       "JOBS is JOB[.STEP] or FIRST-LAST (4711-4720, 4711_3-7), several separated by commas or "
	       "spaces. JOB is a job id, an array task (12_3) or a component of a heterogeneous job "
	       "(12+1). The id of a whole array or heterogeneous job shows all of its tasks or "
	       "components."
	       "\vExit status: 0 if all was shown, 1 if there is no record or a part of it is missing "
	       "(the reason is on stderr), 2 for a usage error.",
};

/* No job is called so: FILE may stand behind --html as a word of its own. */
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

/* Where none is named. */
static int take_own_job(struct nt_request *request, struct nt_error *err)
{
	const char *job = getenv("SLURM_JOB_ID"), *array = getenv("SLURM_ARRAY_JOB_ID");
	const char *task = getenv("SLURM_ARRAY_TASK_ID");
	char text[64];

	request->own = job && job[0];
	request->newest = !request->own;
	if (request->newest)
		return 0;
	if (array && task) /* one of the tasks has the array's own number */
		snprintf(text, sizeof(text), "%s_%s", array, task);
	else
		snprintf(text, sizeof(text), "%s", job);
	return nt_joblist_add(&request->jobs, text, err);
}

/* Which jobs, behind the options. */
static int take_jobs(struct nt_request *request, int first, int argc, char *argv[])
{
	struct nt_error err;

	for (int i = first; i < argc; i++) {
		if (request->form == NT_FORM_HTML && !request->page && is_page(argv[i]))
			request->page = argv[i];
		else if (nt_joblist_add(&request->jobs, argv[i], &err) < 0)
			return nt_command_misuse("%s", err.text);
	}
	if (nt_joblist_is_empty(&request->jobs) && !request->file &&
	    take_own_job(request, &err) < 0)
		return nt_command_misuse("SLURM_JOB_ID: %s", err.text);
	if (request->file && !nt_joblist_is_empty(&request->jobs) &&
	    !nt_joblist_is_one(&request->jobs))
		return nt_command_misuse("--file takes one job");
	request->has_id = request->jobs.count > 0;
	if (request->has_id)
		request->id = request->jobs.ranges[0].first;
	return NT_EXIT_OK;
}

int nt_request_parse(struct nt_request *request, const struct nt_record_places *places, int argc,
		     char *argv[])
{
	int first, status;

	*request = (struct nt_request){ .spool = places->spool };
	status = nt_command_parse(&nt_command_report, argc, argv, request, &first);
	if (status != NT_COMMAND_GO)
		return status;
	status = take_jobs(request, first, argc, argv);
	return status == NT_EXIT_OK ? NT_COMMAND_GO : status;
}

void nt_request_fini(struct nt_request *request)
{
	nt_joblist_fini(&request->jobs);
}

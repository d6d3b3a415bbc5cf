/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Options, and behind them jobs. */
#include "report/request.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "report/command.h"

static int take_option(struct nt_request *request, int option, char *argv[])
{
	switch (option) {
	case 'j': request->form = NT_FORM_JSON; return NT_EXIT_OK;
	case 'c': request->form = NT_FORM_CSV; return NT_EXIT_OK;
	case 'P': request->form = NT_FORM_PROMETHEUS; return NT_EXIT_OK;
	case 'H':
		request->form = NT_FORM_HTML;
		request->page = optarg;
		return NT_EXIT_OK;
	case 'f': request->file = optarg; return NT_EXIT_OK;
	case 's': request->spool = optarg; return NT_EXIT_OK;
	case 'S': request->jobs.span.since = optarg; return NT_EXIT_OK;
	case 'E': request->jobs.span.until = optarg; return NT_EXIT_OK;
	case 'u': request->jobs.span.user = optarg; return NT_EXIT_OK;
	case 'p': request->jobs.span.partition = optarg; return NT_EXIT_OK;
	case 'h': request->help = true; return NT_EXIT_OK;
	default: return nt_command_misuse_option(&nt_command_report, option, argv);
	}
}

/* No job is called so: FILE may stand behind --html as a word of its own. */
static bool is_page(const char *word)
{
	size_t length = strlen(word);

	return length > 5 && strcmp(word + length - 5, ".html") == 0;
}

static void name_page(struct nt_request *request)
{
	char label[NT_JOB_LABEL_MAX];

	if (request->form != NT_FORM_HTML || request->page)
		return;
	snprintf(request->page_name, sizeof(request->page_name), "nccl-tune-%s.html",
		 request->has_id && nt_joblist_is_one(&request->jobs)
			 ? nt_jobid_text(&request->id, label, sizeof(label))
			 : "report");
	request->page = request->page_name;
}

/* Which jobs, behind the options. */
static int take_jobs(struct nt_request *request, int argc, char *argv[])
{
	struct nt_error err;

	for (int i = optind; i < argc; i++) {
		if (request->form == NT_FORM_HTML && !request->page && is_page(argv[i]))
			request->page = argv[i];
		else if (nt_joblist_add(&request->jobs, argv[i], &err) < 0)
			return nt_command_misuse(&nt_command_report, "%s", err.text);
	}
	if (nt_joblist_is_empty(&request->jobs) && !request->file)
		return nt_command_misuse(&nt_command_report, "which job?");
	if (request->file && !nt_joblist_is_empty(&request->jobs) &&
	    !nt_joblist_is_one(&request->jobs))
		return nt_command_misuse(&nt_command_report, "a file is of one job");
	request->has_id = request->jobs.count > 0;
	if (request->has_id)
		request->id = request->jobs.ranges[0].first;
	name_page(request);
	return NT_EXIT_OK;
}

int nt_request_parse(struct nt_request *request, const struct nt_record_places *places, int argc,
		     char *argv[])
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "prometheus", no_argument, NULL, 'P' },
		{ "html", optional_argument, NULL, 'H' },
		{ "file", required_argument, NULL, 'f' },
		{ "spool", required_argument, NULL, 's' },
		{ "since", required_argument, NULL, 'S' },
		{ "until", required_argument, NULL, 'E' },
		{ "user", required_argument, NULL, 'u' },
		{ "partition", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int status = NT_EXIT_OK;
	int option;

	*request = (struct nt_request){ .spool = places->spool };
	opterr = 0;
	while (status == NT_EXIT_OK && !request->help &&
	       (option = getopt_long(argc, argv, ":jf:s:S:E:u:p:h", options, NULL)) != -1)
		status = take_option(request, option, argv);
	if (status == NT_EXIT_OK && !request->help)
		status = take_jobs(request, argc, argv);
	return status;
}

void nt_request_fini(struct nt_request *request)
{
	nt_joblist_fini(&request->jobs);
}

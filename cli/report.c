/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune report: show what a job tuned and gained. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/answer.h"
#include "cli/report-follow.h"

/* ---- what is asked for */

/* No job has such a name, so FILE may be a separate word after --html. */
static bool is_page(const char *word)
{
	size_t length = strlen(word);

	return length > 5 && strcmp(word + length - 5, ".html") == 0;
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

/* From the arguments; without any, one is chosen. NT_EXIT_OK, or an exit status of misuse. */
static int take_jobs(struct nt_request *request, char *argv[])
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

/* ---- the answer */

static void explain_nothing(const struct nt_answer *answer)
{
	const struct nt_request *request = answer->request;
	char label[NT_JOB_LABEL_MAX];

	if (request->file) {
		nt_command_complain("%s contains no record%s%s", request->file,
				    request->id.step[0] ? " of step " : "", request->id.step);
		return;
	}
	if (request->newest) {
		nt_command_complain(
			"none of your %zu jobs of the last 30 days has a record (name a "
			"job that has just ended by its number)",
			answer->known);
		return;
	}
	if (!nt_joblist_is_one(&request->jobs) && answer->known == 0) {
		if (answer->missing == 0)
			nt_command_complain(
				"no such job in accounting (one that has just ended may take "
				"some seconds to appear)");
		return;
	}
	if (!nt_joblist_is_one(&request->jobs)) {
		nt_command_complain("none of %zu jobs has a record%s%s", answer->known,
				    request->id.step[0] ? " of step " : "", request->id.step);
		return;
	}
	if (answer->known == 0)
		return; /* already reported as missing */
	if (answer->unreadable > 0)
		return; /* likewise */
	nt_jobid_text(&request->id, label, sizeof(label));
	nt_command_complain("job %s has no record%s%s", label,
			    request->id.step[0] ? " of step " : "", request->id.step);
	if (answer->other > 0)
		fputs("  Its AdminComment contains another program's text. The record may wait "
		      "on the step's first node, readable\n  by root only: 'nccl-tune backfill' "
		      "there writes it to where you can read it, if nccl-tune.conf names\n  "
		      "another place ('record = admincomment file:DIRECTORY'). Ask an "
		      "administrator.\n",
		      stderr);
	else if (answer->running > 0)
		fputs("  It has not ended: a record appears with the first decision, and at the end of each "
		      "step.\n",
		      stderr);
	else
		fputs("  Tuning may have been off, no step may have run NCCL, NCCL_TUNER_PLUGIN and "
		      "NCCL_PROFILER_PLUGIN may\n  both have been 'none', or this site keeps no records.\n",
		      stderr);
}

/* ---- the page */

/* The page's default name, once the job is known. */
static void name_page(struct nt_request *request)
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

/* The user did not choose this name, so a link or somebody else's file there must not be used. */
static int open_by_default(const char *name, struct nt_error *err)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	struct stat status;

	if (fd < 0)
		return nt_error_set(err, "%s: %s", name,
				    errno == ELOOP ? "it is a link" : strerror(errno));
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
	    status.st_uid == geteuid() && ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	return nt_error_set(err, "%s is not your file: choose another with --html=FILE", name);
}

/* Opens the page if there is something to show and it does not go to standard output. */
static int open_page(struct nt_answer *answer, struct nt_error *err)
{
	const struct nt_request *request = answer->request;
	FILE *page;
	int fd;

	if (request->form != NT_FORM_HTML || answer->shown == 0 || strcmp(request->page, "-") == 0)
		return 0;
	if (request->page == request->page_name) {
		fd = open_by_default(request->page, err);
		if (fd < 0)
			return -1;
		page = fdopen(fd, "w");
	} else {
		page = fopen(request->page, "we");
	}
	if (!page)
		return nt_error_set(err, "%s: %s", request->page, strerror(errno));
	answer->output.out = page;
	return 0;
}

static int close_page(struct nt_answer *answer, struct nt_error *err)
{
	const char *name = answer->request->page;
	FILE *page = answer->output.out;
	int failed = 0;

	if (page == stdout)
		return 0;
	failed |= ferror(page);
	failed |= fclose(page);
	if (failed)
		return nt_error_set(err, "%s could not be written in full", name);
	printf("The page is in %s: open it in a browser.\n", name);
	return 0;
}

/* ---- the whole */

static int report(struct nt_request *request)
{
	struct nt_answer answer = { .request = request };
	struct nt_error err;
	int rc = nt_output_open(&answer.output, request->form, stdout, &err);

	answer.output.findings = request->findings;
	answer.output.brief = request->form == NT_FORM_TEXT && !request->full;
	if (rc == 0)
		rc = nt_answer_find(&answer, &err);
	name_page(request);
	if (rc == 0)
		rc = open_page(&answer, &err);
	if (rc == 0 && answer.shown == 0)
		explain_nothing(&answer);
	nt_output_close(&answer.output,
			rc == 0 && (request->form != NT_FORM_HTML || answer.shown > 0));
	if (rc == 0)
		rc = close_page(&answer, &err);
	if (rc < 0)
		nt_command_complain("%s", err.text);
	return rc < 0 || answer.shown == 0 || answer.partial || answer.missing > 0 ? NT_EXIT_FAILED
										   : NT_EXIT_OK;
}

static int run(void *argument, char *argv[])
{
	struct nt_request *request = argument;
	int status = take_jobs(request, argv);
	struct nt_error err;

	if (status == NT_EXIT_OK && request->follow)
		status = nt_command_status(nt_report_follow(&request->id, &err), &err);
	else if (status == NT_EXIT_OK)
		status = report(request);
	nt_joblist_fini(&request->jobs);
	return status;
}

static int take_page(void *argument, const char *text)
{
	struct nt_request *request = argument;

	request->form = NT_FORM_HTML;
	request->page = text;
	return 0;
}

static const struct nt_option options[] = {
	{ "since", 'S', "Your jobs that ran at or after TIME, in a format of sacct",
	  NT_TEXT(struct nt_request, jobs.span.since, "TIME") },
	{ "until", 'E', "Jobs that ran before TIME",
	  NT_TEXT(struct nt_request, jobs.span.until, "TIME") },
	{ "user", 'u', "Jobs of these users", NT_TEXT(struct nt_request, jobs.span.user, "LIST") },
	{ "partition", 'p', "Only jobs in these partitions",
	  NT_TEXT(struct nt_request, jobs.span.partition, "LIST") },
	{ "full", 0,
	  "Print the full report: every row with its reason and what to do; of several jobs, too",
	  NT_FLAG(struct nt_request, full) },
	{ "findings", 0, "Print only what is wrong with the set-up of the job's steps",
	  NT_FLAG(struct nt_request, findings) },
	{ "follow", 0, "Print the summary of a running job whenever it changes, until the job ends",
	  NT_FLAG(struct nt_request, follow) },
	{ "json", 'j', "Print JSON for programs, see nccl-tune(1)",
	  NT_CHOICE(struct nt_request, form, NT_FORM_JSON) },
	{ "html", 0,
	  "Write a page for a browser (default: nccl-tune-JOB.html; --html=- for standard output)",
	  NT_TAKE(take_page, "FILE.html"), .optional = true },
	{ "prometheus", 0, "Print metrics for the textfile collector of Prometheus' node exporter",
	  NT_CHOICE(struct nt_request, form, NT_FORM_PROMETHEUS) },
	{ "file", 'f', "Read the record from FILE (-: standard input)",
	  NT_TEXT(struct nt_request, file, "FILE") },
	{ 0 },
};

const struct nt_command nt_command_report = {
	.name = "report",
	.summary = "show what was tuned in a job, and how much time that saved",
	.options = options,
	.usage = "[JOBS...]\n--follow [JOB[.STEP]]\n--since TIME\n--file FILE [JOB[.STEP]]",
	.doc = "Show how a job was tuned, from its record in accounting: a summary, and a table with "
	       "one line per collective and size, with the reason and what to do. Several jobs are "
	       "shown as one line each, two also side by side.\n\n"
	       "Without JOBS, show the current job; outside of jobs, your newest job of the last 30 "
	       "days that has a record.\n\n"
	       "JOBS is JOB[.STEP] or FIRST-LAST (4711-4720, 4711_3-7), several separated by commas or "
	       "spaces. JOB is a job id, an array task (12_3) or a component of a heterogeneous job "
	       "(12+1). The id of a whole array or heterogeneous job shows all of its tasks or "
	       "components."
	       "\vExit status: 0 if all was shown, 1 if there is no record or a part of it is missing "
	       "(the reason is on stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct nt_request),
	.run = run,
	.arguments = NT_ANY_NUMBER,
};

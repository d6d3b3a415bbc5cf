/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune summary: what tuning gained and cost, over all jobs of a time. */
#include "cli/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/file.h"
#include "report/model/sacct-jobs.h"
#include "report/model/site-config.h"
#include "report/summary/finding-stats.h"
#include "report/summary/stats-print.h"
#include "lib/when.h"

#define FILE_MODE 0644 /* the collector is another user */

struct settings {
	struct nt_sacct_jobs_query query;
	const char *since, *until;
	const char *file; /* NULL: stdout */
	bool findings; /* in place of what tuning gained */
	enum form { TEXT, JSON, PROMETHEUS } form;
};

static int (*const printers[])(FILE *out, const struct nt_site_stats_view *view,
			       struct nt_error *err) = {
	[TEXT] = nt_site_stats_text,
	[JSON] = nt_site_stats_json,
	[PROMETHEUS] = nt_site_stats_prometheus,
};

static int add_job(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	return nt_site_stats_add(argument, job, err);
}

static int add_finding(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	return nt_finding_stats_add(argument, job, err);
}

static int print_findings(FILE *out, const struct nt_finding_stats *stats, enum form form,
			  struct nt_error *err)
{
	if (form == JSON)
		return nt_finding_stats_json(out, stats, err);
	if (form == PROMETHEUS)
		nt_finding_stats_prometheus(out, stats);
	else
		nt_finding_stats_text(out, stats);
	return 0;
}

/* One of the two. */
struct printed {
	const struct nt_site_stats_view *view;
	const struct nt_finding_stats *findings;
};

static int print(FILE *out, const struct settings *settings, const struct printed *what,
		 struct nt_error *err)
{
	if (what->findings)
		return print_findings(out, what->findings, settings->form, err);
	return printers[settings->form](out, what->view, err);
}

/* A file is replaced only by a complete one. */
static int write_out(const struct settings *settings, const struct printed *what,
		     struct nt_error *err)
{
	const bool to_file = settings->file && strcmp(settings->file, "-") != 0;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = to_file ? open_memstream(&text, &bytes) : stdout;
	int rc;

	if (!out)
		return nt_error_set(err, "no memory");
	rc = print(out, settings, what, err);
	if (to_file && fclose(out) != 0)
		rc = nt_error_set(err, "no memory");
	if (to_file && rc == 0)
		rc = nt_file_replace(AT_FDCWD, settings->file, text, bytes, FILE_MODE, err);
	free(text);
	return rc;
}

static int find(const struct settings *settings)
{
	struct nt_finding_stats stats;
	const struct nt_sacct_jobs_visitor visitor = { add_finding, &stats };
	struct nt_error err;
	int rc;

	nt_finding_stats_init(&stats, nt_site_records()->findings);
	rc = nt_sacct_jobs_each(&settings->query, &visitor, &err);
	nt_finding_stats_sort(&stats);
	if (rc == 0)
		rc = write_out(settings, &(struct printed){ .findings = &stats }, &err);
	nt_finding_stats_fini(&stats);
	return nt_command_status(rc, &err);
}

static int summarize(const struct settings *settings)
{
	struct nt_site_stats tally;
	struct nt_site_stats_view view = { &tally, settings->query.since_s,
					   settings->query.until_s };
	const struct nt_sacct_jobs_visitor visitor = { add_job, &tally };
	struct nt_error err;
	int rc;

	nt_site_stats_init(&tally);
	rc = nt_sacct_jobs_each(&settings->query, &visitor, &err);
	nt_site_stats_sort(&tally);
	if (rc == 0)
		rc = write_out(settings, &(struct printed){ .view = &view }, &err);
	nt_site_stats_fini(&tally);
	return nt_command_status(rc, &err);
}

static int set_times(struct settings *settings)
{
	struct nt_sacct_jobs_query *query = &settings->query;
	int64_t now_s = (int64_t)time(NULL);
	struct nt_error err;

	if (nt_when_parse(settings->since, now_s, &query->since_s, &err) < 0 ||
	    nt_when_parse(settings->until, now_s, &query->until_s, &err) < 0)
		return nt_command_misuse("%s", err.text);
	if (query->since_s >= query->until_s)
		return nt_command_misuse("%s is not before %s", settings->since, settings->until);
	return NT_EXIT_OK;
}

static void init(void *argument)
{
	struct settings *settings = argument;

	settings->since = "now-30days";
	settings->until = "now";
	settings->query.all_users = geteuid() == 0;
}

static int run(void *argument, char *argv[])
{
	struct settings *settings = argument;
	int status;

	if (argv[0])
		return nt_command_misuse(
			"unexpected argument '%s' ('nccl-tune report' shows a job)", argv[0]);
	status = set_times(settings);
	if (status != NT_EXIT_OK)
		return status;
	return settings->findings ? find(settings) : summarize(settings);
}

static const struct nt_option options[] = {
	{ "since", 0,
	  "Jobs that ran at or after TIME: now-30days (the default), today, 2026-11-01, ...",
	  NT_TEXT(struct settings, since, "TIME") },
	{ "until", 0, "Jobs that ran before TIME (default: now)",
	  NT_TEXT(struct settings, until, "TIME") },
	{ "allusers", 'a', "Jobs of all users, as far as Slurm shows them",
	  NT_FLAG(struct settings, query.all_users) },
	{ "user", 0, "Only jobs of these users", NT_TEXT(struct settings, query.user, "LIST") },
	{ "partition", 0, "Only jobs in these partitions",
	  NT_TEXT(struct settings, query.partition, "LIST") },
	{ "account", 0, "Only jobs of these accounts",
	  NT_TEXT(struct settings, query.account, "LIST") },
	{ "cluster", 0, "Jobs of these clusters, or all (default: this one)",
	  NT_TEXT(struct settings, query.cluster, "LIST") },
	{ "findings", 0, "What is wrong with the set-up of jobs, by code and node",
	  NT_FLAG(struct settings, findings) },
	{ "json", 'j', "Print one JSON object for programs, see nccl-tune(1)",
	  NT_CHOICE(struct settings, form, JSON) },
	{ "prometheus", 0, "Print metrics for the textfile collector of Prometheus' node exporter",
	  NT_CHOICE(struct settings, form, PROMETHEUS) },
	{ "output", 'o', "Write to FILE, replacing it atomically",
	  NT_TEXT(struct settings, file, "FILE") },
	{ 0 },
};

const struct nt_command nt_command_summary = {
	.name = "summary",
	.summary = "show what tuning gained and cost over many jobs",
	.options = options,
	.doc = "Summarize the records of ended jobs in accounting: what tuning gained and cost by "
	       "partition, user and version of NCCL, and how many jobs have nothing to gain. Root "
	       "sees jobs of all users, others their own."
	       "\vExit status: 0, also if no job has a record, 1 if something failed (see "
	       "stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct settings),
	.init = init,
	.run = run,
	.arguments = NT_ANY_NUMBER,
};

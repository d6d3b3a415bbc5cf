/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune summary: what tuning has brought to all the jobs of a time, and what it has cost. */
#include "cli/command.h"

#include <time.h>
#include <unistd.h>
#include "lib/atomic-output.h"
#include "report/model/sacct-jobs.h"
#include "report/model/places.h"
#include "report/summary/compared-nodes.h"
#include "report/summary/late-nodes.h"
#include "report/summary/stats-print.h"
#include "lib/when.h"

#define TOP 5
#define FILE_MODE 0644 /* who reads it is the collector, another user */

struct settings {
	struct nt_sacct_jobs_query query;
	const char *since, *until;
	const char *file; /* NULL: stdout */
	unsigned top;
	bool nodes;
	const char *compared; /* a file; NULL: that in the caller's memory */
	int (*print)(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err);
};

static int add_job(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	return nt_site_stats_add(argument, job, err);
}

static int print_stats(const struct settings *settings, FILE *out, void *what, struct nt_error *err)
{
	return settings->print(out, what, err);
}

/* What the newest comparison has found; NULL and "" in *err: there was none. */
static json_object *read_compared(const struct settings *settings, struct nt_error *err)
{
	char directory[NT_PATH_MAX], path[NT_PATH_MAX + sizeof("/" NT_COMPARED_FILE)];
	const struct nt_places places = { .memory = NULL };
	struct nt_error no_memory;
	json_object *compared;

	if (settings->compared) {
		compared = nt_compared_read(settings->compared, err);
		if (!compared && !err->text[0])
			nt_error_set(err, "%s: no such file", settings->compared);
		return compared;
	}
	err->text[0] = '\0';
	if (nt_places_memory(&places, directory, &no_memory) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/" NT_COMPARED_FILE, directory);
	return nt_compared_read(path, err);
}

static int print_nodes(const struct settings *settings, FILE *out, void *what, struct nt_error *err)
{
	json_object *compared = read_compared(settings, err);
	int rc = 0;

	if (!compared && err->text[0])
		return -1;
	if (settings->print == nt_site_stats_json)
		return nt_late_nodes_json(out, what, compared, err);
	rc = nt_late_nodes_text(out, what, err);
	if (rc == 0 && compared) {
		putc('\n', out);
		rc = nt_compared_text(out, compared, err);
	}
	json_object_put(compared);
	return rc;
}

/* A file is replaced as a whole, and only by one that is whole. */
static int write_out(const struct settings *settings, void *what,
		     int (*print)(const struct settings *, FILE *, void *, struct nt_error *),
		     struct nt_error *err)
{
	struct nt_atomic_output draft;

	if (!settings->file)
		return print(settings, stdout, what, err);
	if (nt_atomic_output_begin(&draft, err) < 0)
		return -1;
	return nt_atomic_output_end(&draft, print(settings, draft.out, what, err), settings->file,
				    FILE_MODE, err);
}

static int summarize(const struct settings *settings)
{
	struct nt_site_stats tally;
	struct nt_site_stats_view view = { &tally, settings->query.since_s,
					   settings->query.until_s };
	const struct nt_sacct_jobs_visitor visitor = { add_job, &tally };
	struct nt_error err;
	int rc;

	nt_site_stats_init(&tally, settings->top);
	rc = nt_sacct_jobs_each(&settings->query, &visitor, &err);
	nt_site_stats_sort(&tally);
	if (rc == 0)
		rc = write_out(settings, &view, print_stats, &err);
	if (rc < 0)
		nt_command_complain("%s", err.text);
	nt_site_stats_fini(&tally);
	return rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static int add_job_of_nodes(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	return nt_late_nodes_add(argument, job, err);
}

/* Which nodes are late, or slower than others. */
static int name_nodes(const struct settings *settings)
{
	struct nt_late_nodes nodes;
	const struct nt_sacct_jobs_visitor visitor = { add_job_of_nodes, &nodes };
	struct nt_error err;
	int rc;

	nt_late_nodes_init(&nodes);
	rc = nt_sacct_jobs_each(&settings->query, &visitor, &err);
	if (rc == 0)
		rc = write_out(settings, &nodes, print_nodes, &err);
	nt_late_nodes_fini(&nodes);
	if (rc < 0)
		nt_command_complain("%s", err.text);
	return rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static int take_top(struct settings *settings, const char *text)
{
	uint64_t top = 0;
	int status = nt_command_number("--top", text, 0, NT_SITE_STATS_TOP_MAX, &top);

	settings->top = (unsigned)top;
	return status;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case NT_LONG('s'): settings->since = arg; return 0;
	case NT_LONG('u'): settings->until = arg; return 0;
	case 'a': settings->query.all_users = true; return 0;
	case NT_LONG('U'): settings->query.user = arg; return 0;
	case NT_LONG('P'): settings->query.partition = arg; return 0;
	case NT_LONG('A'): settings->query.account = arg; return 0;
	case NT_LONG('M'): settings->query.cluster = arg; return 0;
	case 'j': settings->print = nt_site_stats_json; return 0;
	case NT_LONG('c'): settings->print = nt_site_stats_csv; return 0;
	case NT_LONG('p'): settings->print = nt_site_stats_prometheus; return 0;
	case 'o': settings->file = arg; return 0;
	case NT_LONG('n'): settings->nodes = true; return 0;
	case NT_LONG('C'): settings->compared = arg; return 0;
	case NT_LONG('t'): return take_top(settings, arg);
	default: return ARGP_ERR_UNKNOWN;
	}
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

static int run(int argc, char *argv[])
{
	struct settings settings = {
		.since = "now-30days", .until = "now", .top = TOP, .print = nt_site_stats_text
	};
	int first, status;

	settings.query.all_users = geteuid() == 0;
	status = nt_command_parse(&nt_command_summary, argc, argv, &settings, &first);
	if (status != NT_COMMAND_GO)
		return status;
	if (first < argc)
		return nt_command_misuse(
			"unexpected argument '%s' ('nccl-tune report' shows a job)", argv[first]);
	if (settings.nodes && settings.print != nt_site_stats_text &&
	    settings.print != nt_site_stats_json)
		return nt_command_misuse(
			"--nodes can be combined with --json, but with no other format");
	if (settings.compared && !settings.nodes)
		return nt_command_misuse("--compared needs --nodes");
	status = set_times(&settings);
	if (status != NT_EXIT_OK)
		return status;
	return nt_command_finish(settings.nodes ? name_nodes(&settings) : summarize(&settings));
}

static const struct argp_option options[] = {
	{ "since", NT_LONG('s'), "TIME", 0,
	  "Jobs that ran at or after TIME: now-30days (the default), today, 2026-11-01, ...", 0 },
	{ "until", NT_LONG('u'), "TIME", 0, "Jobs that ran before TIME (default: now)", 0 },
	{ "allusers", 'a', NULL, 0, "Jobs of all users, as far as Slurm shows them", 0 },
	{ "user", NT_LONG('U'), "LIST", 0, "Only jobs of these users", 0 },
	{ "partition", NT_LONG('P'), "LIST", 0, "Only jobs in these partitions", 0 },
	{ "account", NT_LONG('A'), "LIST", 0, "Only jobs of these accounts", 0 },
	{ "cluster", NT_LONG('M'), "LIST", 0, "Jobs of these clusters, or all (default: this one)",
	  0 },
	{ "nodes", NT_LONG('n'), NULL, 0,
	  "Name nodes that other nodes wait for, or that are slower than similar nodes, in several "
	  "jobs (also with --json)",
	  0 },
	{ "compared", NT_LONG('C'), "FILE", 0,
	  "With --nodes: what 'nccl-tune calibrate --compare-nodes' wrote to FILE (default: "
	  "nodes.json in the caller's memory)",
	  0 },
	{ "top", NT_LONG('t'), "N", 0, "Show the N best and worst jobs (default: 5)", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object for programs, see nccl-tune(1)", 0 },
	{ "csv", NT_LONG('c'), NULL, 0, "Print all values as a table of comma-separated values",
	  0 },
	{ "prometheus", NT_LONG('p'), NULL, 0,
	  "Print metrics for the textfile collector of Prometheus' node exporter", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE, replacing it atomically", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.doc = "Summarize the records of ended jobs in accounting: what tuning gained and cost by "
	       "partition, account, fingerprint, collective and size; how many jobs have "
	       "nothing to gain; the best and the worst jobs; and the expected gain of launch "
	       "profiles, from jobs that have measured them. Root sees jobs of all users, others "
	       "their own."
	       "\vExit status: 0, also if no job has a record, 1 if something failed (see "
	       "stderr), 2 for a usage error.",
};

const struct nt_command nt_command_summary = {
	.name = "summary",
	.run = run,
	.summary = "show what tuning gained and cost over many jobs",
	.argp = &argp,
};

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune summary: what tuning has brought to all the jobs of a time, and what it has cost. */
#include "report/command.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "report/draft.h"
#include "report/jobstream.h"
#include "report/tally-print.h"
#include "report/when.h"

#define TOP 5
#define FILE_MODE 0644 /* who reads it is the collector, another user */

struct settings {
	struct nt_jobstream_query query;
	const char *since, *until;
	const char *file; /* NULL: stdout */
	unsigned top;
	int (*print)(FILE *out, const struct nt_tally_view *view, struct nt_error *err);
};

static int add_job(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	return nt_tally_add(argument, job, err);
}

/* A file is replaced as a whole, and only by one that is whole. */
static int write_file(const struct settings *settings, const struct nt_tally_view *view,
		      struct nt_error *err)
{
	struct nt_draft draft;

	if (nt_draft_begin(&draft, err) < 0)
		return -1;
	return nt_draft_end(&draft, settings->print(draft.out, view, err), settings->file,
			    FILE_MODE, err);
}

static int summarize(const struct settings *settings)
{
	struct nt_tally tally;
	const struct nt_tally_view view = { &tally, settings->query.since_s,
					    settings->query.until_s };
	const struct nt_jobstream_visitor visitor = { add_job, &tally };
	struct nt_error err;
	int rc;

	nt_tally_init(&tally, settings->top);
	rc = nt_jobstream_each(&settings->query, &visitor, &err);
	nt_tally_sort(&tally);
	if (rc == 0)
		rc = settings->file ? write_file(settings, &view, &err)
				    : settings->print(stdout, &view, &err);
	if (rc < 0)
		nt_command_complain(&nt_command_summary, "%s", err.text);
	nt_tally_fini(&tally);
	return rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static int take_top(unsigned *out)
{
	unsigned long value = isdigit((unsigned char)*optarg) ? strtoul(optarg, NULL, 10)
							      : NT_TALLY_TOP_MAX + 1;

	if (value > NT_TALLY_TOP_MAX || optarg[strspn(optarg, "0123456789")] != '\0')
		return nt_command_misuse(&nt_command_summary, "--top '%s' (want 0 to %d)", optarg,
					 NT_TALLY_TOP_MAX);
	*out = (unsigned)value;
	return NT_EXIT_OK;
}

static int take_option(struct settings *settings, int option, char *argv[])
{
	switch (option) {
	case 's': settings->since = optarg; return NT_EXIT_OK;
	case 'u': settings->until = optarg; return NT_EXIT_OK;
	case 'a': settings->query.all_users = true; return NT_EXIT_OK;
	case 'U': settings->query.user = optarg; return NT_EXIT_OK;
	case 'P': settings->query.partition = optarg; return NT_EXIT_OK;
	case 'A': settings->query.account = optarg; return NT_EXIT_OK;
	case 'M': settings->query.cluster = optarg; return NT_EXIT_OK;
	case 'j': settings->print = nt_tally_json; return NT_EXIT_OK;
	case 'c': settings->print = nt_tally_csv; return NT_EXIT_OK;
	case 'p': settings->print = nt_tally_prometheus; return NT_EXIT_OK;
	case 'o': settings->file = optarg; return NT_EXIT_OK;
	case 't': return take_top(&settings->top);
	default: return nt_command_misuse_option(&nt_command_summary, option, argv);
	}
}

static int set_times(struct settings *settings)
{
	struct nt_jobstream_query *query = &settings->query;
	int64_t now_s = (int64_t)time(NULL);
	struct nt_error err;

	if (nt_when_parse(settings->since, now_s, &query->since_s, &err) < 0 ||
	    nt_when_parse(settings->until, now_s, &query->until_s, &err) < 0)
		return nt_command_misuse(&nt_command_summary, "%s", err.text);
	if (query->since_s >= query->until_s)
		return nt_command_misuse(&nt_command_summary, "%s is not before %s",
					 settings->since, settings->until);
	return NT_EXIT_OK;
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "since", required_argument, NULL, 's' },
		{ "until", required_argument, NULL, 'u' },
		{ "allusers", no_argument, NULL, 'a' },
		{ "user", required_argument, NULL, 'U' },
		{ "partition", required_argument, NULL, 'P' },
		{ "account", required_argument, NULL, 'A' },
		{ "cluster", required_argument, NULL, 'M' },
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "prometheus", no_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "top", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct settings settings = {
		.since = "now-30days", .until = "now", .top = TOP, .print = nt_tally_text
	};
	int option, rc;

	opterr = 0;
	settings.query.all_users = geteuid() == 0;
	while ((option = getopt_long(argc, argv, ":ajo:h", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_summary);
		rc = take_option(&settings, option, argv);
		if (rc != NT_EXIT_OK)
			return rc;
	}
	if (optind < argc)
		return nt_command_misuse(
			&nt_command_summary,
			"no argument is wanted, not '%s' ('nccl-tune report' shows a "
			"job)",
			argv[optind]);
	rc = set_times(&settings);
	return rc != NT_EXIT_OK ? rc : nt_command_finish(&nt_command_summary, summarize(&settings));
}

const struct nt_command nt_command_summary = {
	.name = "summary",
	.run = run,
	.summary = "what tuning has brought to all the jobs of a time",
	.help = "Usage: nccl-tune summary [OPTION...]\n"
		"\n"
		"From the records of ended jobs in accounting: what tuning gained and cost by\n"
		"partition, account, fingerprint, collective and size; how many jobs have nothing\n"
		"to gain; the best and the worst; and what launch profiles would be worth, by jobs\n"
		"that have measured them. Of all users where root asks, else of the caller.\n"
		"\n"
		"      --since TIME      now-30days (the default), today, 2026-11-01, ...\n"
		"      --until TIME      (default: now)\n"
		"  -a, --allusers        of all users, as far as Slurm shows their jobs\n"
		"      --user LIST       only of these users\n"
		"      --partition LIST  only in these partitions\n"
		"      --account LIST    only of these accounts\n"
		"      --cluster LIST    of these clusters, or all (default: this one)\n"
		"      --top N           so many of the best and the worst jobs (default: 5)\n"
		"  -j, --json            one JSON object, for programs, see nccl-tune(1)\n"
		"      --csv             a table of all of it\n"
		"      --prometheus      for the textfile collector of Prometheus' node exporter\n"
		"  -o, --output FILE     into FILE, which is replaced as a whole\n"
		"  -h, --help            print this\n"
		"\n"
		"Exit status: 0, also where no job has a record; 1 something failed (see stderr);\n"
		"2 misuse.\n",
};

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune learn: make a site's memory from the records in accounting. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include "lib/printable.h"
#include "report/model/accounting.h"
#include "lib/atomic-output.h"
#include "report/summary/site-memory.h"

struct settings {
	struct nt_accounting_span span;
	struct nt_site_memory_rules rules;
	const char *file;
};

static int read_jobs(const struct nt_jobtexts *texts, struct nt_site_memory *learned,
		     size_t *damaged, struct nt_error *err)
{
	int rc = 0;

	*damaged = 0;
	for (size_t i = 0; rc == 0 && i < texts->count; i++) {
		const struct nt_jobtext *job = &texts->items[i];
		size_t bytes = strlen(job->comment);
		struct nt_summary summary;

		if (!job->ended || !job->user[0] ||
		    nt_summary_holding(job->comment, bytes) != NT_HOLDS_RECORD)
			continue;
		nt_summary_init(&summary);
		rc = nt_summary_parse(&summary, job->comment, bytes, NULL, err);
		if (rc == 0 && nt_summary_damaged(&summary))
			++*damaged;
		else if (rc == 0)
			rc = nt_site_memory_add(learned, job->user, job->job, job->end_s, &summary,
						err);
		nt_summary_fini(&summary);
	}
	return rc;
}

static void print_head(const struct settings *settings, FILE *out)
{
	const struct nt_accounting_span *span = &settings->span;
	struct nt_shown since, until, user, partition;

	fprintf(out,
		"# Launch profiles as jobs have measured them, from accounting: nccl-tune learn --since %s"
		"%s%s%s%s%s%s\n"
		"# One line for each place and profile that at least %u jobs measured, at most %u of a user.\n"
		"# The numbers come from users' records: check lines that rest on one user, and delete lines\n"
		"# that should not count. Install it owned by root and readable by all. It is used where a\n"
		"# user's own memory has nothing: nccl-tune-memory(5).\n",
		nt_shown(&since, span->since), span->until ? " --until " : "",
		nt_shown(&until, span->until ? span->until : ""), span->user ? " --user " : "",
		nt_shown(&user, span->user ? span->user : ""),
		span->partition ? " --partition " : "",
		nt_shown(&partition, span->partition ? span->partition : ""), settings->rules.jobs,
		settings->rules.user_jobs);
}

static int write_lines(const struct settings *settings, struct nt_site_memory *learned,
		       size_t *lines, struct nt_error *err)
{
	struct nt_atomic_output draft;

	if (nt_atomic_output_begin(&draft, err) < 0)
		return -1;
	print_head(settings, draft.out);
	return nt_atomic_output_end(
		&draft, nt_site_memory_print(learned, &settings->rules, draft.out, lines, err),
		settings->file, 0644, err);
}

/* On stderr, because the result may go to stdout. */
static void tell(const struct settings *settings, const struct nt_site_memory *learned,
		 size_t lines, size_t damaged)
{
	fprintf(stderr, "%zu lines from %zu jobs with a record (%zu steps)\n", lines, learned->jobs,
		learned->steps);
	if (learned->without_place > 0)
		fprintf(stderr, "%zu steps ignored: no launch profile, or unknown hardware\n",
			learned->without_place);
	if (damaged > 0)
		fprintf(stderr, "%zu jobs ignored: their records are damaged\n", damaged);
	if (lines == 0 && learned->count > 0)
		fprintf(stderr,
			"no profile was measured by %u jobs in one "
			"place\n",
			settings->rules.jobs);
}

static int learn(const struct settings *settings)
{
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_site_memory learned;
	struct nt_error err;
	size_t damaged, lines;
	int rc;

	nt_site_memory_init(&learned);
	rc = nt_accounting_load_span(&texts, &settings->span, &err);
	if (rc == 0)
		rc = read_jobs(&texts, &learned, &damaged, &err);
	if (rc == 0)
		rc = write_lines(settings, &learned, &lines, &err);
	if (rc == 0)
		tell(settings, &learned, lines, damaged);
	nt_site_memory_fini(&learned);
	nt_jobtexts_fini(&texts);
	return nt_command_status(rc, &err);
}

static void init(void *argument)
{
	struct settings *settings = argument;

	settings->span.since = "now-30days";
	settings->rules = (struct nt_site_memory_rules){ NT_LEARNED_JOBS, NT_LEARNED_USER_JOBS };
}

static int run(void *argument, char *argv[])
{
	const struct settings *settings = argument;

	(void)argv;
	if (!settings->file)
		return nt_command_misuse("--output FILE is missing (- for standard output)");
	return learn(settings);
}

static const struct nt_option options[] = {
	{ "since", 0, "Jobs that ran at or after TIME, in a format of sacct (default: now-30days)",
	  NT_TEXT(struct settings, span.since, "TIME") },
	{ "until", 0, "Jobs that ran before TIME (default: now)",
	  NT_TEXT(struct settings, span.until, "TIME") },
	{ "user", 0, "Only jobs of these users", NT_TEXT(struct settings, span.user, "LIST") },
	{ "partition", 0, "Only jobs in these partitions",
	  NT_TEXT(struct settings, span.partition, "LIST") },
	{ "jobs", 0, "Omit values that fewer than N jobs have measured (default: 3)",
	  NT_U32(struct settings, rules.jobs, "N", 1, 512) },
	{ "user-jobs", 0, "Use the newest N jobs of each user (default: 10)",
	  NT_U32(struct settings, rules.user_jobs, "N", 1, 512) },
	{ "output", 'o', "Replace FILE by the result; - is standard output",
	  NT_TEXT(struct settings, file, "FILE") },
	{ 0 },
};

const struct nt_command nt_command_learn = {
	.name = "learn",
	.summary = "make the site's memory from records of jobs (administrators)",
	.options = options,
	.usage = "--output FILE",
	.doc = "Collect the measurements of launch profiles from the records of ended jobs in "
	       "accounting, as a text to review and to install for all users. Each value is a "
	       "median over jobs; each line has the number of jobs and users."
	       "\vExit status: 0, also if nothing was found, 1 if something failed (see "
	       "stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct settings),
	.init = init,
	.run = run,
};

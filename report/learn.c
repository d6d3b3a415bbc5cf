/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune learn: a site's memory from the records of its jobs in accounting. */
#include "report/command.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/printable.h"
#include "report/accounting.h"
#include "report/draft.h"
#include "report/learned.h"

struct settings {
	struct nt_accounting_span span;
	struct nt_learned_rules rules;
	const char *file;
};

static int read_jobs(const struct nt_jobtexts *texts, struct nt_learned *learned, size_t *damaged,
		     struct nt_error *err)
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
			rc = nt_learned_add(learned, job->user, job->job, job->end_s, &summary,
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
		"# What jobs have measured of launch profiles, from accounting: nccl-tune learn --since %s"
		"%s%s%s%s%s%s\n"
		"# A line for each place and profile that %u jobs or more have seen, of each user at most %u.\n"
		"# These are users' own records: look for what only one user says, and take out lines that\n"
		"# should not count. Installed, root's and readable for all, it is asked after a user's own\n"
		"# memory: nccl-tune-memory(5).\n",
		nt_shown(&since, span->since), span->until ? " --until " : "",
		nt_shown(&until, span->until ? span->until : ""), span->user ? " --user " : "",
		nt_shown(&user, span->user ? span->user : ""),
		span->partition ? " --partition " : "",
		nt_shown(&partition, span->partition ? span->partition : ""), settings->rules.jobs,
		settings->rules.user_jobs);
}

static int write_lines(const struct settings *settings, struct nt_learned *learned, size_t *lines,
		       struct nt_error *err)
{
	struct nt_draft draft;

	if (nt_draft_begin(&draft, err) < 0)
		return -1;
	print_head(settings, draft.out);
	return nt_draft_end(&draft,
			    nt_learned_print(learned, &settings->rules, draft.out, lines, err),
			    settings->file, 0644, err);
}

/* On stderr, beside what may go to stdout. */
static void tell(const struct settings *settings, const struct nt_learned *learned, size_t lines,
		 size_t damaged)
{
	fprintf(stderr, "%zu lines from %zu jobs with a record (%zu steps)\n", lines, learned->jobs,
		learned->steps);
	if (learned->without_place > 0)
		fprintf(stderr, "%zu steps left out: without launch profiles, or not known where\n",
			learned->without_place);
	if (damaged > 0)
		fprintf(stderr, "%zu jobs left out: their records are damaged\n", damaged);
	if (lines == 0 && learned->count > 0)
		fprintf(stderr, "no place and profile was seen by %u jobs\n", settings->rules.jobs);
}

static int learn(const struct settings *settings)
{
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_learned learned;
	struct nt_error err;
	size_t damaged, lines;
	int rc;

	nt_learned_init(&learned);
	rc = nt_accounting_load_span(&texts, &settings->span, &err);
	if (rc == 0)
		rc = read_jobs(&texts, &learned, &damaged, &err);
	if (rc == 0)
		rc = write_lines(settings, &learned, &lines, &err);
	if (rc == 0)
		tell(settings, &learned, lines, damaged);
	else
		nt_command_complain(&nt_command_learn, "%s", err.text);
	nt_learned_fini(&learned);
	nt_jobtexts_fini(&texts);
	return rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static int take_count(unsigned *out, unsigned long most, const char *what)
{
	unsigned long value = isdigit((unsigned char)*optarg) ? strtoul(optarg, NULL, 10) : 0;

	if (value < 1 || value > most || optarg[strspn(optarg, "0123456789")] != '\0')
		return nt_command_misuse(&nt_command_learn, "%s '%s' (want 1 to %lu)", what, optarg,
					 most);
	*out = (unsigned)value;
	return NT_EXIT_OK;
}

static int take_option(struct settings *settings, int option, char *argv[])
{
	switch (option) {
	case 's': settings->span.since = optarg; return NT_EXIT_OK;
	case 'u': settings->span.until = optarg; return NT_EXIT_OK;
	case 'U': settings->span.user = optarg; return NT_EXIT_OK;
	case 'P': settings->span.partition = optarg; return NT_EXIT_OK;
	case 'o': settings->file = optarg; return NT_EXIT_OK;
	case 'j': return take_count(&settings->rules.jobs, 512, "--jobs");
	case 'J': return take_count(&settings->rules.user_jobs, 512, "--user-jobs");
	default: return nt_command_misuse_option(&nt_command_learn, option, argv);
	}
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "since", required_argument, NULL, 's' },
		{ "until", required_argument, NULL, 'u' },
		{ "user", required_argument, NULL, 'U' },
		{ "partition", required_argument, NULL, 'P' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "user-jobs", required_argument, NULL, 'J' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct settings settings = { .span = { .since = "now-30days" },
				     .rules = { NT_LEARNED_JOBS, NT_LEARNED_USER_JOBS } };
	int option, rc;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_learn);
		rc = take_option(&settings, option, argv);
		if (rc != NT_EXIT_OK)
			return rc;
	}
	if (optind < argc)
		return nt_command_misuse(&nt_command_learn, "no argument is wanted, not '%s'",
					 argv[optind]);
	if (!settings.file)
		return nt_command_misuse(&nt_command_learn, "where to? (--output FILE, or -)");
	return nt_command_finish(&nt_command_learn, learn(&settings));
}

const struct nt_command nt_command_learn = {
	.name = "learn",
	.run = run,
	.summary = "make a site's memory from jobs' records (administrators)",
	.help = "Usage: nccl-tune learn [OPTION...] --output FILE|-\n"
		"\n"
		"From the records of ended jobs in accounting, what they have measured of launch\n"
		"profiles, as a text to review and to install for all users. Each value is a median\n"
		"over jobs; each line says on how many jobs and users it rests.\n"
		"\n"
		"      --since TIME        as sacct takes it (default: now-30days)\n"
		"      --until TIME        (default: now)\n"
		"      --user LIST         only of these users\n"
		"      --partition LIST    only in these partitions\n"
		"      --jobs N            leave out what fewer jobs have seen (default: 3)\n"
		"      --user-jobs N       of one user, the newest so many count (default: 10)\n"
		"  -o, --output FILE       is replaced as a whole; - prints it\n"
		"  -h, --help              print this\n"
		"\n"
		"Exit status: 0, also where nothing was found; 1 something failed (see stderr);\n"
		"2 misuse.\n",
};

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune report: what a job tuned and what it brought. */
#include "report/command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/file.h"
#include "record/splice.h"
#include "record/spool.h"
#include "report/joblist.h"
#include "report/longform.h"
#include "report/output.h"
#include "report/recordplaces.h"

#define FILE_MAX_BYTES (1u << 20)

struct request {
	struct nt_joblist jobs;
	struct nt_jobid id; /* of the job at hand, with the step that is wanted */
	bool has_id;
	enum nt_form form;
	const char *file;
	const char *spool;
	const char *page; /* where the page is to be; "-": standard output */
	char page_name[NT_JOB_LABEL_MAX + 20]; /* by default */
};

/* What is printed, and what there was to print. */
struct answer {
	struct request *request;
	struct nt_output output;
	const struct nt_jobtexts *texts; /* what accounting and slurmctld have */
	struct nt_long_job job; /* whose long form counts; job 0: none does */
	size_t shown; /* records */
	size_t other; /* texts of somebody else */
	size_t running; /* jobs that have not ended */
	bool partial;
};

/* Show text if it holds a record of ours. */
static int show_text(struct answer *answer, const char *label, const char *text, size_t text_bytes,
		     struct nt_error *err)
{
	const char *step = answer->request->id.step[0] ? answer->request->id.step : NULL;
	enum nt_holding holding = nt_summary_holding(text, text_bytes);
	struct nt_summary summary;
	int rc;

	nt_summary_init(&summary);
	rc = nt_summary_parse(&summary, text, text_bytes, step, err);
	answer->job.step = step;
	if (rc == 0 && answer->job.job != 0 &&
	    nt_long_prefer(&summary, &answer->job, text, text_bytes, err) < 0)
		rc = -1;
	if (rc == 0 && summary.step_count == 0 && holding != NT_HOLDS_RECORD)
		answer->other += holding == NT_HOLDS_OTHER;
	if (rc == 0 && nt_summary_damaged(&summary)) {
		nt_command_complain(&nt_command_report, "%s%s%sthe record is damaged",
				    label ? "job " : "", label ? label : "", label ? ": " : "");
		answer->partial = true;
	}
	if (rc == 0 && (summary.step_count > 0 || summary.remark_count > 0)) {
		rc = nt_output_add(&answer->output, label, &summary, err);
		answer->shown++;
	}
	nt_summary_fini(&summary);
	return rc;
}

/* One step, as it is kept outside of AdminComment. */
static int show_step(struct answer *answer, const struct nt_spooled *spooled, struct nt_error *err)
{
	const struct nt_jobid id = { .job = spooled->job, .task = -1, .component = -1 };
	char label[NT_JOB_LABEL_MAX];
	char *text;
	int rc;

	if (asprintf(&text, "{\"" NT_RECORD_KEY "\":{\"v\":%d,\"%s\":%s}}", NT_RECORD_VERSION,
		     spooled->step, spooled->record) < 0)
		return nt_error_set(err, "no memory for a step's record");
	rc = show_text(answer, nt_jobid_text(&id, label, sizeof(label)), text, strlen(text), err);
	free(text);
	return rc;
}

/* What slurmctld was given is shown where another program has taken it away. */
static bool is_there(const struct answer *answer, const struct nt_spooled *spooled)
{
	for (size_t i = 0; answer->texts && i < answer->texts->count; i++) {
		const struct nt_jobtext *text = &answer->texts->items[i];

		if (text->job == spooled->job)
			return nt_splice_holds(text->comment, spooled->step, spooled->record);
	}
	return false;
}

/* Where the part is, and what is to be done for it. */
static const char *place_of(enum nt_spool_part part)
{
	switch (part) {
	case NT_PART_WAITING:
		return "it waits there ('nccl-tune backfill' brings it into accounting)";
	case NT_PART_SENT:
		return "another program has replaced it in AdminComment ('nccl-tune backfill' brings it "
		       "back once the job has ended)";
	default: return "it cannot be delivered: ";
	}
}

static int show_part(struct answer *answer, const struct nt_spooled *spooled,
		     enum nt_spool_part part, struct nt_error *err)
{
	size_t shown = answer->shown;
	int rc = 0;

	if (!spooled->problem && spooled->job == answer->request->id.job)
		rc = show_step(answer, spooled, err);
	if (answer->shown > shown)
		nt_command_complain(&nt_command_report,
				    "job %u, step %s: this part is from %s: %s%s", spooled->job,
				    spooled->step, answer->request->spool, place_of(part),
				    spooled->why);
	return rc;
}

static int show_waiting(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	return show_part(argument, spooled, NT_PART_WAITING, err);
}

static int show_sent(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	char newer[300];

	snprintf(newer, sizeof(newer), "../%s", spooled->name);
	if (spooled->problem || is_there(argument, spooled) ||
	    faccessat(spooled->directory_fd, newer, F_OK, 0) == 0)
		return 0;
	return show_part(argument, spooled, NT_PART_SENT, err);
}

static int show_dead(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	return show_part(argument, spooled, NT_PART_DEAD, err);
}

static void explain_nothing(const struct answer *answer, size_t known)
{
	const struct request *request = answer->request;
	char label[NT_JOB_LABEL_MAX];

	if (request->file) {
		nt_command_complain(&nt_command_report, "%s holds no record%s%s", request->file,
				    request->id.step[0] ? " of step " : "", request->id.step);
		return;
	}
	if (!nt_joblist_is_one(&request->jobs)) {
		nt_command_complain(&nt_command_report, "none of %zu jobs has a record%s%s", known,
				    request->id.step[0] ? " of step " : "", request->id.step);
		return;
	}
	nt_jobid_text(&request->id, label, sizeof(label));
	if (known == 0) {
		nt_command_complain(&nt_command_report,
				    "no job %s: slurmctld and accounting do not know it, "
				    "or do not show it to you",
				    label);
		return;
	}
	nt_command_complain(&nt_command_report, "job %s has no record%s%s", label,
			    request->id.step[0] ? " of step " : "", request->id.step);
	if (answer->other > 0)
		fputs("  Its AdminComment holds another program's text. The record may wait on the step's first "
		      "node, for root alone:\n  'nccl-tune backfill' there brings it to where you can read it, "
		      "if nccl-tune.conf names\n  another place ('record = admincomment extra comment "
		      "file:DIRECTORY'). Ask an administrator.\n",
		      stderr);
	else if (answer->running > 0)
		fputs("  It has not ended: a record appears with the first decision, and at the end of each "
		      "step.\n",
		      stderr);
	else
		fputs("  Tuning may have been off, no step may have run NCCL, NCCL_TUNER_PLUGIN and "
		      "NCCL_PROFILER_PLUGIN may\n  both have been the user's own, or this site keeps records "
		      "elsewhere (see --file).\n",
		      stderr);
}

static int report_file(struct answer *answer, struct nt_error *err)
{
	const struct request *request = answer->request;
	char label[NT_JOB_LABEL_MAX];
	struct nt_spooled spooled;
	size_t text_bytes;
	char *text;
	int rc;

	if (nt_file_read(request->file, FILE_MAX_BYTES, &text, &text_bytes, err) < 0)
		return -1;
	nt_jobid_text(&request->id, label, sizeof(label));
	if (nt_spooled_parse(&spooled, text, text_bytes, NULL) == 0)
		rc = show_step(answer, &spooled, err);
	else
		rc = show_text(answer, request->has_id ? label : NULL, text, text_bytes, err);
	free(text);
	return rc;
}

/* Only root can read the spool. A damaged file there is backfill's to report. */
static void report_spool(struct answer *answer)
{
	static nt_spooled_visit *const visits[] = {
		[NT_PART_WAITING] = show_waiting,
		[NT_PART_SENT] = show_sent,
		[NT_PART_DEAD] = show_dead,
	};

	for (int part = NT_PART_WAITING; part <= NT_PART_DEAD; part++) {
		int part_fd = nt_spool_open(answer->request->spool, (enum nt_spool_part)part, false,
					    NULL);

		if (part_fd < 0)
			continue;
		nt_spooled_each(part_fd, visits[part], answer, NULL);
		close(part_fd);
	}
}

static int report_texts(struct answer *answer, const struct nt_jobtexts *texts,
			struct nt_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < texts->count; i++) {
		const struct nt_jobtext *text = &texts->items[i];

		answer->running += !text->ended;
		if (text->from[0])
			nt_command_complain(&nt_command_report, "job %s: %s", text->label,
					    text->from);
		answer->job = (struct nt_long_job){ .job = text->job, .user = text->user };
		rc = show_text(answer, text->label, text->comment, strlen(text->comment), err);
	}
	answer->job.job = 0;
	if (rc == 0 && texts->count > 0 && texts->doubt.text[0]) {
		nt_command_complain(&nt_command_report, "%s: what runs may have a newer record",
				    texts->doubt.text);
		answer->partial = true;
	}
	return rc;
}

/* A single job, or those of a range. */
static int report_range(struct answer *answer, const struct nt_jobrange *range, size_t *known,
			struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc;

	answer->request->id = range->first;
	rc = nt_joblist_load(&texts, range, err);
	if (rc == 0)
		rc = report_texts(answer, &texts, err);
	*known += texts.count;
	answer->texts = &texts;
	if (rc == 0 && nt_joblist_is_one(&answer->request->jobs))
		report_spool(answer);
	answer->texts = NULL;
	nt_jobtexts_fini(&texts);
	return rc;
}

static int report_span(struct answer *answer, size_t *known, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc = nt_joblist_load_span(&texts, &answer->request->jobs, err);

	answer->request->id = (struct nt_jobid){ .task = -1, .component = -1 };
	if (rc == 0)
		rc = report_texts(answer, &texts, err);
	*known += texts.count;
	nt_jobtexts_fini(&texts);
	return rc;
}

static int report_jobs(struct answer *answer, size_t *known, struct nt_error *err)
{
	const struct nt_joblist *jobs = &answer->request->jobs;
	int rc = 0;

	slurm_init(NULL);
	for (size_t i = 0; rc == 0 && i < jobs->count; i++)
		rc = report_range(answer, &jobs->ranges[i], known, err);
	if (rc == 0 && !nt_joblist_is_one(jobs))
		rc = report_span(answer, known, err);
	slurm_fini();
	return rc;
}

/* Where there is something to show, and it is not for standard output. */
static int open_page(struct answer *answer, struct nt_error *err)
{
	const struct request *request = answer->request;
	FILE *page;

	if (request->form != NT_FORM_HTML || answer->shown == 0 || strcmp(request->page, "-") == 0)
		return 0;
	page = fopen(request->page, "we");
	if (!page)
		return nt_error_set(err, "%s: %s", request->page, strerror(errno));
	answer->output.out = page;
	return 0;
}

static int close_page(struct answer *answer, struct nt_error *err)
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

static int report(struct request *request)
{
	struct answer answer = { .request = request };
	struct nt_error err;
	size_t known = 0;
	int rc = nt_output_open(&answer.output, request->form, stdout, &err);

	if (rc == 0)
		rc = request->file ? report_file(&answer, &err)
				   : report_jobs(&answer, &known, &err);
	if (rc == 0)
		rc = open_page(&answer, &err);
	if (rc == 0 && answer.shown == 0)
		explain_nothing(&answer, known);
	nt_output_close(&answer.output,
			rc == 0 && (request->form != NT_FORM_HTML || answer.shown > 0));
	if (rc == 0)
		rc = close_page(&answer, &err);
	if (rc < 0)
		nt_command_complain(&nt_command_report, "%s", err.text);
	return nt_command_finish(&nt_command_report, rc < 0 || answer.shown == 0 || answer.partial
							     ? NT_EXIT_FAILED
							     : NT_EXIT_OK);
}

static int take_option(struct request *request, int option, char *argv[])
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
	default: return nt_command_misuse_option(&nt_command_report, option, argv);
	}
}

/* No job is called so: FILE may stand behind --html as a word of its own. */
static bool is_page(const char *word)
{
	size_t length = strlen(word);

	return length > 5 && strcmp(word + length - 5, ".html") == 0;
}

static void name_page(struct request *request)
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
static int take_jobs(struct request *request, int argc, char *argv[])
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

static int run(int argc, char *argv[])
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
	struct nt_record_places places;
	struct request request = { .spool = places.spool };
	int status = NT_EXIT_OK;
	int option;

	opterr = 0;
	nt_record_places(&places);
	while (status == NT_EXIT_OK &&
	       (option = getopt_long(argc, argv, ":jf:s:S:E:u:p:h", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_report);
		status = take_option(&request, option, argv);
	}
	if (status == NT_EXIT_OK)
		status = take_jobs(&request, argc, argv);
	if (status == NT_EXIT_OK)
		status = report(&request);
	nt_joblist_fini(&request.jobs);
	return status;
}

const struct nt_command nt_command_report = {
	.name = "report",
	.run = run,
	.summary = "show what a job's steps tuned and what it brought",
	.help = "Usage: nccl-tune report JOBS... [--json | --csv | --html | --prometheus]\n"
		"       nccl-tune report [--user LIST] [--since TIME] [--until TIME]\n"
		"                        [--partition LIST] [--json | --csv | --html | --prometheus]\n"
		"       nccl-tune report --file FILE [JOB[.STEP]]\n"
		"                        [--json | --csv | --html | --prometheus]\n"
		"\n"
		"Show the records that tuning left in accounting: what came of it in sentences, then a\n"
		"table with a line for each collective and size, each with its reason, and what to do.\n"
		"\n"
		"JOBS is JOB[.STEP] or FIRST-LAST (4711-4720, 4711_3-7), several separated by commas or\n"
		"spaces. JOB is a job id, an array task (12_3) or a component of a heterogeneous job\n"
		"(12+1). The id of a whole array or heterogeneous job shows all of its tasks or\n"
		"components.\n"
		"\n"
		"  -S, --since TIME      jobs from then on, as sacct takes it; your own\n"
		"  -E, --until TIME      and until then\n"
		"  -u, --user LIST       of these users\n"
		"  -p, --partition LIST  in these partitions\n"
		"  -j, --json            print a JSON array for programs, see nccl-tune(1)\n"
		"      --csv             the same as comma-separated values (RFC 4180)\n"
		"      --html [FILE.html]\n"
		"                        write a page for a browser (default: nccl-tune-JOB.html;\n"
		"                        --html=- for standard output)\n"
		"      --prometheus      for the textfile collector of Prometheus' node exporter\n"
		"  -f, --file FILE       read the record from FILE (- for standard input)\n"
		"  -s, --spool DIRECTORY\n"
		"                        where this machine keeps records that accounting does not have\n"
		"                        (root; default: as the site has it, else " NT_SPOOL_DIR
		")\n"
		"  -h, --help            print this\n"
		"\n"
		"Exit status: 0 shown in full, 1 no record or not all of it (the reason is on stderr),\n"
		"2 misuse.\n",
};

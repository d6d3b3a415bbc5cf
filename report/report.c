/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune report: what a job tuned and what it brought. */
#include "report/command.h"

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
#include "report/jobload.h"
#include "report/print.h"
#include "report/recordplaces.h"

#define FILE_MAX_BYTES (1u << 20)

struct request {
	struct nt_jobid id;
	bool has_id;
	bool json;
	const char *file;
	const char *spool;
};

/* What is printed, and what there was to print. */
struct answer {
	const struct request *request;
	json_object *array; /* with --json */
	const struct nt_jobtexts *texts; /* what accounting and slurmctld have */
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

	if (holding != NT_HOLDS_RECORD) {
		answer->other += holding == NT_HOLDS_OTHER;
		return 0;
	}
	nt_summary_init(&summary);
	rc = nt_summary_parse(&summary, text, text_bytes, step, err);
	if (rc == 0 && nt_summary_damaged(&summary)) {
		nt_command_complain(&nt_command_report, "%s%s%sthe record is damaged",
				    label ? "job " : "", label ? label : "", label ? ": " : "");
		answer->partial = true;
	}
	if (rc == 0 && (summary.step_count > 0 || summary.remark_count > 0)) {
		if (answer->array) {
			rc = nt_summary_json(answer->array, label, &summary, err);
		} else {
			if (answer->shown > 0)
				putchar('\n');
			rc = nt_summary_print(stdout, label, &summary, err);
		}
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

static int report_job(struct answer *answer, size_t *known, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc;

	slurm_init(NULL);
	rc = nt_job_load(&texts, &answer->request->id, err);
	for (size_t i = 0; rc == 0 && i < texts.count; i++) {
		const struct nt_jobtext *text = &texts.items[i];

		answer->running += !text->ended;
		if (text->from[0])
			nt_command_complain(&nt_command_report, "job %s: %s", text->label,
					    text->from);
		rc = show_text(answer, text->label, text->comment, strlen(text->comment), err);
	}
	*known = texts.count;
	if (rc == 0 && texts.count > 0 && texts.doubt.text[0]) {
		nt_command_complain(&nt_command_report, "%s: what runs may have a newer record",
				    texts.doubt.text);
		answer->partial = true;
	}
	answer->texts = &texts;
	if (rc == 0)
		report_spool(answer);
	answer->texts = NULL;
	nt_jobtexts_fini(&texts);
	slurm_fini();
	return rc;
}

static int report(const struct request *request)
{
	struct answer answer = { .request = request };
	struct nt_error err;
	size_t known = 0;
	int rc;

	if (request->json) {
		answer.array = json_object_new_array();
		if (!answer.array) {
			nt_command_complain(&nt_command_report, "no memory for the report");
			return NT_EXIT_FAILED;
		}
	}
	rc = request->file ? report_file(&answer, &err) : report_job(&answer, &known, &err);
	if (rc < 0)
		nt_command_complain(&nt_command_report, "%s", err.text);
	else if (answer.shown == 0)
		explain_nothing(&answer, known);
	if (rc == 0 && answer.array)
		puts(json_object_to_json_string_ext(
			answer.array, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(answer.array);
	return nt_command_finish(&nt_command_report, rc < 0 || answer.shown == 0 || answer.partial
							     ? NT_EXIT_FAILED
							     : NT_EXIT_OK);
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "file", required_argument, NULL, 'f' },
		{ "spool", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct nt_record_places places;
	struct request request = { .spool = places.spool };
	struct nt_error err;
	int option;

	opterr = 0;
	nt_record_places(&places);
	while ((option = getopt_long(argc, argv, ":jf:s:h", options, NULL)) != -1) {
		if (option == 'j')
			request.json = true;
		else if (option == 'f')
			request.file = optarg;
		else if (option == 's')
			request.spool = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_report);
		else
			return nt_command_misuse_option(&nt_command_report, option, argv);
	}
	if (argc - optind > 1)
		return nt_command_misuse(&nt_command_report, "one job at a time, not also '%s'",
					 argv[optind + 1]);
	request.has_id = optind < argc;
	if (!request.has_id && !request.file)
		return nt_command_misuse(&nt_command_report, "which job?");
	if (request.has_id && nt_jobid_parse(&request.id, argv[optind], &err) < 0)
		return nt_command_misuse(&nt_command_report, "%s", err.text);
	return report(&request);
}

const struct nt_command nt_command_report = {
	.name = "report",
	.run = run,
	.summary = "show what a job's steps tuned and what it brought",
	.help = "Usage: nccl-tune report JOB[.STEP] [--json] [--spool DIRECTORY]\n"
		"       nccl-tune report --file FILE [JOB[.STEP]] [--json]\n"
		"\n"
		"Show the record that tuning left in a job's AdminComment: one row for each collective and\n"
		"size, then why what was not tuned was not, then the net time saved.\n"
		"\n"
		"JOB is a job id, an array task (12_3) or a component of a heterogeneous job (12+1).\n"
		"The id of a whole array or heterogeneous job shows all of its tasks or components.\n"
		"\n"
		"  -f, --file FILE  read the record from FILE (- for standard input) instead of asking Slurm\n"
		"  -j, --json       print a JSON array for programs, see nccl-tune(1)\n"
		"  -s, --spool DIRECTORY\n"
		"                   where this machine keeps records that accounting does not have (root;\n"
		"                   default: as the site has it, else " NT_SPOOL_DIR ")\n"
		"  -h, --help       print this\n"
		"\n"
		"Exit status: 0 shown in full, 1 no record or not all of it (the reason is on stderr),\n"
		"2 misuse.\n",
};

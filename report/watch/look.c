/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/watch/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report/model/controller.h"
#include "report/model/jobload.h"
#include "report/model/longform-search.h"
#include "report/model/record-merge.h"
#include "report/watch/rank-files.h"

void nt_watch_load_fini(struct nt_watch_load *load)
{
	nt_jobtext_fini(&load->job);
}

/* ---- the job */

#define RUNS_MAX 64 /* whose steps are removed */

/* Slurm keeps their steps in the text of a requeued job. */
static int leave_earlier_runs(char **comment, unsigned runs)
{
	int rc = 0;

	for (unsigned run = 0; rc == 0 && run < runs && run < RUNS_MAX; run++)
		rc = nt_record_merge_move_run(comment, (long)run, NULL);
	return rc;
}

/* What was known before is freed with the list that text is in. */
static int take_text(struct nt_watch_load *load, struct nt_jobtext *text, struct nt_error *err)
{
	const struct nt_jobtext old = load->job;
	struct nt_jobtext *job = &load->job;

	if (leave_earlier_runs(&text->comment, text->run) < 0)
		return nt_error_set(err, "no memory for the job's text");
	if (!old.comment || strcmp(old.comment, text->comment) != 0)
		load->read_s = 0;
	*job = *text;
	*text = old;
	load->known = true;
	if (job->job == 0)
		job->job = load->id.job;
	if (!job->state)
		job->state = job->ended ? "ended" : old.state;
	if (job->start_s == 0)
		job->start_s = old.start_s;
	if (!job->user[0])
		memcpy(job->user, old.user, sizeof(job->user));
	return 0;
}

static int take_texts(struct nt_watch_load *load, struct nt_jobtexts *texts, struct nt_error *err)
{
	if (texts->count > 1)
		return nt_error_set(err,
				    "job %u has %zu tasks or components: name one of them, as %s",
				    load->id.job, texts->count, texts->items[0].label);
	return texts->count == 1 ? take_text(load, &texts->items[0], err) : 0;
}

/* slurmctld forgets a job some minutes after its end, and accounting has it then. */
static int ask_accounting(struct nt_watch_load *load, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc = nt_job_load(&texts, &load->id, err);

	if (rc == 0)
		rc = take_texts(load, &texts, err);
	if (rc == 0 && texts.count == 0 && !load->known)
		rc = nt_error_set(err, "no job %u: slurmctld and accounting have no such job",
				  load->id.job);
	if (rc == 0 && texts.count == 0)
		load->job.ended = true;
	nt_jobtexts_fini(&texts);
	return rc;
}

static int ask(struct nt_watch_load *load, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_error trouble = { "" };
	int rc = nt_controller_load(&texts, &load->id, &trouble);

	load->trouble = trouble;
	if (rc == 0)
		rc = take_texts(load, &texts, err);
	else if (load->known)
		rc = 0; /* tried again later */
	else
		*err = trouble;
	if (rc == 0 && !trouble.text[0] && texts.count == 0)
		rc = ask_accounting(load, err);
	nt_jobtexts_fini(&texts);
	return rc;
}

/* ---- its record */

static void say_source(struct nt_watch_job *job, const char *source, int64_t written_s)
{
	snprintf(job->source, sizeof(job->source), "%s", source);
	job->written_s = written_s;
}

/* The long form holds more than the text in Slurm, and is no older. */
static int load_elsewhere(struct nt_watch_load *load, double now_s, struct nt_summary *summary,
			  struct nt_watch_job *job, struct nt_error *err)
{
	const char *step = load->id.step[0] ? load->id.step : NULL;
	const struct nt_long_job wanted = {
		.job = load->job.job, .user = load->job.user, .step = step, .run = load->job.run
	};
	int steps;

	if (load->read_s == 0 || now_s - load->read_s >= NT_WATCH_READ_S || load->job.ended) {
		if (nt_summary_parse(summary, load->job.comment, strlen(load->job.comment), step,
				     err) < 0)
			return -1;
		steps = nt_long_prefer(summary, &wanted, load->job.comment,
				       strlen(load->job.comment), err);
		if (steps < 0)
			return -1;
		load->read_s = now_s;
		load->source = summary->step_count == 0 ? ""
			       : steps > 0		? "the job's record in full"
							: "the job's record in Slurm";
	}
	say_source(job, load->source ? load->source : "", 0);
	return 0;
}

static int load_record(struct nt_watch_load *load, double now_s, struct nt_summary *summary,
		       struct nt_watch_job *job, struct nt_error *err)
{
	const char *step = load->id.step;
	int64_t written_s = 0;
	int found = 0;

	if (!load->job.ended)
		found = nt_watch_load_files(summary, load->rundir, load->job.job, step, &written_s,
					    err);
	if (found < 0)
		return -1;
	/* A step has ended: ask whether the job has. */
	if (load->had_files && found == 0)
		load->due_s = 0;
	load->had_files = found > 0;
	if (summary->step_count > 0) {
		say_source(job, "the files of its processes on this node", written_s);
		load->read_s = 0;
		return 0;
	}
	return load_elsewhere(load, now_s, summary, job, err);
}

static void describe(const struct nt_watch_load *load, struct nt_watch_job *job)
{
	const int64_t until_s = load->job.end_s ? load->job.end_s : (int64_t)time(NULL);

	*job = (struct nt_watch_job){ .state = load->job.state, .ran_s = -1 };
	snprintf(job->label, sizeof(job->label), "%s%s%s", load->job.label,
		 load->id.step[0] ? "." : "", load->id.step);
	if (load->job.start_s > 0 && until_s >= load->job.start_s)
		job->ran_s = until_s - load->job.start_s;
	if (load->trouble.text[0])
		snprintf(job->trouble, sizeof(job->trouble), "%.150s", load->trouble.text);
	job->end_s = load->job.end_s;
	job->over = load->job.ended;
}

int nt_watch_load(struct nt_watch_load *load, double now_s, struct nt_summary *summary,
		  struct nt_watch_job *job, struct nt_error *err)
{
	if (now_s >= load->due_s) {
		if (ask(load, err) < 0)
			return -1;
		load->due_s = now_s + (load->job.ended ? NT_WATCH_ASK_LAST_S : NT_WATCH_ASK_S);
	}
	describe(load, job);
	if (load_record(load, now_s, summary, job, err) < 0)
		return -1;
	nt_summary_mark_running(summary, !load->job.ended, load->job.run);
	return 0;
}

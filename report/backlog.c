/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.c - see backlog.h */
#include "report/backlog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "record/child.h"
#include "record/filesink.h"
#include "record/splice.h"
#include "record/spoolkeep.h"
#include "report/accounting.h"
#include "report/command.h"
#include "report/database.h"
#include "report/usertext.h"
#include "spank/sink.h"

#define SACCT_MS 30000
#define UNKNOWN_S (7 * 24 * 60 * 60) /* a job that accounting has not heard of by then never was */

enum fate { FATE_NONE, FATE_WRITTEN, FATE_PRESENT, FATE_LATER, FATE_FAILED, FATE_DEAD };

struct letter {
	struct nt_spooled spooled;
	enum nt_spool_part part;
	enum fate fate;
	enum nt_sink sink; /* where it was put */
	struct nt_error why; /* of FATE_FAILED and FATE_DEAD */
};

struct portion {
	struct letter *letters;
	size_t count;
	struct nt_jobtexts texts;
};

/* ---- one file */

static void fail(struct letter *letter, enum fate fate, const char *why)
{
	letter->fate = fate;
	nt_error_set(&letter->why, "%s", why);
}

/* What slurmctld was given of the step before this one. */
static void forget_older(const struct nt_backlog *backlog, const struct letter *letter)
{
	if (letter->part == NT_PART_WAITING)
		(void)unlinkat(backlog->parts[NT_PART_SENT], letter->spooled.name, 0);
}

/* Set it aside, with the reason in it; a damaged one as it is. */
static int bury(const struct nt_backlog *backlog, const struct letter *letter, struct nt_error *err)
{
	const struct nt_spooled *spooled = &letter->spooled;
	const struct nt_spool_entry entry = { spooled->cluster, spooled->job,	 spooled->uid,
					      spooled->step,	spooled->record, letter->why.text };
	int dead_fd = backlog->parts[NT_PART_DEAD];

	forget_older(backlog, letter);
	if (spooled->problem)
		return renameat(spooled->directory_fd, spooled->name, dead_fd, spooled->name) < 0
			       ? nt_error_set(err, "cannot set it aside: %m")
			       : 0;
	if (nt_spool_write(dead_fd, NT_PART_DEAD, &entry, true, NULL, err) < 0)
		return -1;
	return nt_spooled_remove(spooled, err);
}

/* Accounting has it: is it to be looked at again? */
static int let_go(const struct nt_backlog *backlog, const struct letter *letter, int64_t end_s,
		  struct nt_error *err)
{
	forget_older(backlog, letter);
	if (time(NULL) - end_s >= backlog->quiet_s ||
	    (letter->fate == FATE_WRITTEN && letter->sink == NT_SINK_FILE))
		return nt_spooled_remove(&letter->spooled, err);
	if (letter->part == NT_PART_WAITING)
		return nt_spooled_move(&letter->spooled, backlog->parts[NT_PART_SENT], err);
	return 0;
}

/* Where it went, if that is not where everybody looks. */
static const char *goal_of(const struct nt_backlog *backlog, const struct letter *letter,
			   char out[NT_PATH_MAX])
{
	const struct nt_sink_place *place = nt_sink_place(letter->sink);

	out[0] = '\0';
	if (letter->fate == FATE_WRITTEN && letter->sink != NT_SINK_ADMINCOMMENT)
		snprintf(out, NT_PATH_MAX, " into %.200s",
			 place ? place->name : backlog->sinks->directory);
	return out;
}

static void tell(const struct nt_backlog *backlog, const struct letter *letter, const char *what)
{
	char goal[NT_PATH_MAX];

	if (letter->part == NT_PART_WAITING || letter->fate == FATE_WRITTEN)
		printf("job %u, step %s: %s%s%s\n", letter->spooled.job, letter->spooled.step,
		       backlog->dry_run && letter->fate == FATE_WRITTEN ? "would be " : "", what,
		       goal_of(backlog, letter, goal));
}

static void complain(const struct letter *letter, const char *what)
{
	if (letter->spooled.problem)
		nt_command_complain(&nt_command_backfill, "%s: %s%s", letter->spooled.name, what,
				    letter->why.text);
	else
		nt_command_complain(&nt_command_backfill, "job %u, step %s: %s%s",
				    letter->spooled.job, letter->spooled.step, what,
				    letter->why.text);
}

static void conclude(struct nt_backlog *backlog, struct letter *letter, int64_t end_s)
{
	bool act = !backlog->dry_run;
	enum fate fate = letter->fate;

	if (act && (fate == FATE_WRITTEN || fate == FATE_PRESENT) &&
	    let_go(backlog, letter, end_s, &letter->why) < 0)
		letter->fate = FATE_FAILED;
	if (fate == FATE_DEAD) {
		complain(letter, act ? "set aside: " : "would be set aside: ");
		if (act && bury(backlog, letter, &letter->why) < 0)
			letter->fate = FATE_FAILED;
	}
	switch (letter->fate) {
	case FATE_WRITTEN:
		backlog->written++;
		tell(backlog, letter,
		     letter->part == NT_PART_SENT ? "written again, another program had replaced it"
						  : "written");
		break;
	case FATE_PRESENT:
		backlog->present += letter->part == NT_PART_WAITING;
		tell(backlog, letter, "accounting has it");
		break;
	case FATE_LATER:
		backlog->later += letter->part == NT_PART_WAITING;
		tell(backlog, letter, "left for later, the job has not ended");
		break;
	case FATE_FAILED:
		backlog->failed++;
		complain(letter, "");
		break;
	case FATE_DEAD: backlog->dead++; break;
	case FATE_NONE: break;
	}
}

/* ---- one job */

static const struct nt_jobtext *find_job(const struct nt_jobtexts *texts, uint32_t job)
{
	/* The bare number of an array or a heterogeneous job finds all of it. */
	for (size_t i = 0; i < texts->count; i++) {
		if (texts->items[i].job == job)
			return &texts->items[i];
	}
	return NULL;
}

/* Accounting must now say what was meant. */
static int verify(const char *cluster, const struct nt_jobtext *job, enum nt_sink sink,
		  const char *expected, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	const struct nt_jobtext *found;
	int rc = nt_accounting_load_jobs(&texts, &job->job, 1, cluster, SACCT_MS, err);

	if (rc == 0 && sink != NT_SINK_ADMINCOMMENT)
		rc = nt_usertext_load(&texts, cluster, SACCT_MS, err);
	found = rc == 0 ? find_job(&texts, job->job) : NULL;
	if (rc == 0 && (!found || strcmp(nt_jobtext_at(found, sink), expected) != 0))
		rc = nt_error_set(err, "accounting does not hold what was written to it");
	nt_jobtexts_fini(&texts);
	return rc;
}

static int write_job(const char *cluster, const struct nt_jobtext *job, enum nt_sink sink,
		     const char *text, struct nt_error *err)
{
	struct nt_jobid id;

	if (nt_jobid_parse(&id, job->label, err) < 0)
		return -1;
	if (nt_database_write(cluster, &id, nt_sink_place(sink), text, err) < 0)
		return -1;
	return verify(cluster, job, sink, text, err);
}

/* What a job's places should say. */
struct goals {
	char *text[NT_SINK_KINDS];
	bool changed[NT_SINK_KINDS];
};

static bool is_held(const struct nt_sinks *sinks, const struct goals *goals,
		    const struct nt_spooled *spooled)
{
	for (unsigned i = 0; i < sinks->count; i++) {
		const char *text = goals->text[sinks->at[i]];

		if (text && nt_splice_holds(text, spooled->step, spooled->record))
			return true;
	}
	return false;
}

/* FATE_NONE: this place does not take it, and *why says why. */
static enum fate merge_at(struct letter *letter, enum nt_sink sink, struct goals *goals)
{
	const struct nt_sink_place *place = nt_sink_place(sink);
	const struct nt_spooled *spooled = &letter->spooled;
	char *merged;

	if (!goals->text[sink])
		return FATE_NONE;
	switch (nt_splice_step(goals->text[sink], spooled->step, spooled->record, &merged)) {
	case NT_SPLICED:
		free(goals->text[sink]);
		goals->text[sink] = merged;
		goals->changed[sink] = true;
		return FATE_WRITTEN;
	case NT_SPLICE_UNCHANGED: return FATE_PRESENT;
	case NT_SPLICE_FOREIGN:
		nt_error_set(&letter->why, "its %s holds what is not ours to change", place->name);
		return FATE_NONE;
	case NT_SPLICE_NO_ROOM:
		nt_error_set(&letter->why, "its %s has no room for it", place->name);
		return FATE_NONE;
	default: nt_error_set(&letter->why, "no memory for the merged text"); return FATE_FAILED;
	}
}

static enum fate file(const struct nt_backlog *backlog, struct letter *letter)
{
	const struct nt_spooled *spooled = &letter->spooled;
	const struct nt_spool_entry entry = { spooled->cluster, spooled->job,	 spooled->uid,
					      spooled->step,	spooled->record, NULL };

	if (backlog->dry_run)
		return FATE_WRITTEN;
	return nt_filesink_put(backlog->sinks->directory, &entry, NULL, &letter->why) == 0
		       ? FATE_WRITTEN
		       : FATE_NONE;
}

/* Into the first place of the site's list that takes it. */
static void merge(const struct nt_backlog *backlog, struct letter *letter, struct goals *goals)
{
	const struct nt_sinks *sinks = backlog->sinks;

	if (letter->part == NT_PART_SENT && is_held(sinks, goals, &letter->spooled)) {
		letter->fate = FATE_PRESENT;
		return;
	}
	nt_error_set(&letter->why, "Slurm has no place for it");
	for (unsigned i = 0; i < sinks->count && letter->fate == FATE_NONE; i++) {
		letter->sink = sinks->at[i];
		letter->fate = sinks->at[i] == NT_SINK_FILE ? file(backlog, letter)
							    : merge_at(letter, sinks->at[i], goals);
	}
	if (letter->fate == FATE_NONE)
		letter->fate = FATE_DEAD;
}

static int begin_goals(const struct nt_sinks *sinks, const struct nt_jobtext *job,
		       struct goals *goals)
{
	*goals = (struct goals){ .text = { NULL } };
	for (unsigned i = 0; i < sinks->count; i++) {
		enum nt_sink sink = sinks->at[i];

		if (!nt_sink_place(sink))
			continue;
		goals->text[sink] = strdup(nt_jobtext_at(job, sink));
		if (!goals->text[sink])
			return -1;
	}
	return 0;
}

/* What was meant for a place that took no change. */
static void fail_those_of(struct portion *portion, uint32_t job, enum nt_sink sink, const char *why)
{
	for (size_t i = 0; i < portion->count; i++) {
		struct letter *letter = &portion->letters[i];

		if (letter->fate == FATE_WRITTEN && letter->sink == sink &&
		    letter->spooled.job == job)
			fail(letter, FATE_FAILED, why);
	}
}

/* Of all files of the job: what accounting should say, and what becomes of each. */
static void settle_ended(const struct nt_backlog *backlog, struct portion *portion,
			 const struct letter *first, const struct nt_jobtext *job)
{
	const char *cluster = first->spooled.cluster;
	struct goals goals;
	struct nt_error err;
	bool ready = begin_goals(backlog->sinks, job, &goals) == 0;

	for (size_t i = 0; i < portion->count; i++) {
		struct letter *letter = &portion->letters[i];

		if (letter->fate != FATE_NONE || letter->spooled.job != job->job)
			continue;
		if (ready)
			merge(backlog, letter, &goals);
		else
			fail(letter, FATE_FAILED, "no memory for the merged text");
	}
	for (unsigned sink = 0; sink < NT_SINK_KINDS; sink++) {
		if (goals.changed[sink] && !backlog->dry_run &&
		    write_job(cluster, job, (enum nt_sink)sink, goals.text[sink], &err) < 0)
			fail_those_of(portion, job->job, (enum nt_sink)sink, err.text);
		free(goals.text[sink]);
	}
}

static void settle_unknown(struct letter *letter)
{
	const char *cluster = letter->spooled.cluster;
	bool old = time(NULL) - letter->spooled.status.st_mtime > UNKNOWN_S;

	letter->fate = old ? FATE_DEAD : FATE_FAILED;
	nt_error_set(&letter->why, "accounting of cluster %s does not know the job", cluster);
}

static void settle_job(struct nt_backlog *backlog, struct portion *portion, struct letter *first)
{
	const struct nt_jobtext *job = find_job(&portion->texts, first->spooled.job);
	uint32_t id = first->spooled.job;

	/* When the job ends, slurmctld writes its own text over whatever accounting holds. */
	if (job && job->ended)
		settle_ended(backlog, portion, first, job);
	for (size_t i = 0; i < portion->count; i++) {
		struct letter *letter = &portion->letters[i];

		if (letter->spooled.job != id)
			continue;
		if (!job)
			settle_unknown(letter);
		else if (!job->ended)
			letter->fate = FATE_LATER;
		conclude(backlog, letter, job ? job->end_s : 0);
	}
}

/* ---- a portion */

/* The step has a newer record, which is looked at in its own place. */
static bool is_old(const struct nt_backlog *backlog, const struct nt_backlog_file *file)
{
	if (file->part != NT_PART_SENT ||
	    (faccessat(backlog->parts[NT_PART_WAITING], file->name, F_OK, 0) < 0 &&
	     faccessat(backlog->parts[NT_PART_DEAD], file->name, F_OK, 0) < 0))
		return false;
	if (!backlog->dry_run)
		(void)unlinkat(backlog->parts[NT_PART_SENT], file->name, 0);
	return true;
}

/* Files of one cluster, since one question is about one. The number that was read. */
static size_t read_letters(struct nt_backlog *backlog, struct portion *portion,
			   const struct nt_backlog_file *files, size_t count)
{
	const char *cluster = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		struct letter *letter = &portion->letters[portion->count];
		int part_fd = backlog->parts[files[i].part];

		*letter = (struct letter){ .part = files[i].part };
		if (faccessat(part_fd, files[i].name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* a step's writer has brought it meanwhile */
		if (is_old(backlog, &files[i]))
			continue;
		if (nt_spooled_read(&letter->spooled, part_fd, files[i].name, &letter->why) < 0) {
			letter->spooled.problem = letter->why.text;
			letter->fate = FATE_DEAD;
			conclude(backlog, letter, 0);
			continue;
		}
		if (cluster && strcmp(cluster, letter->spooled.cluster) != 0)
			break;
		cluster = letter->spooled.cluster;
		portion->count++;
	}
	return i;
}

static int load_texts(const struct nt_sinks *sinks, struct portion *portion, struct nt_error *err)
{
	const char *cluster = portion->letters[0].spooled.cluster;
	uint32_t jobs[NT_BACKLOG_PORTION];
	size_t count = 0;

	for (size_t i = 0; i < portion->count; i++) {
		uint32_t job = portion->letters[i].spooled.job;
		size_t seen = 0;

		while (seen < count && jobs[seen] != job)
			seen++;
		if (seen == count)
			jobs[count++] = job;
	}
	if (nt_accounting_load_jobs(&portion->texts, jobs, count, cluster, SACCT_MS, err) < 0)
		return -1;
	return nt_sinks_have(sinks, NT_SINK_EXTRA) || nt_sinks_have(sinks, NT_SINK_COMMENT)
		       ? nt_usertext_load(&portion->texts, cluster, SACCT_MS, err)
		       : 0;
}

static void give_up(struct nt_backlog *backlog, const struct portion *portion,
		    const struct nt_error *err)
{
	const struct nt_spooled *first = &portion->letters[0].spooled;

	backlog->failed += portion->count;
	if (portion->count == 1)
		nt_command_complain(&nt_command_backfill, "job %u, step %s: %s", first->job,
				    first->step, err->text);
	else
		nt_command_complain(&nt_command_backfill, "job %u, step %s, and %zu more: %s",
				    first->job, first->step, portion->count - 1, err->text);
}

size_t nt_backlog_settle(struct nt_backlog *backlog, const struct nt_backlog_file *files,
			 size_t count, bool *broken)
{
	struct portion portion = { .letters = calloc(count + 1, sizeof(portion.letters[0])) };
	struct nt_error err;
	size_t read = 0;

	*broken = !portion.letters;
	if (portion.letters)
		read = read_letters(backlog, &portion, files, count);
	if (portion.count > 0 && load_texts(backlog->sinks, &portion, &err) < 0) {
		give_up(backlog, &portion, &err);
		*broken = true;
	}
	for (size_t i = 0; !*broken && i < portion.count; i++) {
		if (portion.letters[i].fate == FATE_NONE && nt_clock_ms() < backlog->deadline_ms)
			settle_job(backlog, &portion, &portion.letters[i]);
	}
	nt_jobtexts_fini(&portion.texts);
	free(portion.letters);
	return read;
}

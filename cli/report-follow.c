/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report-follow.h"

#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/wrap.h"
#include "lib/write-all.h"
#include "report/model/controller.h"
#include "report/model/jobload.h"
#include "report/model/longform-search.h"
#include "report/model/record-merge.h"
#include "report/text/follow-lines.h"
#include "report/text/words.h"

#define EVERY_S 5
#define LAST_MS 20000 /* after the job's end: its last record comes some seconds later */

struct follow {
	const struct nt_jobid *id;
	bool terminal;
	struct nt_follow_lines shown; /* of the newest look */
	unsigned rows; /* of the terminal that they take */
	char *comment; /* at the newest look; NULL: there was none */
	const char *state; /* likewise */
	bool recorded; /* a step */
	bool over, whole; /* the job has ended; its last records are there */
	int64_t over_ms; /* when it was first seen to be over; 0: it is not */
};

/* ---- print */

/* Lines of text as the terminal breaks them. */
static unsigned rows_of(const char *text, unsigned columns)
{
	unsigned rows = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const unsigned length = (unsigned)strcspn(line, "\n");

		rows += length > columns ? (length + columns - 1) / columns : 1;
	}
	return rows;
}

/* Over what was drawn before. stdout itself passes no control characters. */
static void draw(struct follow *follow, const struct nt_follow_lines *lines)
{
	struct winsize size = { .ws_col = NT_WRAP_COLUMNS };
	char back[32], *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return;
	for (size_t i = 0; i < lines->count; i++)
		nt_wrap(out, "", 2, lines->text[i]);
	fclose(out);
	snprintf(back, sizeof(back), "\033[%uA\r\033[J", follow->rows);
	if (follow->rows > 0)
		(void)nt_write_all(STDOUT_FILENO, back, strlen(back));
	fputs(text, stdout);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		size.ws_col = NT_WRAP_COLUMNS;
	follow->rows = rows_of(text, size.ws_col);
	free(text);
}

static void print_changes(const struct follow *follow, const struct nt_follow_lines *lines)
{
	char clock[NT_CLOCK_MAX];

	nt_clock_words((double)time(NULL), clock);
	for (size_t i = 0; i < lines->count; i++) {
		if (!nt_follow_lines_have(&follow->shown, lines->text[i]))
			printf("%s %s\n", clock, lines->text[i]);
	}
}

static void show(struct follow *follow, const struct nt_follow_lines *lines)
{
	const bool same = lines->count == follow->shown.count &&
			  memcmp(lines->text, follow->shown.text,
				 lines->count * sizeof(lines->text[0])) == 0;

	if (!same && follow->terminal)
		draw(follow, lines);
	else if (!same)
		print_changes(follow, lines);
	fflush(stdout);
	follow->shown = *lines;
}

/* ---- look */

/* Is a step's last record, or a node's part of it, still missing? */
static bool is_early(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (step->early || (step->heard >= 0 && step->heard < step->nodes))
			return true;
	}
	return summary->step_count == 0;
}

static bool is_old(struct follow *follow, const struct nt_jobtext *text)
{
	const bool old = !text->ended && follow->comment && follow->state == text->state &&
			 strcmp(follow->comment, text->comment) == 0;

	free(follow->comment);
	follow->comment = strdup(text->comment);
	follow->state = text->state;
	return old;
}

static int read_and_show(struct follow *follow, struct nt_jobtext *text, struct nt_error *err)
{
	static struct nt_follow_lines lines;
	const char *step = follow->id->step[0] ? follow->id->step : NULL;
	const struct nt_long_job wanted = {
		.job = text->job, .user = text->user, .step = step, .run = text->run
	};
	struct nt_summary summary;
	int rc = 0;

	/* Slurm keeps the steps of earlier runs in the text of a requeued job. */
	for (unsigned run = 0; rc == 0 && run < text->run && run < 64; run++)
		rc = nt_record_merge_move_run(&text->comment, (long)run, NULL);
	nt_summary_init(&summary);
	if (rc < 0)
		rc = nt_error_set(err, "no memory for the job's text");
	else
		rc = nt_summary_parse(&summary, text->comment, strlen(text->comment), step, err);
	if (rc == 0 &&
	    nt_long_prefer(&summary, &wanted, text->comment, strlen(text->comment), err) < 0)
		rc = -1;
	nt_summary_mark_running(&summary, !text->ended, text->run);
	follow->over = text->ended;
	follow->whole = !is_early(&summary);
	follow->recorded |= summary.step_count > 0;
	if (rc == 0)
		rc = nt_follow_lines_make(&lines, text->label, text->state, text->ended, &summary,
					  err);
	if (rc == 0)
		show(follow, &lines);
	nt_summary_fini(&summary);
	return rc;
}

/* slurmctld is asked first: accounting has a record only when the job has ended, and may not know
 * yet that it runs again. */
static int load(struct follow *follow, struct nt_jobtexts *texts, struct nt_error *err)
{
	if (!follow->over && nt_controller_load(texts, follow->id, err) == 0 && texts->count == 1 &&
	    !texts->items[0].ended)
		return 0;
	nt_jobtexts_fini(texts);
	if (nt_job_load(texts, follow->id, err) < 0)
		return -1;
	if (texts->count > 1 && texts->items[0].job != texts->items[texts->count - 1].job)
		return nt_error_set(err, "job %u has %zu tasks or components: name one, as %s",
				    follow->id->job, texts->count, texts->items[0].label);
	if (texts->count == 0)
		return nt_error_set(err, "no job %u: slurmctld and accounting have no such job",
				    follow->id->job);
	return 0;
}

static int follow_once(struct follow *follow, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	int rc = load(follow, &texts, err);

	if (rc < 0 && follow->comment)
		rc = 0; /* a daemon does not answer: it is asked again */
	else if (rc == 0 && !is_old(follow, &texts.items[0])) /* earlier runs come behind it */
		rc = read_and_show(follow, &texts.items[0], err);
	nt_jobtexts_fini(&texts);
	if (follow->over && follow->over_ms == 0)
		follow->over_ms = nt_clock_ms();
	return rc;
}

int nt_report_follow(const struct nt_jobid *id, struct nt_error *err)
{
	const char *term = getenv("TERM");
	static struct follow follow;
	int rc;

	follow = (struct follow){ .id = id };
	follow.terminal = isatty(STDOUT_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
	slurm_init(NULL);
	while ((rc = follow_once(&follow, err)) == 0 && !ferror(stdout) &&
	       !(follow.over && (follow.whole || nt_clock_ms() - follow.over_ms > LAST_MS)))
		sleep(EVERY_S);
	slurm_fini();
	free(follow.comment);
	return rc == 0 && !follow.recorded ? nt_error_set(err, "nothing is known of its tuning")
					   : rc;
}

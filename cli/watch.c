/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune watch: follow a running job. */
#include "cli/command.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report/watch/display.h"
#include "lib/clock.h"
#include "lib/seconds.h"
#include "report/watch/frame.h"
#include "report/watch/look.h"
#include "lib/wrap.h"

#define INTERVAL_S 5
#define INTERVAL_MIN_S 2
#define INTERVAL_MAX_S 3600
#define ONCE_COLUMNS 80
#define ONCE_ROWS 500
#define LAST_S 20 /* after the job's end: its last record comes some seconds later */

struct request {
	bool once, plain;
	double interval_s;
	const char *rundir;
};

struct session {
	const struct request *request;
	struct nt_watch_load load;
	struct nt_watch watch;
	struct nt_watch_job job;
	bool drawn; /* on the terminal's second screen */
	bool quiet; /* news are not printed */
	double over_s; /* when the job was first seen to be over; 0: it is not */
	const char *state; /* printed last */
	int64_t start_s; /* of the job, at the last update; 0: unknown */
};

static double now_s(void)
{
	return (double)nt_clock_read_ns(CLOCK_REALTIME) / 1e9;
}

/* ---- lines */

static void print_news(void *argument, const struct nt_news *news)
{
	const struct session *session = argument;
	char clock[NT_NEWS_CLOCK];

	if (!session->quiet)
		printf("%s %s\n", nt_news_clock(news, clock), news->text);
}

static void print_frame(const struct session *session)
{
	struct nt_screen_line *lines = calloc(ONCE_ROWS, sizeof(*lines));
	size_t count;

	if (!lines)
		return;
	count = nt_watch_frame(&session->watch, &session->job, ONCE_COLUMNS, ONCE_ROWS, lines);
	for (size_t i = 0; i < count; i++)
		puts(lines[i].text);
	free(lines);
}

static void draw_frame(struct session *session)
{
	static struct nt_screen_line lines[ONCE_ROWS];
	unsigned columns, rows;
	size_t count;

	nt_screen_size(&columns, &rows);
	rows = rows < ONCE_ROWS ? rows : ONCE_ROWS;
	session->job.live = true;
	count = nt_watch_frame(&session->watch, &session->job, columns, rows, lines);
	(void)nt_screen_draw(lines, count);
}

/* Stays on the terminal after the display. */
static void print_end(const struct session *session)
{
	const struct nt_summary *summary = &session->watch.summary;
	const struct nt_watch_job *job = &session->job;
	char *verdict = nt_watch_verdict(summary, true), *line, *rest = verdict;

	printf("Job %s: %s.\n", job->label, job->state ? job->state : "ended");
	while (verdict && (line = strsep(&rest, "\n")) != NULL) {
		if (line[0])
			nt_wrap(stdout, "", 0, line);
	}
	printf("To see all of it: nccl-tune report %s\n", job->label);
	free(verdict);
}

/* ---- looking */

static void tell_state(struct session *session)
{
	char text[NT_WATCH_TEXT];

	if (!session->job.state || session->state == session->job.state)
		return;
	session->state = session->job.state;
	snprintf(text, sizeof(text), "job %s: %s", session->job.label, session->state);
	nt_watch_add_news(&session->watch, now_s(), text, print_news, session);
}

/* A requeued job starts again. */
static void start_anew(struct session *session)
{
	if (session->start_s != 0 && session->load.job.start_s > session->start_s) {
		nt_watch_fini(&session->watch);
		nt_watch_init(&session->watch);
	}
	session->start_s = session->load.job.start_s;
}

static int look(struct session *session, struct nt_error *err)
{
	struct nt_summary summary;
	int rc;

	nt_summary_init(&summary);
	rc = nt_watch_load(&session->load, now_s(), &summary, &session->job, err);
	nt_summary_mark_running(&session->watch.summary, !session->job.over, session->load.job.run);
	if (rc == 0)
		start_anew(session);
	if (rc == 0)
		tell_state(session);
	if (rc == 0 && summary.step_count > 0)
		rc = nt_watch_see_take(&session->watch, &summary, now_s(), print_news, session,
				       err);
	nt_summary_fini(&summary);
	return rc;
}

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

static bool is_over(struct session *session)
{
	if (!session->job.over)
		return false;
	if (session->over_s == 0)
		session->over_s = now_s();
	return !is_early(&session->watch.summary) || now_s() - session->over_s > LAST_S;
}

static void show(struct session *session)
{
	if (session->drawn)
		draw_frame(session);
	else if (session->request->once)
		print_frame(session);
	fflush(stdout);
}

/* Waits until the next update, and redraws when the terminal changes. */
static bool rest(struct session *session)
{
	const double until_s = now_s() + session->request->interval_s;
	double left_s = session->request->interval_s;
	bool quit = false;

	while (left_s > 0 && !quit) {
		if (nt_screen_wait((int)(left_s * 1000) + 1, &quit))
			show(session);
		left_s = until_s - now_s();
	}
	return quit;
}

static int watch_all(struct session *session, struct nt_error *err)
{
	do {
		if (look(session, err) < 0)
			return -1;
		if (session->job.over && !session->request->once && is_over(session))
			return 0;
		show(session);
	} while (!session->request->once && !ferror(stdout) && !rest(session));
	return 0;
}

static int watch(struct session *session)
{
	const struct request *request = session->request;
	struct nt_error err;
	int rc;

	slurm_init(NULL);
	nt_watch_init(&session->watch);
	session->drawn = !request->once && !request->plain && nt_screen_begin();
	session->quiet = session->drawn || request->once;
	rc = watch_all(session, &err);
	nt_screen_end();
	if (rc < 0)
		nt_command_complain("%s", err.text);
	else if (!request->once && session->job.over)
		print_end(session);
	if (rc == 0 && session->watch.summary.step_count == 0) {
		nt_command_complain("nothing is known of its tuning%s",
				    session->job.over ? "" : " yet");
		rc = -1;
	}
	nt_watch_fini(&session->watch);
	nt_watch_load_fini(&session->load);
	slurm_fini();
	return rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static void init(void *argument)
{
	struct request *request = argument;

	request->interval_s = INTERVAL_S;
	request->rundir = NT_RUN_DIR;
}

static int take_interval(void *argument, const char *text)
{
	struct request *request = argument;
	struct nt_error err;

	if (nt_seconds_parse(text, INTERVAL_MIN_S, INTERVAL_MAX_S, &request->interval_s, &err) == 0)
		return 0;
	return nt_command_misuse("%s", err.text);
}

static int run(void *argument, char *argv[])
{
	const struct request *request = argument;
	struct session session = { .request = request, .load.rundir = request->rundir };
	struct nt_error err;

	if (!argv[0])
		return nt_command_misuse("no job (want JOB or JOB.STEP)");
	if (nt_jobid_parse(&session.load.id, argv[0], &err) < 0)
		return nt_command_misuse("%s", err.text);
	return watch(&session);
}

static const struct nt_option options[] = {
	{ "once", 'o', "Print the current state once and exit", NT_FLAG(struct request, once) },
	{ "plain", 'p', "Print one line per change (default without a terminal)",
	  NT_FLAG(struct request, plain) },
	{ "interval", 'i',
	  "Seconds between two updates, 2 to 3600 (default: 5); slurmctld is asked at most every "
	  "10 seconds",
	  NT_TAKE(take_interval, "S") },
	{ "rundir", 'r', "Directory of the steps' runtime directories (default: " NT_RUN_DIR ")",
	  NT_TEXT(struct request, rundir, "DIRECTORY") },
	{ 0 },
};

const struct nt_command nt_command_watch = {
	.name = "watch",
	.summary = "follow a running job: what is explored, decided and saved",
	.options = options,
	.usage = "JOB[.STEP]",
	.doc = "Show a running job until it ends: the progress of exploring, the decisions, and "
	       "the time saved and spent. On a node of the job, its user sees data at most "
	       "10 seconds old; elsewhere, the job's record is shown. q or Ctrl-C ends the display, "
	       "not the job.\n\n"
	       "JOB is a job id, an array task (12_3) or a component of a heterogeneous "
	       "job (12+1)."
	       "\vExit status: 0 if something was shown, 1 if there is no such job or "
	       "nothing is known of its tuning (the reason is on stderr), 2 for a usage "
	       "error. Ctrl-C ends it by that signal.",
	.request_bytes = sizeof(struct request),
	.init = init,
	.run = run,
	.arguments = 1,
};

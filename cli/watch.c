/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune watch: a running job, live. */
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
};

struct session {
	const struct request *request;
	struct nt_watch_load load;
	struct nt_watch watch;
	struct nt_watch_job job;
	bool drawn; /* on the terminal's second screen */
	bool quiet; /* news are not printed */
	double over_s; /* since when the job is over; 0: it is not */
	const char *state; /* that was told */
	int64_t start_s; /* of the job, when it was looked at last; 0: unknown */
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

/* What stays on the terminal. */
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

/* A job that was requeued begins once more. */
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

/* Written while the steps ran, each step's last one replaces it; or not by all nodes yet. */
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

/* Until the next look; the terminal may have changed meanwhile. */
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

static int watch(const struct request *request, struct session *session)
{
	struct nt_error err;
	int rc;

	slurm_init(NULL);
	nt_watch_init(&session->watch);
	session->request = request;
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
	return nt_command_finish(rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK);
}

struct asked {
	struct request request;
	struct session session;
};

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct asked *asked = state->input;
	struct nt_error err;

	switch (key) {
	case 'o': asked->request.once = true; return 0;
	case 'p': asked->request.plain = true; return 0;
	case 'r': asked->session.load.rundir = arg; return 0;
	case 'i':
		if (nt_seconds_parse(arg, INTERVAL_MIN_S, INTERVAL_MAX_S,
				     &asked->request.interval_s, &err) == 0)
			return 0;
		return nt_command_misuse("%s", err.text);
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int run(int argc, char *argv[])
{
	struct asked asked = { .request = { .interval_s = INTERVAL_S },
			       .session = { .load.rundir = NT_RUN_DIR } };
	struct nt_error err;
	int first, status = nt_command_parse(&nt_command_watch, argc, argv, &asked, &first);

	if (status != NT_COMMAND_GO)
		return status;
	if (argc - first > 1)
		return nt_command_misuse("too many arguments: '%s' (want one job)",
					 argv[first + 1]);
	if (first == argc)
		return nt_command_misuse("no job (want JOB or JOB.STEP)");
	if (nt_jobid_parse(&asked.session.load.id, argv[first], &err) < 0)
		return nt_command_misuse("%s", err.text);
	return watch(&asked.request, &asked.session);
}

static const struct argp_option options[] = {
	{ "once", 'o', NULL, 0, "Print the current state once and exit", 0 },
	{ "plain", 'p', NULL, 0, "Print one line per change (default without a terminal)", 0 },
	{ "interval", 'i', "S", 0,
	  "Seconds between two updates, 2 to 3600 (default: 5); slurmctld is asked at most every "
	  "10 seconds",
	  0 },
	{ "rundir", 'r', "DIRECTORY", 0,
	  "Directory of the steps' runtime directories (default: " NT_RUN_DIR ")", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "JOB[.STEP]",
	.doc = "Show a running job until it ends: the progress of exploring, the decisions, and "
	       "the time saved and spent. On a node of the job, its user sees data at most "
	       "10 seconds old; elsewhere, the job's record is shown. q or Ctrl-C ends the display, "
	       "not the job.\n\n"
	       "JOB is a job id, an array task (12_3) or a component of a heterogeneous "
	       "job (12+1)."
	       "\vExit status: 0 if something was shown, 1 if there is no such job or "
	       "nothing is known of its tuning (the reason is on stderr), 2 for a usage "
	       "error. Ctrl-C ends it by that signal.",
};

const struct nt_command nt_command_watch = {
	.name = "watch",
	.run = run,
	.summary = "follow a running job: what is explored, decided and saved",
	.argp = &argp,
};

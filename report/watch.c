/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune watch: a running job, live. */
#include "report/command.h"

#include <getopt.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report/screen.h"
#include "report/seconds.h"
#include "report/watchframe.h"
#include "report/watchload.h"
#include "report/watchverdict.h"
#include "report/wrap.h"

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
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- lines */

static void print_news(void *argument, const struct nt_news *news)
{
	const struct session *session = argument;
	const time_t at = (time_t)news->at_s;
	char clock[16] = "";
	struct tm local;

	if (session->quiet)
		return;
	if (news->at_s > 0 && localtime_r(&at, &local))
		(void)strftime(clock, sizeof(clock), "%H:%M:%S ", &local);
	printf("%s%s\n", clock, news->text);
}

static void print_frame(const struct session *session)
{
	struct nt_line *lines = calloc(ONCE_ROWS, sizeof(*lines));
	size_t count;

	if (!lines)
		return;
	count = nt_watch_frame(&session->watch, &session->job, now_s(), ONCE_COLUMNS, ONCE_ROWS,
			       lines);
	for (size_t i = 0; i < count; i++)
		puts(lines[i].text);
	free(lines);
}

static void draw_frame(struct session *session)
{
	static struct nt_line lines[ONCE_ROWS];
	unsigned columns, rows;
	size_t count;

	nt_screen_size(&columns, &rows);
	rows = rows < ONCE_ROWS ? rows : ONCE_ROWS;
	session->job.live = true;
	count = nt_watch_frame(&session->watch, &session->job, now_s(), columns, rows, lines);
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
	nt_watch_add_news(&session->watch, now_s(), false, text, print_news, session);
}

/* A job that was requeued begins once more. */
static void start_anew(struct session *session)
{
	if (session->start_s != 0 && session->load.start_s > session->start_s) {
		nt_watch_fini(&session->watch);
		nt_watch_init(&session->watch);
	}
	session->start_s = session->load.start_s;
}

static int look(struct session *session, struct nt_error *err)
{
	struct nt_summary summary;
	int rc;

	nt_summary_init(&summary);
	rc = nt_watch_load(&session->load, now_s(), &summary, &session->job, err);
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
		nt_command_complain(&nt_command_watch, "%s", err.text);
	else if (!request->once && session->job.over)
		print_end(session);
	if (rc == 0 && session->watch.summary.step_count == 0) {
		nt_command_complain(&nt_command_watch, "nothing is known of its tuning%s",
				    session->job.over ? "" : " yet");
		rc = -1;
	}
	nt_watch_fini(&session->watch);
	nt_watch_load_fini(&session->load);
	slurm_fini();
	return nt_command_finish(&nt_command_watch, rc < 0 ? NT_EXIT_FAILED : NT_EXIT_OK);
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "once", no_argument, NULL, 'o' },
		{ "plain", no_argument, NULL, 'p' },
		{ "interval", required_argument, NULL, 'i' },
		{ "rundir", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct request request = { .interval_s = INTERVAL_S };
	struct session session = { .load.rundir = NT_RUN_DIR };
	struct nt_error err;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":opi:r:h", options, NULL)) != -1) {
		if (option == 'o')
			request.once = true;
		else if (option == 'p')
			request.plain = true;
		else if (option == 'i' && nt_seconds_parse(optarg, INTERVAL_MIN_S, INTERVAL_MAX_S,
							   &request.interval_s, &err) < 0)
			return nt_command_misuse(&nt_command_watch, "%s", err.text);
		else if (option == 'r')
			session.load.rundir = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_watch);
		else if (option != 'i')
			return nt_command_misuse_option(&nt_command_watch, option, argv);
	}
	if (argc - optind > 1)
		return nt_command_misuse(&nt_command_watch, "one job at a time, not also '%s'",
					 argv[optind + 1]);
	if (optind == argc)
		return nt_command_misuse(&nt_command_watch, "which job?");
	if (nt_jobid_parse(&session.load.id, argv[optind], &err) < 0)
		return nt_command_misuse(&nt_command_watch, "%s", err.text);
	return watch(&request, &session);
}

const struct nt_command nt_command_watch = {
	.name = "watch",
	.run = run,
	.summary = "look at a running job: what is explored, decided, saved",
	.help = "Usage: nccl-tune watch JOB[.STEP] [--once | --plain] [--interval S] [--rundir DIRECTORY]\n"
		"\n"
		"Look at a running job, again and again until it ends: what is being explored and how far\n"
		"that is, what was decided, what was saved and spent. On a node of the job, its user sees\n"
		"what is at most some 10 seconds old; elsewhere it is what the job's record says.\n"
		"q or Ctrl-C ends it; the job goes on.\n"
		"\n"
		"JOB is a job id, an array task (12_3) or a component of a heterogeneous job (12+1).\n"
		"\n"
		"  -o, --once        show it once\n"
		"  -p, --plain       one line for each change, as where there is no terminal\n"
		"  -i, --interval S  seconds between two looks, 2 to 3600 (default: 5); slurmctld is asked\n"
		"                    every 10 seconds at most\n"
		"  -r, --rundir DIRECTORY\n"
		"                    where steps have their directories (default: " NT_RUN_DIR ")\n"
		"  -h, --help        print this\n"
		"\n"
		"Exit status: 0 shown, 1 there is no such job or nothing is known of its tuning (the reason\n"
		"is on stderr), 2 misuse; after Ctrl-C as of any program that a signal ends.\n",
};

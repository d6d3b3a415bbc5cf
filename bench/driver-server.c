/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/driver-server.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "bench/driver-link.h"
#include "bench/driver-result.h"
#include "bench/driver-run.h"
#include "bench/options.h"
#include "lib/clock.h"
#include "launch/measure/race.h"

#define STRANGERS 16 /* connections that have not said hello yet */
#define HELLO_MS 2000
#define REPORT_MS 5000 /* after the end of a lap, until all have said so */
#define FAREWELL_MS 1000 /* for drivers that are not in doubt */
#define START_S 3 /* assumed time of a benchmark before its calls */
#define LAPS_WISHED 3
#define CALLS_MOST_S 3

struct stranger {
	struct nt_link link;
	int64_t until_ms;
};

struct task {
	struct nt_link link;
	bool joined, ended, ready, done;
	unsigned gpus;
};

struct server {
	struct nt_driver driver;
	int listener;
	struct stranger stranger[STRANGERS];
	struct task *task;
	unsigned *node; /* of each task */
	struct pollfd *polls;
	int64_t start_ms; /* when the first driver started */
	bool prepared; /* drivers may be in doubt */
	char outcome[NT_CAL_WHY + 16]; /* the line that tells it; "": open */
	/* The lap. */
	enum nt_run_end end;
	char why[NT_CAL_WHY];
	bool stopped;
	unsigned calls; /* with times */
	double us[NT_CAL_CALLS][3]; /* p25, median, p75 */
	uint64_t samples[NT_CAL_CALLS];
	struct nt_race race;
	struct nt_driver_result result;
};

__attribute__((format(printf, 2, 3))) static void say_all(struct server *s, const char *format, ...)
{
	char line[NT_LINK_LINE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (unsigned t = 0; t < s->driver.tasks; t++)
		nt_link_say(&s->task[t].link, "%s", line);
}

static double elapsed_s(const struct server *s)
{
	return (double)(nt_clock_ms() - s->start_ms) / 1000;
}

/* ---- lines of a driver */

static void take_ended(struct server *s, struct task *task, const char *line)
{
	char name[16] = "";
	int at = 0;
	int end = sscanf(line, "%15s %n", name, &at) == 1 ? nt_run_end_parse(name) : -1;

	if (end < 0 || task->ended) {
		nt_link_close(&task->link);
		return;
	}
	task->ended = true;
	if (end > (int)s->end || (end == (int)s->end && !s->why[0])) {
		s->end = (enum nt_run_end)end;
		snprintf(s->why, sizeof(s->why), "%.*s", NT_CAL_WHY - 1, line + at);
	}
	/* The others would wait for it. */
	if (end != NT_RUN_WELL && end != NT_RUN_WRONG && !s->stopped) {
		s->stopped = true;
		say_all(s, "stop");
	}
}

static bool take_call(struct server *s, const char *line)
{
	double us[3];
	uint64_t samples;
	unsigned call;
	int end = 0;

	if (sscanf(line, "%u %lf %lf %lf %" SCNu64 "%n", &call, &us[0], &us[1], &us[2], &samples,
		   &end) != 5 ||
	    line[end] || call != s->calls || call >= s->race.calls || samples == 0)
		return false;
	for (int i = 0; i < 3; i++) {
		if (!(us[i] > 0 && us[i] < 1e12))
			return false;
		s->us[call][i] = us[i];
	}
	s->samples[call] = samples;
	s->calls++;
	return true;
}

static bool take_library(struct server *s, const char *line)
{
	int at = 0;

	return sscanf(line, "%d %n", &s->result.nccl, &at) == 1 && at > 0 && line[at] == '/' &&
	       strlen(line + at) < sizeof(s->result.library) &&
	       snprintf(s->result.library, sizeof(s->result.library), "%s", line + at) > 0;
}

/* What only task 0 says. */
static bool take_first(struct server *s, const char *line)
{
	if (strncmp(line, "id ", 3) == 0) {
		say_all(s, "%s", line);
		return true;
	}
	if (strncmp(line, "call ", 5) == 0)
		return take_call(s, line + 5);
	return strncmp(line, "library ", 8) == 0 && take_library(s, line + 8);
}

static void take_line(struct server *s, struct task *task, const char *line)
{
	if (strncmp(line, "ended ", 6) == 0)
		take_ended(s, task, line + 6);
	else if (strcmp(line, "ready") == 0)
		task->ready = true;
	else if (strcmp(line, "done") == 0)
		task->done = true;
	else if (task != s->task || !take_first(s, line))
		nt_link_close(&task->link);
}

/* ---- connections */

/* hello 1 HALF TASK NODE GPUS AGE */
static struct task *recognise(struct server *s, const char *line)
{
	char half[NT_CAL_TOKEN / 2 + 1] = "";
	unsigned task, node, gpus;
	int64_t age_ms;
	int end = 0;

	if (sscanf(line, "hello 1 %16s %u %u %u %" SCNd64 "%n", half, &task, &node, &gpus, &age_ms,
		   &end) != 5 ||
	    line[end] || memcmp(half, s->driver.request.token, NT_CAL_TOKEN / 2) != 0 ||
	    task >= s->driver.tasks || age_ms < 0)
		return NULL;
	/* Again: only to hear the outcome. */
	if (s->task[task].joined)
		return s->outcome[0] && !s->task[task].done ? &s->task[task] : NULL;
	s->task[task].joined = true;
	s->task[task].gpus = gpus;
	s->node[task] = node;
	if (nt_clock_ms() - age_ms < s->start_ms && age_ms < 60000)
		s->start_ms = nt_clock_ms() - age_ms;
	return &s->task[task];
}

static void attend_stranger(struct server *s, struct stranger *stranger, short revents)
{
	char line[NT_LINK_LINE];
	struct task *task;

	nt_link_attend(&stranger->link, revents);
	if (!nt_link_line(&stranger->link, line)) {
		if (nt_clock_ms() >= stranger->until_ms)
			nt_link_close(&stranger->link);
		return;
	}
	task = recognise(s, line);
	if (!task) {
		nt_link_close(&stranger->link);
		return;
	}
	nt_link_close(&task->link);
	task->link = stranger->link;
	stranger->link.fd = -1;
	nt_link_say(&task->link, "welcome %s", s->driver.request.token + NT_CAL_TOKEN / 2);
	if (s->outcome[0])
		nt_link_say(&task->link, "%s", s->outcome);
}

static struct stranger *free_stranger(struct server *s)
{
	for (unsigned i = 0; i < STRANGERS; i++)
		if (s->stranger[i].link.fd < 0)
			return &s->stranger[i];
	return NULL;
}

static void accept_one(struct server *s, struct stranger *stranger)
{
	int fd = accept(s->listener, NULL, NULL);

	if (fd < 0) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		return;
	}
	nt_link_init(&stranger->link, fd);
	stranger->until_ms = nt_clock_ms() + HELLO_MS;
}

/* Everything that happens within the next moment. */
static void attend(struct server *s, int64_t until_ms)
{
	struct stranger *stranger = free_stranger(s);
	struct pollfd *task = s->polls + 1 + STRANGERS;
	int64_t left_ms = until_ms - nt_clock_ms();
	char line[NT_LINK_LINE];

	s->polls[0] = (struct pollfd){ stranger ? s->listener : -1, POLLIN, 0 };
	for (unsigned i = 0; i < STRANGERS; i++) {
		s->polls[1 + i] = nt_link_poll(&s->stranger[i].link);
		if (s->stranger[i].link.fd >= 0 && left_ms > HELLO_MS / 10)
			left_ms = HELLO_MS / 10;
	}
	for (unsigned t = 0; t < s->driver.tasks; t++)
		task[t] = nt_link_poll(&s->task[t].link);
	if (poll(s->polls, 1 + STRANGERS + s->driver.tasks, left_ms > 0 ? (int)left_ms : 0) < 0)
		return;
	for (unsigned t = 0; t < s->driver.tasks; t++) {
		nt_link_attend(&s->task[t].link, task[t].revents);
		while (nt_link_line(&s->task[t].link, line))
			take_line(s, &s->task[t], line);
	}
	for (unsigned i = 0; i < STRANGERS; i++)
		if (s->stranger[i].link.fd >= 0)
			attend_stranger(s, &s->stranger[i], s->polls[1 + i].revents);
	if (s->polls[0].revents)
		accept_one(s, stranger);
}

/* Until all tasks have a property, one is lost, or the time is over. Returns the first task that
 * has it not, or the number of tasks. */
static unsigned await_all(struct server *s, bool (*has)(const struct task *), int64_t until_ms)
{
	for (;;) {
		unsigned first = s->driver.tasks;

		for (unsigned t = s->driver.tasks; t-- > 0;) {
			if (!has(&s->task[t]))
				first = t;
			if (s->task[t].joined && s->task[t].link.fd < 0 && !s->outcome[0])
				return t;
		}
		if (first == s->driver.tasks || nt_clock_ms() >= until_ms)
			return first;
		attend(s, until_ms);
	}
}

static bool has_joined(const struct task *task)
{
	return task->joined;
}

static bool has_ended(const struct task *task)
{
	return task->ended;
}

static bool is_ready(const struct task *task)
{
	return task->ready;
}

static bool is_done(const struct task *task)
{
	return task->done;
}

/* ---- phases */

static int complain_of(struct server *s, unsigned task, const char *missing)
{
	if (s->task[task].joined && s->task[task].link.fd < 0)
		snprintf(s->why, sizeof(s->why), "task %u has ended", task);
	else
		snprintf(s->why, sizeof(s->why), "task %u %s", task, missing);
	return -1;
}

static int join(struct server *s)
{
	const int64_t wait_ms = nt_driver_join_ms(&s->driver);
	const unsigned late = await_all(s, has_joined, s->start_ms + wait_ms);
	char missing[48];

	if (late < s->driver.tasks) {
		snprintf(missing, sizeof(missing), "did not come within %d s",
			 (int)(wait_ms / 1000));
		return complain_of(s, late, missing);
	}
	for (unsigned t = 0; t < s->driver.tasks; t++) {
		s->driver.gpus = s->task[t].gpus;
		if (s->task[t].gpus != s->task[0].gpus || s->task[t].gpus == 0)
			break;
	}
	if (s->driver.gpus == 0)
		snprintf(s->why, sizeof(s->why), "a task sees no GPU");
	else if (s->driver.gpus != s->task[0].gpus)
		snprintf(s->why, sizeof(s->why), "tasks see %u and %u GPUs", s->task[0].gpus,
			 s->driver.gpus);
	else if (s->driver.gpus > NT_CAL_PROCS ||
		 (uint64_t)s->driver.tasks * s->driver.gpus > NT_BENCH_RANKS)
		snprintf(s->why, sizeof(s->why), "there are more than %d ranks", NT_BENCH_RANKS);
	return s->why[0] ? -1 : 0;
}

static unsigned calls_s(const struct server *s)
{
	const double s_each = (double)s->driver.request.seconds / (LAPS_WISHED * s->race.count);

	return s_each < START_S + 1		 ? 1
	       : s_each > START_S + CALLS_MOST_S ? CALLS_MOST_S
						 : (unsigned)(s_each - START_S);
}

static void note_lap(struct server *s, unsigned which, double took_s)
{
	double median[NT_CAL_CALLS];

	if (s->end == NT_RUN_WELL && s->calls < s->race.calls) {
		s->end = NT_RUN_FAILED;
		snprintf(s->why, sizeof(s->why), "it left no measurements");
	}
	if (s->end != NT_RUN_WELL) {
		snprintf(s->result.failed[which], NT_CAL_WHY, "%s", s->why);
		nt_race_fail(&s->race, which,
			     s->end == NT_RUN_WRONG ? NT_RACER_WRONG : NT_RACER_FAILED);
		return;
	}
	for (unsigned c = 0; c < s->calls; c++) {
		median[c] = s->us[c][1];
		nt_driver_result_add(&s->result.times[which][c], s->us[c][0], s->us[c][1],
				     s->us[c][2], s->samples[c]);
	}
	nt_race_note(&s->race, which, median, took_s, elapsed_s(s));
}

static int lap(struct server *s, unsigned which)
{
	const double begin_s = elapsed_s(s);
	const int64_t limit_ms = (int64_t)(1000 * nt_race_limit_s(&s->race, which, begin_s));
	unsigned late;

	s->end = NT_RUN_WELL;
	s->why[0] = '\0';
	s->stopped = false;
	s->calls = 0;
	for (unsigned t = 0; t < s->driver.tasks; t++)
		s->task[t].ended = false;
	say_all(s, "run %u %u %u %" PRId64, which, s->driver.gpus, calls_s(s), limit_ms);
	late = await_all(s, has_ended, nt_clock_ms() + limit_ms + REPORT_MS);
	if (late < s->driver.tasks)
		return complain_of(s, late, "does not answer");
	note_lap(s, which, elapsed_s(s) - begin_s);
	return 0;
}

/* The race. -1: why says what prevents a choice. */
static int measure(struct server *s)
{
	const struct nt_cal_request *request = &s->driver.request;
	char why[NT_CAL_WHY];
	enum nt_race_end end;
	int which;

	nt_driver_result_init(&s->result, &s->driver, s->node);
	nt_race_init(&s->race, request->profiles, request->call, request->calls, request->seconds,
		     0);
	s->race.guess_s = START_S + calls_s(s);
	while ((which = nt_race_next(&s->race, elapsed_s(s), &end)) >= 0)
		if (lap(s, (unsigned)which) < 0)
			return -1;
	s->result.chosen = nt_race_winner(&s->race, end);
	snprintf(why, sizeof(why), "%s", s->result.failed[0]);
	s->why[0] = '\0';
	if (end == NT_RACE_WRONG)
		snprintf(s->why, sizeof(s->why),
			 "results were wrong with NCCL's own settings: %.100s", why);
	else if (end == NT_RACE_NO_DEFAULT)
		snprintf(s->why, sizeof(s->why), "the benchmark failed: %.130s", why);
	else if (s->race.racer[0].laps == 0)
		snprintf(s->why, sizeof(s->why), "%u s are too little time", request->seconds);
	else if (nt_race_undecided(&s->race, end))
		snprintf(s->why, sizeof(s->why), "undecided after %u laps", s->race.laps);
	return s->why[0] ? -1 : 0;
}

static int agree(struct server *s)
{
	unsigned late;

	s->prepared = true;
	say_all(s, "prepare %u", s->result.chosen);
	late = await_all(s, is_ready, nt_clock_ms() + NT_DRIVER_READY_MS);
	return late < s->driver.tasks ? complain_of(s, late, "does not answer") : 0;
}

static void say_result(const struct server *s)
{
	const struct nt_racer *racer = &s->race.racer[s->result.chosen];
	const struct nt_cal_profile *profile = nt_driver_profile(&s->driver, s->result.chosen);

	if (s->why[0])
		fprintf(stderr, "nccl-tune: calibration without a result: %s; the settings stay\n",
			s->why);
	else if (s->result.chosen == 0)
		fprintf(stderr,
			"nccl-tune: no launch profile is faster than NCCL's own settings (%u laps "
			"in %.0f s)\n",
			s->race.laps, s->result.seconds);
	else
		fprintf(stderr,
			"nccl-tune: launch profile %s: calls are %.2f x as fast as with NCCL's own "
			"settings (%u laps in %.0f s)\n",
			profile->name, exp(-racer->log_ratio), s->race.laps, s->result.seconds);
}

/* Tells all, and stays for those who may come back. */
static void conclude(struct server *s)
{
	const int64_t now_ms = nt_clock_ms();
	struct nt_error err;

	s->result.seconds = elapsed_s(s);
	if (s->why[0])
		s->result.chosen = 0;
	snprintf(s->result.why, sizeof(s->result.why), "%s", s->why);
	if (s->driver.keeps && s->race.count > 0 &&
	    nt_driver_result_write(&s->result, &s->driver, &s->race, &err) < 0)
		fprintf(stderr, "nccl-tune: the calibration is not remembered: %s\n", err.text);
	if (s->why[0])
		snprintf(s->outcome, sizeof(s->outcome), "none %s", s->why);
	else
		snprintf(s->outcome, sizeof(s->outcome), "commit %u", s->result.chosen);
	say_all(s, "%s", s->outcome);
	say_result(s);
	/* One whose answer was lost may be in doubt, too. */
	(void)await_all(s, is_done, now_ms + (s->prepared ? NT_DRIVER_DOUBT_MS : FAREWELL_MS));
}

static void end(struct server *s)
{
	close(s->listener);
	for (unsigned i = 0; i < STRANGERS; i++)
		nt_link_close(&s->stranger[i].link);
	for (unsigned t = 0; s->task && t < s->driver.tasks; t++)
		nt_link_close(&s->task[t].link);
	free(s->task);
	free(s->node);
	free(s->polls);
	free(s);
}

void nt_server_run(const struct nt_driver *driver, int listener)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->driver = *driver;
	s->listener = listener;
	s->start_ms = driver->start_ms;
	for (unsigned i = 0; i < STRANGERS; i++)
		s->stranger[i].link.fd = -1;
	s->task = calloc(driver->tasks, sizeof(s->task[0]));
	s->node = calloc(driver->tasks, sizeof(s->node[0]));
	s->polls = calloc(1 + STRANGERS + driver->tasks, sizeof(s->polls[0]));
	if (s->task && s->node && s->polls) {
		for (unsigned t = 0; t < driver->tasks; t++)
			s->task[t].link.fd = -1;
		if (join(s) == 0 && measure(s) == 0)
			(void)agree(s);
		conclude(s);
	}
	end(s);
}

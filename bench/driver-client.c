/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/driver-client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "bench/driver-link.h"
#include "bench/driver-run.h"
#include "lib/clock.h"

#define ANSWER_MS 1000 /* of what listens on a port, until it is not the server */
#define PAUSE_MS 50 /* before all ports are tried again */
#define PATIENCE_MS 8000 /* beyond the time limit, for a server that says nothing */

struct client {
	const struct nt_driver *driver;
	int out_fd;
	struct nt_link link;
	struct nt_run run;
	bool running;
	unsigned choice;
	int64_t doubt_until_ms; /* 0: not in doubt */
	bool over;
};

__attribute__((format(printf, 2, 3))) static void say(struct client *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(c->out_fd, format, args);
	va_end(args);
}

static void end_with_none(struct client *c, const char *why)
{
	say(c, "none %s\n", why);
	c->over = true;
}

/* ---- the connection */

static bool await_welcome(struct client *c, int64_t until_ms)
{
	char line[NT_LINK_LINE], expected[NT_LINK_LINE];

	snprintf(expected, sizeof(expected), "welcome %s",
		 c->driver->request.token + NT_CAL_TOKEN / 2);
	while (c->link.fd >= 0 && nt_clock_ms() < until_ms) {
		struct pollfd ready = nt_link_poll(&c->link);

		if (poll(&ready, 1, (int)(until_ms - nt_clock_ms())) > 0)
			nt_link_attend(&c->link, ready.revents);
		if (nt_link_line(&c->link, line))
			return strcmp(line, expected) == 0;
	}
	return false;
}

static bool try_port(struct client *c, unsigned port)
{
	const struct nt_driver *d = c->driver;
	const int64_t until_ms = nt_clock_ms() + ANSWER_MS;

	nt_link_init(&c->link, nt_link_connect(d->request.address, port, until_ms));
	nt_link_say(&c->link, "hello 1 %.*s %u %u %u %" PRId64, NT_CAL_TOKEN / 2, d->request.token,
		    d->task, d->node, d->gpus, nt_clock_ms() - d->start_ms);
	if (await_welcome(c, until_ms))
		return true;
	nt_link_close(&c->link);
	return false;
}

static bool find_server(struct client *c, int64_t until_ms)
{
	while (nt_clock_ms() < until_ms) {
		for (unsigned i = 0; i < NT_LINK_PORTS && nt_clock_ms() < until_ms; i++)
			if (try_port(c, c->driver->port + i))
				return true;
		(void)poll(NULL, 0, PAUSE_MS);
	}
	return false;
}

/* ---- lines of the server */

static void take_run(struct client *c, const char *line)
{
	struct nt_run_turn turn;
	int end = 0;

	if (c->running || c->doubt_until_ms != 0 ||
	    sscanf(line, "%u %u %u %" SCNd64 "%n", &turn.profile, &turn.procs, &turn.seconds,
		   &turn.limit_ms, &end) != 4 ||
	    line[end] || !nt_driver_profile(c->driver, turn.profile) || turn.procs == 0 ||
	    turn.procs > NT_CAL_PROCS) {
		nt_link_close(&c->link);
		return;
	}
	nt_run_start(&c->run, c->driver, &turn);
	c->running = true;
}

/* From here on this task must know the outcome. */
static void take_prepare(struct client *c, const char *line)
{
	int end = 0;

	if (c->running || c->doubt_until_ms != 0 || sscanf(line, "%u%n", &c->choice, &end) != 1 ||
	    line[end] || !nt_driver_profile(c->driver, c->choice)) {
		nt_link_close(&c->link);
		return;
	}
	c->doubt_until_ms = nt_clock_ms() + NT_DRIVER_DOUBT_MS;
	say(c, "doubt\n");
	nt_link_say(&c->link, "ready");
}

static void take_commit(struct client *c, const char *line)
{
	const struct nt_cal_profile *profile = nt_driver_profile(c->driver, c->choice);
	char text[1024], number[16];

	snprintf(number, sizeof(number), "%u", c->choice);
	if (c->doubt_until_ms == 0 || strcmp(line, number) != 0) {
		nt_link_close(&c->link);
		return;
	}
	nt_link_say(&c->link, "done");
	if (c->choice == 0)
		say(c, "default\n");
	else
		say(c, "use %s\n", nt_cal_profile_text(profile, text, sizeof(text)));
	c->over = true;
}

static void take_line(struct client *c, const char *line)
{
	if (strncmp(line, "run ", 4) == 0)
		take_run(c, line + 4);
	else if (strncmp(line, "id ", 3) == 0)
		nt_run_id(&c->run, line, c->driver->task != 0);
	else if (strcmp(line, "stop") == 0)
		nt_run_stop(&c->run);
	else if (strncmp(line, "prepare ", 8) == 0)
		take_prepare(c, line + 8);
	else if (strncmp(line, "commit ", 7) == 0)
		take_commit(c, line + 7);
	else if (strncmp(line, "none ", 5) == 0) {
		nt_link_say(&c->link, "done");
		end_with_none(c, line + 5);
	} else
		nt_link_close(&c->link);
}

/* ---- the turn */

/* What the benchmark's rank 0 says is for the server. */
static void pass_on(struct client *c)
{
	char line[NT_LINK_LINE];

	while (c->run.procs > 0 && nt_link_line(&c->run.process[0].channel, line))
		if (c->driver->task == 0)
			nt_link_say(&c->link, "%s", line);
}

static void attend_run(struct client *c, const struct pollfd *polls)
{
	nt_run_attend(&c->run, polls);
	pass_on(c);
	if (!nt_run_over(&c->run))
		return;
	nt_link_say(&c->link, "ended %s %s", nt_run_end_name(c->run.end), c->run.why);
	nt_run_free(&c->run);
	c->running = false;
}

/* ---- the whole */

static void lose_server(struct client *c)
{
	if (c->doubt_until_ms == 0)
		end_with_none(c, "the connection to task 0 was lost");
	else if (!find_server(c, c->doubt_until_ms)) {
		say(c, "exit the other tasks may have a launch profile that this one does not "
		       "know\n");
		c->over = true;
	}
}

static void take_lines(struct client *c)
{
	char line[NT_LINK_LINE];

	while (!c->over && nt_link_line(&c->link, line))
		take_line(c, line);
}

static void attend(struct client *c, int64_t until_ms)
{
	struct pollfd polls[1 + 2 * NT_CAL_PROCS];
	int64_t wait_ms = until_ms - nt_clock_ms();
	unsigned count = 1;

	polls[0] = nt_link_poll(&c->link);
	if (c->running) {
		const int run_ms = nt_run_wait_ms(&c->run);

		count += nt_run_polls(&c->run, polls + 1);
		wait_ms = wait_ms < run_ms ? wait_ms : run_ms;
	}
	if (poll(polls, count, wait_ms > 0 ? (int)wait_ms : 0) < 0)
		return;
	if (c->running)
		attend_run(c, polls + 1);
	nt_link_attend(&c->link, polls[0].revents);
}

void nt_client_run(const struct nt_driver *driver, int out_fd)
{
	struct client c = { .driver = driver, .out_fd = out_fd, .link = { .fd = -1 } };
	const int64_t until_ms = driver->start_ms + (int64_t)driver->request.seconds * 1000 +
				 PATIENCE_MS;

	if (!find_server(&c, driver->start_ms + nt_driver_join_ms(driver)))
		end_with_none(&c, "task 0 cannot be reached");
	while (!c.over) {
		const int64_t limit_ms = c.doubt_until_ms != 0 ? c.doubt_until_ms : until_ms;

		/* Some may have come with the welcome. */
		take_lines(&c);
		if (c.over)
			break;
		if (c.link.fd < 0 || nt_clock_ms() >= limit_ms) {
			nt_link_close(&c.link);
			lose_server(&c);
		} else {
			attend(&c, limit_ms);
		}
	}
	nt_run_stop(&c.run);
	nt_run_free(&c.run);
	nt_link_close(&c.link);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-main.c - nt-calibrate: measures launch profiles in a step's tasks
 *
 * spank_nccl_tune.so starts it in each task, as the user, before the program is executed. The
 * request is in the environment. What the task is to do is one line on stdout: "use NAME NCCL_A=1
 * ...", "default", "none WHY" or "exit WHY". Before it promises the server to follow the choice it
 * says "doubt": from then on its end without another line means exit, because the other tasks may
 * have a profile.
 */
#include <inttypes.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/driver-link.h"
#include "bench/driver-run.h"
#include "bench/driver-server.h"
#include "contract/coll.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/number.h"

#define COUNT_MS 10000 /* to count the GPUs */
#define PORTS_FROM 61000u /* above the range of ports that the kernel gives away */
#define PORTS_TO 65536u
#define TASKS_MOST 4096
#define ANSWER_MS 1000 /* of what listens on a port, until it is not the server */
#define PAUSE_MS 50 /* before all ports are tried again */
#define PATIENCE_MS 8000 /* beyond the time limit, for a server that says nothing */

/* ---- the request */

static int number_of(const char *name, unsigned most, unsigned *out, struct nt_error *err)
{
	const char *text = getenv(name);
	uint64_t number;

	if (!text || nt_number_parse(text, 0, most, &number) < 0)
		return nt_error_set(err, "%s is not set", name);
	*out = (unsigned)number;
	return 0;
}

static int read_ids(struct nt_driver *d, struct nt_error *err)
{
	unsigned job, step;
	uint32_t hash = NT_HASH32;

	if (number_of("SLURM_PROCID", TASKS_MOST, &d->task, err) < 0 ||
	    number_of("SLURM_NTASKS", TASKS_MOST, &d->tasks, err) < 0 ||
	    number_of("SLURM_NODEID", TASKS_MOST, &d->node, err) < 0 ||
	    number_of("SLURM_LOCALID", TASKS_MOST, &d->local, err) < 0 ||
	    number_of("SLURM_JOB_ID", UINT32_MAX, &job, err) < 0 ||
	    number_of("SLURM_STEP_ID", UINT32_MAX, &step, err) < 0)
		return -1;
	if (d->task >= d->tasks)
		return nt_error_set(err, "task %u of %u", d->task, d->tasks);
	hash = nt_hash32(nt_hash32(hash, &job, sizeof(job)), &step, sizeof(step));
	d->port = PORTS_FROM + hash % ((PORTS_TO - PORTS_FROM) / NT_LINK_PORTS) * NT_LINK_PORTS;
	return 0;
}

/* AllReduce, if no program's calls are known. */
static void fill_calls(struct nt_cal_request *request)
{
	for (uint64_t bytes = 64 << 10; request->calls == 0 || bytes <= 64 << 20; bytes *= 4) {
		if (request->calls == NT_CAL_CALLS)
			return;
		request->call[request->calls++] = (struct nt_cal_call){ NT_ALLREDUCE, bytes, 0 };
	}
}

static int read_request(struct nt_driver *d, struct nt_error *err)
{
	const char *text = getenv(NT_ENV_CALIBRATE);

	if (!text)
		return nt_error_set(err, NT_ENV_CALIBRATE " is not set");
	if (nt_cal_request_parse(&d->request, text, err) < 0)
		return -1;
	if (d->request.calls == 0)
		fill_calls(&d->request);
	return 0;
}

/* 0 if they cannot be counted: there is none that NCCL could use. */
static unsigned count_gpus(const struct nt_cal_request *request)
{
	char program[] = NT_BINDIR "/nccl-tune-bench", count[] = "--count-gpus";
	char library[NT_LIBRARY_MAX + 16];
	char *argv[] = { program, count, request->library[0] ? library : NULL, NULL };
	struct nt_child child;
	uint64_t number = 0;

	snprintf(library, sizeof(library), "--nccl=%s", request->library);
	if (nt_child_run(&child, argv, 64, COUNT_MS, NULL) == 0 && child.status == 0 && child.out) {
		child.out[strcspn(child.out, "\n")] = '\0';
		if (nt_number_parse(child.out, 0, NT_CAL_PROCS, &number) < 0)
			number = 0;
	}
	nt_child_fini(&child);
	return (unsigned)number;
}

/* ---- the client */

struct client {
	const struct nt_driver *driver;
	struct nt_link link;
	struct nt_run run;
	bool running;
	unsigned choice;
	int64_t doubt_until_ms; /* 0: not in doubt */
	bool over;
};

static void end_with_none(struct client *c, const char *why)
{
	dprintf(STDOUT_FILENO, "none %s\n", why);
	c->over = true;
}

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
	struct nt_lap lap;
	int end = 0;

	if (c->running || c->doubt_until_ms != 0 ||
	    sscanf(line, "%u %u %u %" SCNd64 "%n", &lap.profile, &lap.procs, &lap.seconds,
		   &lap.limit_ms, &end) != 4 ||
	    line[end] || !nt_driver_profile(c->driver, lap.profile) || lap.procs == 0 ||
	    lap.procs > NT_CAL_PROCS) {
		nt_link_close(&c->link);
		return;
	}
	nt_run_start(&c->run, c->driver, &lap);
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
	dprintf(STDOUT_FILENO, "doubt\n");
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
		dprintf(STDOUT_FILENO, "default\n");
	else
		dprintf(STDOUT_FILENO, "use %s\n",
			nt_cal_profile_text(profile, text, sizeof(text)));
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

/* ---- the lap */

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

static void lose_server(struct client *c)
{
	if (c->doubt_until_ms == 0)
		end_with_none(c, "the connection to task 0 was lost");
	else if (!find_server(c, c->doubt_until_ms)) {
		dprintf(STDOUT_FILENO,
			"exit the other tasks may have a launch profile that this one does not "
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

static void run_client(const struct nt_driver *driver)
{
	struct client c = { .driver = driver, .link = { .fd = -1 } };
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

/* ---- the whole */

/* In a process of its own, which ends with this one. 0: it could not be started. */
static pid_t start_server(const struct nt_driver *driver, struct nt_error *err)
{
	const int listener = nt_link_listen(driver->port, err);
	struct rlimit files;
	pid_t pid;

	if (listener < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
			files.rlim_cur = files.rlim_max;
			(void)setrlimit(RLIMIT_NOFILE, &files);
		}
		close(STDOUT_FILENO);
		nt_server_run(driver, listener);
		_exit(0);
	}
	close(listener);
	if (pid < 0)
		(void)nt_error_set(err, "cannot start a process: %m");
	return pid > 0 ? pid : 0;
}

static int calibrate(struct nt_driver *d, struct nt_error *err)
{
	pid_t server = 0;

	if (read_request(d, err) < 0 || read_ids(d, err) < 0)
		return -1;
	if (d->task == 0)
		fprintf(stderr,
			"nccl-tune: measuring launch profiles for at most %u s before the program "
			"(once)\n",
			d->request.seconds);
	/* At once: the others look for it. */
	if (d->task == 0) {
		server = start_server(d, err);
		if (server == 0)
			return -1;
	}
	d->gpus = d->request.procs ? d->request.procs : count_gpus(&d->request);
	run_client(d);
	/* It may have to tell others the outcome. */
	if (server > 0)
		(void)waitpid(server, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static struct nt_driver driver;
	struct nt_error err = { "" };

	driver.start_ms = nt_clock_ms();
	signal(SIGPIPE, SIG_IGN);
	if (argc != 1) {
		fprintf(stderr, "%s is started by spank_nccl_tune.so, see spank_nccl_tune(8)\n",
			argv[0]);
		return 2;
	}
	driver.keeps = fcntl(NT_CALIBRATE_FD, F_SETFD, FD_CLOEXEC) == 0;
	if (calibrate(&driver, &err) < 0) {
		fprintf(stderr, "nccl-tune: calibration without a result: %s\n", err.text);
		printf("none %s\n", err.text);
	}
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-main.c - nt-calibrate [--result=FILE]: measures launch profiles in a step's tasks
 *
 * spank_nccl_tune.so starts it in each task, as the user, before the program is executed. The
 * request is in the environment. What the task is to do is one line on stdout (driver-client.h).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/driver-client.h"
#include "bench/driver-link.h"
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

static int number_of(const char *name, unsigned most, unsigned *out, struct nt_error *err)
{
	const char *text = getenv(name);
	uint64_t number;

	if (!text || nt_number_parse(text, 0, most, &number) < 0)
		return nt_error_set(err, "%s is not set", name);
	*out = (unsigned)number;
	return 0;
}

static int read_place(struct nt_driver *d, struct nt_error *err)
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

	if (read_request(d, err) < 0 || read_place(d, err) < 0)
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
	nt_client_run(d, STDOUT_FILENO);
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
	if (argc == 2 && strncmp(argv[1], "--result=", 9) == 0)
		driver.result = argv[1] + 9;
	else if (argc != 1) {
		fprintf(stderr, "usage: nt-calibrate [--result=FILE]\n");
		return 2;
	}
	if (calibrate(&driver, &err) < 0) {
		fprintf(stderr, "nccl-tune: no launch profile: %s\n", err.text);
		printf("none %s\n", err.text);
	}
	return 0;
}

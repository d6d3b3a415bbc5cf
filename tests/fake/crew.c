/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/number.h"

#define WORKER "NT_FAKE_WORKER" /* set for a process that a launcher started: its number */

int nt_crew_complain(int code, const char *what)
{
	fprintf(stderr, "nt-fake-nccl: %s\n", what);
	return code;
}

static bool number_from(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || nt_number_parse(text, 0, NT_MAX_RANKS, &value) < 0)
		return false;
	*out = (unsigned)value;
	return true;
}

static bool is_idle(const struct nt_options *o, unsigned task)
{
	return task < 64 && (o->idle_tasks >> task & 1);
}

static unsigned busy_before(const struct nt_crew *crew, unsigned task)
{
	unsigned n = 0;

	for (unsigned t = 0; t < task; t++)
		n += !is_idle(crew->options, t);
	return n;
}

unsigned nt_crew_rank(const struct nt_crew *crew)
{
	const struct nt_options *o = crew->options;

	return (busy_before(crew, crew->task) * o->processes + crew->process) * o->threads;
}

int nt_crew_idle(const struct nt_crew *crew)
{
	sleep(crew->options->idle_s);
	return NT_EXIT_OK;
}

int nt_crew_find(struct nt_crew *crew, struct nt_job *job)
{
	const struct nt_options *o = job->options;
	const char *node = getenv("SLURMD_NODENAME");
	uint64_t ranks;

	*crew = (struct nt_crew){ .options = o, .tasks = o->fork ? o->fork : 1 };
	if (!o->fork && number_from("SLURM_PROCID", &crew->task)) {
		if (!number_from("SLURM_NTASKS", &crew->tasks) || crew->task >= crew->tasks ||
		    !node)
			return nt_crew_complain(
				NT_EXIT_USAGE,
				"SLURM_PROCID without SLURM_NTASKS, SLURMD_NODENAME");
		snprintf(crew->node, sizeof(crew->node), "%s", node);
		crew->launcher = o->processes > 1 && !number_from(WORKER, &crew->process);
	}
	crew->idle = !o->fork && is_idle(o, crew->task);
	crew->busy = busy_before(crew, crew->tasks);
	ranks = (uint64_t)crew->busy * o->processes * o->threads;
	if (ranks < 2 || ranks > NT_MAX_RANKS || o->nodes > ranks ||
	    (!o->fork && !crew->node[0] && o->processes > 1))
		return nt_crew_complain(NT_EXIT_USAGE,
					"want 2 to 64 ranks (srun, --fork or --ranks-in-process), "
					"not more nodes than ranks");
	job->ranks = (unsigned)ranks;
	return NT_EXIT_OK;
}

/* A launcher would report the first of these that is any process's exit code. */
static int worst_of(const int *status, unsigned n)
{
	static const int order[] = { NT_EXIT_MISMATCH, NT_EXIT_CONTRACT, NT_EXIT_NCCL_ERROR,
				     NT_EXIT_UNEXPECTED, NT_EXIT_PEER_GONE };
	int other = NT_EXIT_OK;

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (unsigned i = 0; i < n; i++) {
			if (WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == order[k])
				return order[k];
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (WIFSIGNALED(status[i]))
			other = 128 + WTERMSIG(status[i]);
		else if (WEXITSTATUS(status[i]))
			other = WEXITSTATUS(status[i]);
	}
	return other;
}

static volatile sig_atomic_t stopped_by; /* this signal */

static void on_signal(int number)
{
	stopped_by = number;
}

void nt_crew_signals(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static int reap(const pid_t *child, unsigned n)
{
	int status[NT_MAX_RANKS] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		while (waitpid(child[i], &status[i], 0) < 0 && errno == EINTR) {
			for (unsigned k = i; stopped_by && k < n; k++)
				kill(child[k], SIGKILL);
		}
	}
	return stopped_by ? 128 + (int)stopped_by : worst_of(status, n);
}

/* The children end if the first process dies. */
static pid_t fork_child(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		nt_crew_signals(SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(NT_EXIT_TROUBLE);
	}
	return child;
}

int nt_crew_fork(struct nt_crew *crew, int (*play)(struct nt_crew *crew, struct nt_job *job),
		 struct nt_job *job)
{
	unsigned processes = crew->options->processes;
	unsigned n = crew->tasks * processes;
	pid_t child[NT_MAX_RANKS];

	if (n > NT_MAX_RANKS)
		return nt_crew_complain(NT_EXIT_USAGE, "want 64 processes at most");
	nt_crew_signals(on_signal);
	fflush(NULL);
	for (unsigned i = 0; i < n; i++) {
		crew->task = i / processes;
		crew->process = i % processes;
		child[i] = fork_child();
		if (child[i] == 0)
			exit(is_idle(crew->options, crew->task) ? nt_crew_idle(crew)
								: play(crew, job));
		if (child[i] < 0)
			return nt_crew_complain(NT_EXIT_TROUBLE, strerror(errno));
	}
	return reap(child, n);
}

static void set_number(const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

/* torchrun's variables for its workers; Slurm's variables stay those of the task. */
static void set_worker(const struct nt_crew *crew, unsigned ranks)
{
	unsigned threads = crew->options->threads;

	set_number(WORKER, crew->process);
	set_number("LOCAL_RANK", crew->process);
	set_number("LOCAL_WORLD_SIZE", crew->options->processes);
	set_number("RANK", nt_crew_rank(crew) / threads);
	set_number("WORLD_SIZE", ranks / threads);
}

int nt_crew_launch(const struct nt_crew *crew, const struct nt_job *job, char **argv)
{
	struct nt_crew worker = *crew;
	pid_t child[NT_MAX_RANKS];

	nt_crew_signals(on_signal);
	fflush(NULL);
	for (worker.process = 0; worker.process < crew->options->processes; worker.process++) {
		pid_t pid = fork_child();

		if (pid == 0) {
			set_worker(&worker, job->ranks);
			execv("/proc/self/exe", argv);
			_exit(nt_crew_complain(NT_EXIT_TROUBLE, strerror(errno)));
		}
		if (pid < 0)
			return nt_crew_complain(NT_EXIT_TROUBLE, strerror(errno));
		child[worker.process] = pid;
	}
	return reap(child, crew->options->processes);
}

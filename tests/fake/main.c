/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nt-fake-nccl: processes and threads of a simulated NCCL job
 *
 * A job is tasks x ranks-in-process ranks. A task comes from srun, from --fork, or is alone.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/fake/play.h"

struct task {
	struct nt_job *job;
	unsigned id, count;
	char node[64]; /* Slurm's; empty: pretend */
};

struct player_thread {
	pthread_t thread;
	struct nt_job *job;
	unsigned rank;
	char node[64];
	int rc;
};

static int complain(int code, const char *what)
{
	fprintf(stderr, "nt-fake-nccl: %s\n", what);
	return code;
}

static bool number_from(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (!text || !*text)
		return false;
	value = strtoul(text, &end, 10);
	if (*end || value > NT_MAX_RANKS)
		return false;
	*out = (unsigned)value;
	return true;
}

/* NAME=VALUE with %r, %n, %l and %% replaced. */
static int set_variable(const char *text, unsigned rank, unsigned node, unsigned local)
{
	size_t name_length = strcspn(text, "=");
	char name[64], value[1024];
	size_t n = 0;

	if (name_length >= sizeof(name))
		return -1;
	memcpy(name, text, name_length);
	name[name_length] = 0;
	for (const char *c = text + name_length + 1; *c && n + 12 < sizeof(value); c++) {
		if (*c == '%' && c[1] && strchr("rnl", c[1])) {
			unsigned number = c[1] == 'r' ? rank : c[1] == 'n' ? node : local;

			n += (size_t)snprintf(value + n, sizeof(value) - n, "%u", number);
			c++;
		} else {
			c += *c == '%' && c[1] == '%';
			value[n++] = *c;
		}
	}
	value[n] = 0;
	return setenv(name, value, 1);
}

static int set_variables(const struct task *t)
{
	const struct nt_options *o = t->job->options;
	unsigned rank = t->id * o->threads;
	unsigned per_node = (t->job->ranks + o->nodes - 1) / o->nodes;
	unsigned node = rank / per_node;

	for (unsigned i = 0; i < o->envs; i++) {
		if (set_variable(o->env[i], rank, node, rank - node * per_node) < 0)
			return -1;
	}
	return 0;
}

static void *play_rank(void *arg)
{
	struct player_thread *p = arg;

	p->rc = nt_play(p->job, p->rank, p->node);
	return NULL;
}

static void name_node(const struct task *t, struct player_thread *p)
{
	unsigned nodes = t->job->options->nodes;

	if (t->node[0])
		snprintf(p->node, sizeof(p->node), "%s", t->node);
	else
		snprintf(p->node, sizeof(p->node), "fake%u",
			 p->rank / ((t->job->ranks + nodes - 1) / nodes));
}

static int run_task(struct task *t)
{
	unsigned threads = t->job->options->threads;
	struct player_thread *p = calloc(threads, sizeof(*p));
	int rc = NT_EXIT_OK;

	if (!p || set_variables(t) < 0)
		nt_fake_leave(t->job, NT_EXIT_TROUBLE, "out of memory");
	for (unsigned i = 0; i < threads; i++) {
		p[i].job = t->job;
		p[i].rank = t->id * threads + i;
		name_node(t, &p[i]);
		if (pthread_create(&p[i].thread, NULL, play_rank, &p[i]) != 0)
			nt_fake_leave(t->job, NT_EXIT_TROUBLE, "cannot start a thread");
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(p[i].thread, NULL);
		rc = p[i].rc ? p[i].rc : rc;
	}
	free(p);
	return rc;
}

/* What a launcher would report: the first of these that any process left with. */
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

static volatile sig_atomic_t stopped_by; /* --fork: by this signal */
static const struct nt_wire *file_of_task; /* srun: a name to be removed */

static void on_signal(int number)
{
	stopped_by = number;
}

/* Slurm ends a step: the other tasks may never come to remove the file. */
static void on_end(int number)
{
	nt_wire_unlink(file_of_task);
	signal(number, SIG_DFL);
	raise(number);
}

static void handle_signals(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static void reap(const pid_t *child, int *status, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		while (waitpid(child[i], &status[i], 0) < 0 && errno == EINTR) {
			for (unsigned k = i; stopped_by && k < n; k++)
				kill(child[k], SIGKILL);
		}
	}
}

static int run_forked(struct task *t)
{
	pid_t child[NT_MAX_RANKS];
	int status[NT_MAX_RANKS] = { 0 };
	pid_t parent = getpid();

	handle_signals(on_signal);
	fflush(NULL);
	for (t->id = 0; t->id < t->count; t->id++) {
		child[t->id] = fork();
		if (child[t->id] == 0) {
			/* Nobody is left behind, whatever happens to the first process. */
			handle_signals(SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(NT_EXIT_TROUBLE);
			exit(run_task(t));
		}
		if (child[t->id] < 0)
			return complain(NT_EXIT_TROUBLE, strerror(errno));
	}
	reap(child, status, t->count);
	return stopped_by ? 128 + (int)stopped_by : worst_of(status, t->count);
}

/* Who this process is: a task of a Slurm step, or one of --fork, or alone. */
static int find_task(struct task *t)
{
	const struct nt_options *o = t->job->options;
	const char *node = getenv("SLURMD_NODENAME");

	t->count = o->fork ? o->fork : 1;
	if (!o->fork && number_from("SLURM_PROCID", &t->id)) {
		if (!number_from("SLURM_NTASKS", &t->count) || t->id >= t->count || !node)
			return complain(NT_EXIT_USAGE,
					"SLURM_PROCID without SLURM_NTASKS, SLURMD_NODENAME");
		snprintf(t->node, sizeof(t->node), "%s", node);
	}
	t->job->ranks = t->count * o->threads;
	if (t->job->ranks < 2 || t->job->ranks > NT_MAX_RANKS || o->nodes > t->job->ranks)
		return complain(NT_EXIT_USAGE,
				"want 2 to 64 ranks (srun, --fork or --ranks-in-process), "
				"not more nodes than ranks");
	return NT_EXIT_OK;
}

/* A file only where processes meet that have no common parent. */
static int open_wire(struct task *t, struct nt_error *err)
{
	const struct nt_options *o = t->job->options;
	const char *dir = o->wire_dir ? o->wire_dir : getenv("TMPDIR");
	const char *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");
	const char *port = getenv("SLURM_SRUN_COMM_PORT");
	char name[128];

	if (!t->node[0]) {
		t->job->wire = nt_wire_create(t->job->ranks, o->peer_timeout_s, err);
		return t->job->wire ? 0 : -1;
	}
	/* The port tells apart two clusters on one host that both have a job 1. */
	snprintf(name, sizeof(name), "nt-fake-nccl.%s.%s.%s", job ? job : "0", step ? step : "0",
		 port ? port : "0");
	t->job->wire = nt_wire_open(dir && *dir ? dir : "/tmp", name, t->job->ranks, t->count,
				    o->peer_timeout_s, err);
	if (!t->job->wire)
		return -1;
	file_of_task = t->job->wire;
	handle_signals(on_end);
	return 0;
}

static int run_job(struct nt_job *job)
{
	struct task t = { .job = job };
	struct nt_error err;
	int rc;

	job->release = nt_release_find(job->options->nccl);
	if (!job->release)
		return complain(NT_EXIT_USAGE, "unknown NCCL release (see --help)");
	nt_load_setup(job->release);
	rc = find_task(&t);
	if (rc != NT_EXIT_OK)
		return rc;
	if (nt_model_init(&job->model, job->options, &err) < 0)
		return complain(NT_EXIT_USAGE, err.text);
	if (open_wire(&t, &err) < 0) {
		rc = complain(NT_EXIT_TROUBLE, err.text);
	} else {
		rc = job->options->fork ? run_forked(&t) : run_task(&t);
		handle_signals(SIG_DFL);
		nt_wire_close(job->wire);
	}
	nt_model_fini(&job->model);
	return rc;
}

int main(int argc, char **argv)
{
	struct nt_options options;
	struct nt_job job = { .options = &options };
	struct nt_error err;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		nt_options_help();
		return NT_EXIT_OK;
	}
	if (nt_options_parse(&options, argc, argv, &err) < 0)
		return complain(NT_EXIT_USAGE, err.text);
	return run_job(&job);
}

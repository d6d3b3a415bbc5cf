/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nt-fake-nccl: one process of a simulated NCCL job, and its ranks */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "tests/fake/crew.h"
#include "tests/fake/play.h"

struct player_thread {
	pthread_t thread;
	struct nt_job *job;
	struct nt_slot_of_rank seat[NT_MAX_RANKS];
	unsigned seats;
	int rc;
};

/* Replaces libc's, also for the plugin: a 64-bit Arm machine if NT_FAKE_ARM is two equal numbers,
 * such as 0:0, or %r:2 of --env for one rank. */
NT_EXPORT int uname(struct utsname *machine)
{
	const char *text = getenv("NT_FAKE_ARM");
	int rc = (int)syscall(SYS_uname, machine);
	unsigned a, b;

	if (rc == 0 && text && sscanf(text, "%u:%u", &a, &b) == 2 && a == b)
		snprintf(machine->machine, sizeof(machine->machine), "aarch64");
	return rc;
}

static bool shows_shm; /* --proxy-pool */

/* Likewise: without the option, tests do not depend on this machine's /dev/shm. */
NT_EXPORT int statvfs(const char *path, struct statvfs *status)
{
	struct statfs real;

	if (!shows_shm && strcmp(path, "/dev/shm") == 0) {
		memset(status, 0, sizeof(*status));
		return 0;
	}
	if (statfs(path, &real) < 0)
		return -1;
	*status = (struct statvfs){ .f_bsize = (unsigned long)real.f_bsize,
				    .f_frsize = (unsigned long)real.f_frsize,
				    .f_blocks = real.f_blocks,
				    .f_bfree = real.f_bfree,
				    .f_bavail = real.f_bavail,
				    .f_files = real.f_files,
				    .f_ffree = real.f_ffree,
				    .f_favail = real.f_ffree };
	return 0;
}

NT_EXPORT int access(const char *path, int mode)
{
	if (!shows_shm && strcmp(path, "/dev/shm") == 0)
		return 0;
	return faccessat(AT_FDCWD, path, mode, 0);
}

/* The numbers that replace letters in a variable. */
struct numbers {
	unsigned rank, node, local, task;
};

static bool number_named(char letter, const struct numbers *n, unsigned *out)
{
	switch (letter) {
	case 'r': *out = n->rank; return true;
	case 'n': *out = n->node; return true;
	case 'l': *out = n->local; return true;
	case 't': *out = n->task; return true;
	default: return false;
	}
}

/* NAME=VALUE with %r, %n, %l, %t and %% replaced. */
static int set_variable(const char *text, const struct numbers *numbers)
{
	size_t name_length = strcspn(text, "=");
	char name[64], value[1024];
	size_t n = 0;

	if (name_length >= sizeof(name))
		return -1;
	memcpy(name, text, name_length);
	name[name_length] = 0;
	for (const char *c = text + name_length + 1; *c && n + 12 < sizeof(value); c++) {
		unsigned number;

		if (*c == '%' && number_named(c[1], numbers, &number)) {
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

static unsigned pretended_node(const struct nt_job *job, unsigned rank)
{
	unsigned nodes = job->options->nodes;

	return rank / ((job->ranks + nodes - 1) / nodes);
}

static int set_variables(const struct nt_crew *crew, const struct nt_job *job)
{
	const struct nt_options *o = job->options;
	unsigned rank = nt_crew_rank(crew);
	unsigned per_node = (job->ranks + o->nodes - 1) / o->nodes;
	unsigned node = pretended_node(job, rank);
	struct numbers numbers = { rank, node, rank - node * per_node, crew->task };

	for (unsigned i = 0; i < o->envs; i++) {
		if (set_variable(o->env[i], &numbers) < 0)
			return -1;
	}
	return 0;
}

static void *play_ranks(void *arg)
{
	struct player_thread *p = arg;

	p->rc = nt_play(p->job, p->seat, p->seats);
	return NULL;
}

static void seat(const struct nt_crew *crew, struct player_thread *p, unsigned rank)
{
	struct nt_slot_of_rank *s = &p->seat[p->seats++];

	s->rank = rank;
	if (crew->node[0])
		snprintf(s->node, sizeof(s->node), "%s", crew->node);
	else
		snprintf(s->node, sizeof(s->node), "fake%u", pretended_node(p->job, rank));
}

#define STACK_BYTES (8u << 20)

/* As programs have it, whatever the limit of this process is; NCCL's own threads take that. */
static int start_player(struct player_thread *p)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&p->thread, &attr, play_ranks, p);
	pthread_attr_destroy(&attr);
	return rc;
}

/* One thread for each rank, or with --one-thread one for all of them. */
static int run_process(struct nt_crew *crew, struct nt_job *job)
{
	unsigned ranks = job->options->threads;
	unsigned threads = job->options->one_thread ? 1 : ranks;
	struct player_thread *p = calloc(threads, sizeof(*p));
	struct nt_error err;
	int rc = NT_EXIT_OK;

	if (!p || set_variables(crew, job) < 0)
		nt_fake_leave(job, NT_EXIT_TROUBLE, "out of memory");
	if (nt_model_launch(&job->model, &err) < 0)
		nt_fake_leave(job, NT_EXIT_USAGE, "%s", err.text);
	for (unsigned i = 0; i < ranks; i++) {
		p[i % threads].job = job;
		seat(crew, &p[i % threads], nt_crew_rank(crew) + i);
	}
	for (unsigned i = 0; i < threads; i++) {
		if (start_player(&p[i]) != 0)
			nt_fake_leave(job, NT_EXIT_TROUBLE, "cannot start a thread");
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(p[i].thread, NULL);
		rc = p[i].rc ? p[i].rc : rc;
	}
	free(p);
	return rc;
}

static const struct nt_wire *file_of_task; /* srun: a name to be removed */

/* If Slurm ends the step, the other tasks may never remove the file. */
static void on_end(int number)
{
	nt_wire_unlink(file_of_task);
	signal(number, SIG_DFL);
	raise(number);
}

/* A file only for processes without a common parent. */
static int open_wire(const struct nt_crew *crew, struct nt_job *j, struct nt_error *err)
{
	const struct nt_options *o = j->options;
	const char *dir = o->wire_dir ? o->wire_dir : getenv("TMPDIR");
	const char *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");
	const char *port = getenv("SLURM_SRUN_COMM_PORT");
	char name[128];

	if (!crew->node[0]) {
		j->wire = nt_wire_create(j->ranks, o->peer_timeout_s, err);
		return j->wire ? 0 : -1;
	}
	/* The port distinguishes two clusters on one host that both have a job 1. */
	snprintf(name, sizeof(name), "nt-fake-nccl.%s.%s.%s", job ? job : "0", step ? step : "0",
		 port ? port : "0");
	j->wire = nt_wire_open(dir && *dir ? dir : "/tmp", name, j->ranks,
			       crew->busy * o->processes, o->peer_timeout_s, err);
	if (!j->wire)
		return -1;
	file_of_task = j->wire;
	nt_crew_signals(on_end);
	return 0;
}

static int run_ranks(struct nt_crew *crew, struct nt_job *job)
{
	struct nt_error err;
	int rc;

	if (nt_model_init(&job->model, job->options, &err) < 0)
		return nt_crew_complain(NT_EXIT_USAGE, err.text);
	if (open_wire(crew, job, &err) < 0) {
		rc = nt_crew_complain(NT_EXIT_TROUBLE, err.text);
	} else {
		rc = job->options->fork ? nt_crew_fork(crew, run_process, job)
					: run_process(crew, job);
		nt_crew_signals(SIG_DFL);
		nt_wire_close(job->wire);
	}
	nt_model_fini(&job->model);
	return rc;
}

static int run_job(struct nt_job *job, char **argv)
{
	struct nt_crew crew;
	int rc;

	shows_shm = job->options->proxy_pool;
	job->release = nt_release_find(job->options->nccl);
	if (!job->release)
		return nt_crew_complain(NT_EXIT_USAGE, "unknown NCCL release (see --help)");
	if (nt_load_setup(job->release) < 0)
		return nt_crew_complain(NT_EXIT_NCCL_ERROR,
					"the network plugin fails, and NCCL with it");
	/* By this name, which also tells that NCCL can do so (src/crypt.cc of 2.32.3). */
	if (job->options->tls && !dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL))
		return nt_crew_complain(NT_EXIT_TROUBLE, "there is no libssl.so.3");
	rc = nt_crew_find(&crew, job);
	if (rc != NT_EXIT_OK)
		return rc;
	if (crew.idle)
		return nt_crew_idle(&crew);
	return crew.launcher ? nt_crew_launch(&crew, job, argv) : run_ranks(&crew, job);
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
		return nt_crew_complain(NT_EXIT_USAGE, err.text);
	return run_job(&job, argv);
}

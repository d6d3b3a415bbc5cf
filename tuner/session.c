/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - see session.h */
#include "tuner/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tuner/chain.h"
#include "tuner/log.h"

static struct {
	pthread_mutex_t lock;
	bool tried;
	bool bad_said;
	struct nt_error bad; /* what is wrong with the policy, "" if nothing */
	bool guarded; /* fixed when the library is loaded: forks are noticed */
	_Atomic bool touched; /* some thread may hold the lock, or has held it */
	_Atomic bool forked; /* this is a child of a process in that state */
	_Atomic(struct nt_session *) ready;
	struct nt_session session;
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const count_names[NT_COUNT_ALL] = {
#define NT_COUNT_NAME(name, text) [NT_COUNT_##name] = (text),
	NT_COUNTS(NT_COUNT_NAME)
#undef NT_COUNT_NAME
};

const char *nt_count_name(enum nt_count which)
{
	return count_names[which];
}

/* FNV-1a: what two builds must have in common to follow one plan. */
static uint32_t build_id(void)
{
	const uint32_t parts[] = { NT_BOARD_LAYOUT, sizeof(struct nt_board), sizeof(struct nt_plan),
				   sizeof(struct nt_schedule) };
	const char *text = PACKAGE_VERSION;
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = (hash ^ parts[i]) * 16777619u;
	return hash;
}

/* A number of Slurm's; fallback where the variable is not set or no number. */
static uint32_t env_number(const char *name, uint32_t fallback)
{
	const char *text = getenv(name);
	uint32_t value = 0;
	size_t digits;

	digits = text ? strspn(text, "0123456789") : 0;
	if (digits == 0 || digits > 9 || text[digits] != '\0')
		return fallback;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (uint32_t)(text[i] - '0');
	return value;
}

static void read_step(struct nt_session *session)
{
	session->in_step = getenv("SLURM_PROCID") != NULL;
	session->task = env_number("SLURM_PROCID", 0);
	session->local_task = env_number("SLURM_LOCALID", 0);
	session->tasks = env_number("SLURM_STEP_NUM_TASKS", env_number("SLURM_NTASKS", 1));
	session->nodes = env_number("SLURM_STEP_NUM_NODES", env_number("SLURM_NNODES", 1));
}

int nt_session_open(struct nt_session *session, const char *task_policy, nt_nccl_log log,
		    struct nt_error *err)
{
	memset(session, 0, sizeof(*session));
	if (nt_policy_parse_task(&session->policy, &session->place, task_policy, err) < 0)
		return -1;
	session->log = log;
	session->pid = getpid();
	session->build = build_id();
	session->policy_hash = nt_policy_hash(&session->policy);
	read_step(session);
	pthread_mutex_init(&session->lock, NULL);
	nt_mask_init(&session->mask);
	/* Without it nothing tells of a capture while no events are wanted
	 * (src/enqueue.cc:1941@v2.28.9-1). */
	if (session->policy.graphs != NT_GRAPHS_NEVER && env_number("NCCL_GRAPH_REGISTER", 1) == 0)
		nt_mask_forbid(&session->mask);
	nt_helper_init(&session->helper);
	if (session->policy.mode == NT_MODE_BANDIT)
		(void)nt_board_open(&session->map, session->place.dir, &session->board_error);
	return 0;
}

void nt_session_close(struct nt_session *session)
{
	/* A thread that does not end keeps all it may still touch. */
	if (!nt_session_end(session))
		return;
	for (uint32_t i = 0; i < session->comms; i++) {
		free(session->comm[i]->observed_ns);
		free(session->comm[i]);
	}
	nt_board_close(&session->map);
	nt_helper_fini(&session->helper);
	nt_mask_fini(&session->mask);
	pthread_mutex_destroy(&session->lock);
}

/* Ranks that end without ncclCommDestroy leave their seats here, so that nobody plans with them.
 * The lock is tried only: the thread that exits may have been stopped anywhere. */
static void leave_seats(struct nt_session *session)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 100 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	if (pthread_mutex_timedlock(&session->lock, &until) != 0)
		return;
	for (uint32_t i = 0; i < session->comms; i++) {
		if (session->comm[i]->board && (session->comm[i]->halves & NT_HALF_TUNER))
			nt_board_leave(&session->comm[i]->seat);
	}
	pthread_mutex_unlock(&session->lock);
}

bool nt_session_end(struct nt_session *session)
{
	bool ended;

	if (nt_session_inert(session) || getpid() != session->pid)
		return false;
	ended = nt_helper_stop(&session->helper, NT_END_MS);
	leave_seats(session);
	return ended;
}

static void on_exit_of_process(void)
{
	struct nt_session *session = nt_session_now();

	if (session)
		(void)nt_session_end(session);
}

/* In the child of a fork only this thread lives, on copies of locks that others may have held. */
static void on_fork_in_child(void)
{
	if (!atomic_load_explicit(&process.touched, memory_order_relaxed))
		return;
	nt_chain_forked();
	atomic_store_explicit(&process.session.inert, true, memory_order_relaxed);
	atomic_store_explicit(&process.forked, true, memory_order_relaxed);
}

/* Before any thread can come to the lock. */
__attribute__((constructor)) static void guard_forks(void)
{
	process.guarded = pthread_atfork(NULL, NULL, on_fork_in_child) == 0;
}

static void say_policy(const struct nt_session *session)
{
	char text[NT_POLICY_MAX];

	if (nt_policy_format_option(&session->policy, text, sizeof(text), NULL) < 0)
		return;
	NT_INFO(session->log, "%s (job %u step %u node %s task %u of %u%s%s)", text,
		session->place.job, session->place.step, session->place.node, session->task,
		session->tasks, session->board_error.text[0] ? "; not tuning: " : "",
		session->board_error.text);
}

/* The lock is held. */
static void start(nt_nccl_log log)
{
	const char *text = getenv(NT_ENV_POLICY);
	struct nt_error err = { "" };

	process.tried = true;
	if (!text || !*text)
		return;
	if (nt_session_open(&process.session, text, log, &err) < 0) {
		process.bad = err;
		return;
	}
	if (process.session.policy.mode == NT_MODE_OFF)
		return;
	/* Without these a child could hang in the parent's locks, and the records and PMIx would
	 * lack their end. */
	if (!process.guarded || atexit(on_exit_of_process) != 0)
		return;
	(void)at_quick_exit(on_exit_of_process);
	if (log)
		say_policy(&process.session);
	atomic_store_explicit(&process.ready, &process.session, memory_order_release);
}

struct nt_session *nt_session_start(nt_nccl_log log)
{
	struct nt_session *session;

	/* A forked child may have inherited the lock held. */
	if (atomic_load_explicit(&process.forked, memory_order_relaxed))
		return NULL;
	atomic_store(&process.touched, true);
	pthread_mutex_lock(&process.lock);
	if (!process.tried)
		start(log);
	session = nt_session_now();
	if (process.bad.text[0] && log && !process.bad_said) {
		process.bad_said = true;
		NT_WARN(log, "not tuning: %s: %s", NT_ENV_POLICY, process.bad.text);
	}
	/* Old profilers come without a logger, and before the tuner. */
	if (session && log && !session->log) {
		session->log = log;
		say_policy(session);
	}
	pthread_mutex_unlock(&process.lock);
	return session;
}

struct nt_session *nt_session_now(void)
{
	/* Pairs with start()'s release: whoever sees the pointer sees the session. */
	return atomic_load_explicit(&process.ready, memory_order_acquire);
}

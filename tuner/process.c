/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "contract/coll.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/number.h"
#include "tuner/nccl-log.h"
#include "tuner/proxy-pool.h"
#include "engine/schedule.h"

/* Of the helper thread, at least: a step may have a smaller default (ulimit -s). */
#define STACK_BYTES (1u << 20)
#define END_S_MAX UINT64_C(99999999999) /* in the year 5138 */
#define LOCK_MS (NT_END_MS / 10) /* an exiting thread waits no longer for a lock */

static struct {
	pthread_mutex_t lock;
	bool tried;
	bool bad_said;
	struct nt_error bad; /* with the policy; "": nothing */
	bool guarded; /* forks are noticed; set when the library is loaded */
	_Atomic bool touched; /* a thread may hold the lock, or may have held it */
	_Atomic bool forked; /* a fork of a process that was touched */
	_Atomic(const struct nt_process_work *) work; /* before `touched` */
	_Atomic(struct nt_process *) ready;
	struct nt_process process;
} only = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const count_names[NT_COUNT_ALL] = {
#define NT_COUNT_NAME(name, text) [NT_COUNT_##name] = (text),
	NT_COUNTS(NT_COUNT_NAME)
#undef NT_COUNT_NAME
};

const char *nt_count_name(enum nt_count which)
{
	return count_names[which];
}

/* What two builds must have in common to follow one plan */
static uint32_t build_id(void)
{
	const uint32_t parts[] = { NT_SHM_LAYOUT, sizeof(struct nt_shm), sizeof(struct nt_plan),
				   sizeof(struct nt_schedule) };

	return nt_hash32(nt_hash32_text(PACKAGE_VERSION), parts, sizeof(parts));
}

void nt_process_warm_read(struct nt_process_warm *warm, int64_t mode, const char *text)
{
	memset(warm, 0, sizeof(*warm));
	if (!text || !*text || (mode != NT_MODE_BANDIT && mode != NT_MODE_POLICY))
		return;
	warm->offered = true;
	if (nt_warm_parse(&warm->arms, text, &warm->refused) < 0)
		warm->arms.count = 0;
}

bool nt_process_warm_check(struct nt_process_warm *warm, uint32_t nccl, int fabric,
			   uint64_t fingerprint)
{
	const struct nt_warm *arms = &warm->arms;

	if (!warm->offered || warm->checked)
		return false;
	warm->checked = true;
	if (warm->refused.text[0])
		return true;
	if (nccl == 0)
		nt_error_set(&warm->refused, "NCCL does not tell its version");
	else if (arms->nccl != nccl)
		nt_error_set(&warm->refused, "remembered with NCCL %" PRIu32 ", this is %" PRIu32,
			     arms->nccl, nccl);
	else if (arms->fabric != NT_FABRIC_ANY && fabric != NT_FABRIC_ANY && arms->fabric != fabric)
		nt_error_set(&warm->refused, "remembered over fabric %s, this is %s",
			     nt_fabric_name(arms->fabric), nt_fabric_name(fabric));
	else if (arms->fingerprint != 0 && fingerprint != 0 && arms->fingerprint != fingerprint)
		nt_error_set(&warm->refused,
			     "remembered on hardware %016" PRIx64 ", this is %016" PRIx64,
			     arms->fingerprint, fingerprint);
	else
		warm->hash = nt_warm_hash(arms);
	return warm->refused.text[0] != '\0';
}

const struct nt_warm *nt_process_warm_arms(const struct nt_process_warm *warm)
{
	return warm->checked && !warm->refused.text[0] ? &warm->arms : NULL;
}

uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us)
{
	uint64_t end_s;

	if (!text || nt_number_parse(text, 0, END_S_MAX, &end_s) < 0)
		return 0;
	/* The job is past its end, or the clock is wrong. */
	if (wall_s <= 0 || end_s <= (uint64_t)wall_s)
		return 0;
	return now_us + (end_s - (uint64_t)wall_s) * 1000000;
}

/* As Slurm sets it; fallback: the variable is not set, or no number. */
static uint32_t env_number(const char *name, uint32_t fallback)
{
	const char *text = getenv(name);
	uint64_t value = fallback;

	if (text)
		(void)nt_number_parse(text, 0, 999999999, &value);
	return (uint32_t)value;
}

static void read_step(struct nt_process *process)
{
	const char *tasks = getenv("SLURM_STEP_TASKS_PER_NODE");

	process->node_ranks = nt_proxy_pool_ranks(tasks ? tasks : getenv("SLURM_TASKS_PER_NODE"),
						  getenv("LOCAL_WORLD_SIZE"));
	process->in_step = getenv("SLURM_PROCID") != NULL;
	process->task = env_number("SLURM_PROCID", 0);
	process->local_task = env_number("SLURM_LOCALID", 0);
	process->tasks = env_number("SLURM_STEP_NUM_TASKS", env_number("SLURM_NTASKS", 1));
	process->nodes = env_number("SLURM_STEP_NUM_NODES", env_number("SLURM_NNODES", 1));
	process->end_us = nt_deadline_us(getenv("SLURM_JOB_END_TIME"), (int64_t)time(NULL),
					 nt_clock_us());
}

/* Does the variable name another library than this one? */
static bool names_other(const char *variable)
{
	const char *value = getenv(variable), *file;
	Dl_info self;

	if (!value || !*value || dladdr((void *)&only, &self) == 0 || !self.dli_fname)
		return false;
	file = strrchr(self.dli_fname, '/');
	file = file ? file + 1 : self.dli_fname;
	value = strrchr(value, '/') ? strrchr(value, '/') + 1 : value;
	return strcmp(value, file) != 0;
}

/* What slurmstepd left to the user is not "other". */
static uint32_t other_plugins(uint32_t flags)
{
	uint32_t others = 0;

	if (!(flags & NT_FLAG_NO_TUNER) && names_other(NT_ENV_NCCL_TUNER))
		others |= NT_FLAG_OTHER_TUNER;
	if (!(flags & NT_FLAG_NO_PROFILER) && names_other(NT_ENV_NCCL_PROFILER))
		others |= NT_FLAG_OTHER_PROFILER;
	return others;
}

static void init_thread(struct nt_process_thread *helper)
{
	pthread_condattr_t clock;

	pthread_mutex_init(&helper->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&helper->wake, &clock);
	pthread_cond_init(&helper->ended, &clock);
	pthread_condattr_destroy(&clock);
}

static void open_memory(struct nt_process *process)
{
	process->map.fd = process->tray.fd = -1;
	if (process->policy.mode == NT_MODE_OFF ||
	    nt_shm_open(&process->map, &process->node_step, &process->no_shm) < 0)
		return;
	if (nt_mode_chooses(process->policy.mode))
		(void)nt_shm_map(&process->map, &process->no_shm);
	if (nt_tray_open(&process->tray, process->map.fd, NT_TRAY_RANK, "",
			 (uint32_t)process->pid) == 0)
		process->calls = nt_calls_begin_process(
			&process->tray.tray->calls, &process->node_step, process->task,
			(uint32_t)process->pid, (uint32_t)process->policy.stall_s);
}

int nt_process_open(struct nt_process *process, const char *task_policy, nt_nccl_log log,
		    const struct nt_process_work *work, struct nt_error *err)
{
	memset(process, 0, sizeof(*process));
	process->work = work;
	if (nt_policy_parse_task(&process->policy, &process->node_step, task_policy, err) < 0)
		return -1;
	process->log = log;
	process->pid = getpid();
	process->build = build_id();
	process->policy_hash = nt_policy_hash(&process->policy);
	process->node_step.flags |= other_plugins(process->node_step.flags);
	read_step(process);
	pthread_mutex_init(&process->lock, NULL);
	nt_mask_init(&process->mask);
	/* Without it no capture is told while no events are on (src/enqueue.cc:1941@v2.28.9-1). */
	if (process->policy.graphs != NT_GRAPHS_NEVER && env_number("NCCL_GRAPH_REGISTER", 1) == 0)
		nt_mask_forbid(&process->mask);
	init_thread(&process->helper);
	nt_process_warm_read(&process->warm, process->policy.mode, getenv(NT_ENV_WARM));
	open_memory(process);
	return 0;
}

void nt_process_close(struct nt_process *process)
{
	/* A thread that does not end may still use everything. */
	if (!nt_process_end(process))
		return;
	process->work->clear(process);
	nt_tray_close(&process->tray);
	nt_shm_close(&process->map);
	nt_stretch_clear(&process->stretch);
	pthread_cond_destroy(&process->helper.ended);
	pthread_cond_destroy(&process->helper.wake);
	pthread_mutex_destroy(&process->helper.lock);
	nt_mask_fini(&process->mask);
	pthread_mutex_destroy(&process->lock);
}

static struct timespec after_ms(clockid_t clock, uint32_t wait_ms)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_sec += wait_ms / 1000;
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	return until;
}

static void *run_thread(void *arg)
{
	struct nt_process *process = arg;
	struct nt_process_thread *helper = &process->helper;
	/* Records have decimal points, whatever the application's locale. */
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (plain)
		uselocale(plain);
	process->work->live(process);
	if (plain) {
		uselocale(LC_GLOBAL_LOCALE);
		freelocale(plain);
	}
	pthread_mutex_lock(&helper->lock);
	helper->done = true;
	pthread_cond_broadcast(&helper->ended);
	pthread_mutex_unlock(&helper->lock);
	return NULL;
}

static int start_thread(struct nt_process *process)
{
	pthread_attr_t attr;
	size_t bytes = 0;
	int rc;

	if (!nt_proxy_pool_threads(process->node_ranks))
		return EAGAIN;
	pthread_attr_init(&attr);
	if (pthread_attr_getstacksize(&attr, &bytes) == 0 && bytes < STACK_BYTES)
		pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&process->helper.thread, &attr, run_thread, process);
	pthread_attr_destroy(&attr);
	return rc;
}

bool nt_process_help(struct nt_process *process)
{
	struct nt_process_thread *helper = &process->helper;
	sigset_t all, before;
	bool failed;

	pthread_mutex_lock(&helper->lock);
	if (!helper->started && !helper->stop) {
		/* The thread inherits the signal mask: it must not handle the application's
		 * signals. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		helper->started = start_thread(process) == 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (helper->started)
			(void)pthread_setname_np(helper->thread, "nccl-tune");
		else
			helper->failed = helper->stop = true; /* tried once */
		helper->begun = helper->started;
	}
	failed = helper->failed;
	pthread_mutex_unlock(&helper->lock);
	return !failed;
}

bool nt_process_rest(struct nt_process *process, uint32_t sleep_ms)
{
	const struct timespec until = after_ms(CLOCK_MONOTONIC, sleep_ms);
	struct nt_process_thread *helper = &process->helper;
	bool stop;

	pthread_mutex_lock(&helper->lock);
	if (!helper->stop)
		pthread_cond_timedwait(&helper->wake, &helper->lock, &until);
	stop = helper->stop;
	pthread_mutex_unlock(&helper->lock);
	return stop;
}

bool nt_process_unhelp(struct nt_process *process, uint32_t wait_ms)
{
	const struct timespec until = after_ms(CLOCK_MONOTONIC, wait_ms);
	const struct timespec lock_until = after_ms(CLOCK_REALTIME, LOCK_MS);
	struct nt_process_thread *helper = &process->helper;
	bool started, done;
	int rc = 0;

	/* The exiting thread may have been interrupted anywhere, a signal handler included. */
	if (pthread_mutex_timedlock(&helper->lock, &lock_until) != 0)
		return false;
	started = helper->started;
	helper->stop = true;
	pthread_cond_signal(&helper->wake);
	while (started && !helper->done && rc == 0)
		rc = pthread_cond_timedwait(&helper->ended, &helper->lock, &until);
	done = !started || helper->done;
	helper->started = started && !done;
	pthread_mutex_unlock(&helper->lock);
	if (started && done)
		pthread_join(helper->thread, NULL);
	return done;
}

bool nt_process_end(struct nt_process *process)
{
	struct timespec lock_until;
	bool ended;

	if (nt_process_inert(process) || getpid() != process->pid)
		return false;
	ended = nt_process_unhelp(process, NT_END_MS);
	if (ended && !process->helper.begun)
		process->work->last(process);
	/* The exiting thread may have been interrupted anywhere. */
	lock_until = after_ms(CLOCK_REALTIME, LOCK_MS);
	if (pthread_mutex_timedlock(&process->lock, &lock_until) == 0) {
		process->work->leave(process);
		pthread_mutex_unlock(&process->lock);
	}
	return ended;
}

static void on_exit_of_process(void)
{
	struct nt_process *process = nt_process_now();

	if (process)
		(void)nt_process_end(process);
}

/* A fork's child has only this thread, and copies of locks that others may have held. */
static void on_fork_in_child(void)
{
	if (!atomic_load_explicit(&only.touched, memory_order_relaxed))
		return;
	atomic_load_explicit(&only.work, memory_order_relaxed)->forked();
	atomic_store_explicit(&only.process.inert, true, memory_order_relaxed);
	atomic_store_explicit(&only.forked, true, memory_order_relaxed);
}

/* Before any thread can take the lock */
__attribute__((constructor)) static void guard_forks(void)
{
	only.guarded = pthread_atfork(NULL, NULL, on_fork_in_child) == 0;
}

static void say_policy(const struct nt_process *process)
{
	char text[NT_POLICY_MAX], why[NT_REASON_SENTENCE_MAX];

	if (nt_policy_format_option(&process->policy, text, sizeof(text)) < 0)
		return;
	NT_INFO(process->log, "%s (job %u step %u node %s task %u of %u%s%s)", text,
		process->node_step.job, process->node_step.step, process->node_step.node,
		process->task, process->tasks,
		process->no_shm.id != NT_REASON_NONE ? "; not tuning: " : "",
		nt_reason_say(&process->no_shm, NULL, 0, why, sizeof(why)));
}

/* The lock is held. */
static void start_process(nt_nccl_log log, const struct nt_process_work *work)
{
	const char *text = getenv(NT_ENV_POLICY);
	struct nt_error err = { "" };

	only.tried = true;
	if (!text || !*text)
		return;
	if (nt_process_open(&only.process, text, log, work, &err) < 0) {
		only.bad = err;
		return;
	}
	if (only.process.policy.mode == NT_MODE_OFF)
		return;
	/* Without these a child could hang on its parent's locks, and records and PMIx would not be
	 * finished. */
	if (!only.guarded || atexit(on_exit_of_process) != 0)
		return;
	(void)at_quick_exit(on_exit_of_process);
	if (log)
		say_policy(&only.process);
	atomic_store_explicit(&only.ready, &only.process, memory_order_release);
}

struct nt_process *nt_process_start(nt_nccl_log log, const struct nt_process_work *work)
{
	struct nt_process *process;

	/* A fork's child may have inherited a held lock. */
	if (atomic_load_explicit(&only.forked, memory_order_relaxed))
		return NULL;
	atomic_store_explicit(&only.work, work, memory_order_relaxed);
	atomic_store(&only.touched, true);
	pthread_mutex_lock(&only.lock);
	if (!only.tried)
		start_process(log, work);
	process = nt_process_now();
	if (only.bad.text[0] && log && !only.bad_said) {
		only.bad_said = true;
		NT_WARN(log, "not tuning: %s: %s", NT_ENV_POLICY, only.bad.text);
	}
	/* Old profiler interfaces, which open before the tuner, have no logger. */
	if (process && log && !process->log) {
		process->log = log;
		say_policy(process);
	}
	pthread_mutex_unlock(&only.lock);
	return process;
}

struct nt_process *nt_process_now(void)
{
	/* Pairs with start_process()'s release: whoever sees the pointer sees the process. */
	return atomic_load_explicit(&only.ready, memory_order_acquire);
}

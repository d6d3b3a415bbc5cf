/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - costs of the plugin to a process, except decisions: time of init, memory, threads,
 * processor time when idle
 *
 * nt-cost PLUGIN [COMMS [PROCESSES [IDLE_S]]] forks PROCESSES ranks of one node that load the
 * plugin as NCCL 2.28 does, on one shared memory below TMPDIR, and create COMMS communicators of
 * them all. A single process has a peer that never comes. With IDLE_S the ranks are left alone
 * that long in each of three states: just created, agreed and called once, all decided.
 * One JSON line. Memory is told as what it is more than before the plugin was loaded, in KiB.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "contract/policy.h"
#include "contract/shm-layout.h"
#include "lab/measure/measure.h"
#include "lib/number.h"
#include "lib/quantile.h"
#include "pmix-sync/shm.h"
#include "tuner/abi.h"

#define SIZE 262144u
#define DECIDE_S 60 /* a key that is not decided by then never is */
#define COMMS_MAX 1000u
#define PROCESSES_MAX 16u

static const char *const state_name[] = { "created", "called", "decided" };
enum { CREATED, CALLED, DECIDED, STATES };

struct memory {
	int64_t rss, pss;
};

/* What one rank found out. */
struct found {
	uint32_t init_ns[COMMS_MAX], finalize_ns[COMMS_MAX];
	struct memory before, after;
	uint32_t threads_before, threads;
	uint64_t idle_ns[STATES]; /* of the plugin's thread */
	uint32_t measured; /* bit of each state */
	bool speaks, more;
};

static struct {
	const char *plugin;
	uint32_t comms, processes, idle_s;
} options = { NULL, 200, 1, 0 };

/* What a rank is. */
struct rank {
	struct nt_tuner_v5 *tuner;
	struct nt_prof_v5 *profiler;
	struct nt_shm_map map;
	void *tuner_ctx[COMMS_MAX], *profiler_ctx[COMMS_MAX];
	int mask, index;
	uint64_t seq, gpu_ns;
};

struct shared {
	pthread_barrier_t barrier;
	struct found rank[PROCESSES_MAX];
};

static struct shared *shared;
static struct rank self;

static void die(const char *what)
{
	fprintf(stderr, "nt-cost: %s\n", what);
	exit(1);
}

static void meet(void)
{
	(void)pthread_barrier_wait(&shared->barrier);
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		die(dlerror());
	self.tuner = dlsym(library, "ncclTunerPlugin_v5");
	self.profiler = dlsym(library, "ncclProfiler_v5");
	if (!self.tuner || !self.profiler)
		die("no plugin of NCCL 2.28");
}

/* As NCCL creates a communicator: profiler first. */
static void create(struct found *r, uint32_t i)
{
	size_t ranks = options.processes > 1 ? options.processes : 2;
	uint64_t began = nt_now_ns();

	if (self.profiler->init(&self.profiler_ctx[i], 1000 + i, &self.mask, "cost", 1, (int)ranks,
				self.index, nt_quiet) != NT_NCCL_OK ||
	    self.tuner->init(&self.tuner_ctx[i], 1000 + i, ranks, 1, nt_quiet, NULL, NULL) !=
		    NT_NCCL_OK)
		die("the plugin's init failed");
	r->init_ns[i] = (uint32_t)(nt_now_ns() - began);
}

static void finalize(struct found *r, uint32_t i)
{
	uint64_t began = nt_now_ns();

	self.tuner->finalize(self.tuner_ctx[i]);
	self.profiler->finalize(self.profiler_ctx[i]);
	r->finalize_ns[i] = (uint32_t)(nt_now_ns() - began);
}

/* One collective of a communicator, with the events that are wanted. All arms take the same
 * time. */
static void call(uint32_t comm)
{
	struct nt_prof_descr_v5 coll = { .type = NT_PROF_COLL };
	struct nt_prof_descr_v5 kernel = { .type = NT_PROF_KERNEL_CH };
	void *event = NULL, *kernel_event = NULL;
	float cost[NT_PAIRS];
	int channels = 0, mask = self.mask;

	for (int i = 0; i < NT_PAIRS; i++)
		cost[i] = i < 6 ? 20.0f + (float)i : -1.0f;
	if (self.tuner->get_coll_info(self.tuner_ctx[comm], NT_ALLREDUCE, SIZE, 1,
				      (float **)(void *)cost, NT_ALGOS, NT_PROTOS, 0,
				      &channels) != NT_NCCL_OK)
		die("the plugin returned an error");
	self.gpu_ns += 100000;
	if (!(mask & (int)(NT_PROF_COLL | NT_PROF_KERNEL_CH))) {
		self.seq++;
		return;
	}
	coll.rank = self.index;
	coll.coll = (struct nt_prof_coll_v5){ .seq = self.seq++,
					      .func = "AllReduce",
					      .count = SIZE / 4,
					      .datatype = "ncclFloat32",
					      .channels = 1,
					      .algo = "TREE",
					      .proto = "LL" };
	self.profiler->start(self.profiler_ctx[comm], &event, &coll);
	if (!event)
		return;
	self.profiler->stop(event);
	if (!(mask & (int)NT_PROF_KERNEL_CH))
		return;
	kernel.parent = event;
	kernel.rank = self.index;
	kernel.kernel_ch.start_ns = self.gpu_ns;
	self.profiler->start(self.profiler_ctx[comm], &kernel_event, &kernel);
	if (kernel_event) {
		union nt_prof_args_v4 stop = { .kernel_ch.stop_ns = self.gpu_ns + 90000 };

		self.profiler->state(kernel_event, NT_PROF_STATE_KERNEL_CH_STOP, &stop);
		self.profiler->stop(kernel_event);
	}
}

/* The number after `label` in a file of /proc/self; 0: there is none. */
static uint64_t number_in(const char *name, const char *label)
{
	char path[300], line[256];
	uint64_t value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, label, strlen(label)) == 0) {
			value = strtoull(line + strlen(label), NULL, 10);
			break;
		}
	}
	if (file)
		fclose(file);
	return value;
}

static struct memory memory_now(void)
{
	return (struct memory){ (int64_t)number_in("smaps_rollup", "Rss:"),
				(int64_t)number_in("smaps_rollup", "Pss:") };
}

static bool is_ours(const char *thread)
{
	char path[300], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", thread);
	file = fopen(path, "re");
	if (file && !fgets(name, sizeof(name), file))
		name[0] = '\0';
	if (file)
		fclose(file);
	return strcmp(name, "nccl-tune\n") == 0;
}

/* Threads of this process, and the processor time of ours. */
static uint32_t threads_now(uint64_t *ours_ns)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	uint32_t count = 0;
	char name[300];

	*ours_ns = 0;
	while (tasks && (task = readdir(tasks)) != NULL) {
		if (task->d_name[0] == '.')
			continue;
		count++;
		if (!is_ours(task->d_name))
			continue;
		snprintf(name, sizeof(name), "task/%s/schedstat", task->d_name);
		*ours_ns += number_in(name, "");
	}
	if (tasks)
		closedir(tasks);
	return count;
}

/* Leave the rank alone, and note what the plugin's thread did meanwhile. */
static void idle(struct found *r, unsigned state)
{
	uint64_t before, after;

	if (options.idle_s == 0)
		return;
	meet();
	(void)threads_now(&before);
	sleep(options.idle_s);
	(void)threads_now(&after);
	r->idle_ns[state] = after - before;
	r->measured |= 1u << state;
}

static bool all_agreed(void)
{
	for (uint32_t c = 0; c < options.comms && c < NT_SHM_COMMS; c++) {
		if (atomic_load(&self.map.shm->comm[c].state) != NT_COMM_AGREED)
			return false;
	}
	return true;
}

static bool all_decided(void)
{
	for (uint32_t c = 0; c < options.comms && c < NT_SHM_COMMS; c++) {
		uint32_t state = atomic_load(&self.map.shm->comm[c].key[0].state);

		if (state != NT_KEY_COMMITTED && state != NT_KEY_CLOSED)
			return false;
	}
	return true;
}

static void wait_until_agreed(void)
{
	for (int i = 0; i < DECIDE_S * 1000 && !all_agreed(); i++)
		usleep(1000);
	if (!all_agreed())
		die("the communicators were not agreed on");
}

static void call_until_decided(void)
{
	uint64_t until = nt_now_ns() + DECIDE_S * UINT64_C(1000000000);

	/* All ranks make the same number of calls. */
	for (bool more = true; more;) {
		more = !all_decided() && nt_now_ns() < until;
		shared->rank[self.index].more = more;
		meet();
		for (uint32_t p = 0; p < options.processes; p++)
			more |= shared->rank[p].more;
		meet();
		for (int i = 0; more && i < 20; i++) {
			for (uint32_t c = 0; c < options.comms; c++)
				call(c);
			usleep(100);
		}
	}
	if (!all_decided())
		die("the keys were not decided");
}

/* The three states in which a job may be for long without needing us. */
static void idle_in_each_state(struct found *r)
{
	idle(r, CREATED);
	if (options.processes < 2 || options.idle_s == 0)
		return;
	wait_until_agreed();
	for (uint32_t c = 0; c < options.comms; c++)
		call(c);
	idle(r, CALLED);
	call_until_decided();
	idle(r, DECIDED);
}

static void be_rank(int index, const char *dir)
{
	struct found *r = &shared->rank[index];
	struct nt_node_step place;
	uint64_t ns;

	self.index = index;
	(void)memory_now(); /* what reading itself takes is there then */
	r->before = memory_now();
	r->threads_before = threads_now(&ns);
	load(options.plugin);
	meet();
	for (uint32_t i = 0; i < options.comms; i++)
		create(r, i);
	meet();
	place = nt_measure_place(dir);
	if (nt_shm_open(&self.map, &place, NULL) < 0 || nt_shm_map(&self.map, NULL) < 0)
		die("no shared memory");
	idle_in_each_state(r);
	meet();
	r->speaks = atomic_load(&self.map.shm->leader_pid) == (uint32_t)getpid();
	nt_shm_close(&self.map);
	r->after = memory_now();
	r->threads = threads_now(&ns);
	meet();
	for (uint32_t i = 0; i < options.comms; i++)
		finalize(r, i);
}

static void make_shared(void)
{
	pthread_barrierattr_t across;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (shared == MAP_FAILED)
		die("out of memory");
	pthread_barrierattr_init(&across);
	pthread_barrierattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &across, options.processes);
}

static void end_all(const pid_t *pid)
{
	for (uint32_t p = 0; p < options.processes; p++)
		(void)kill(pid[p], SIGKILL);
}

static int count_of(const char *text, uint32_t most, uint32_t *out)
{
	uint64_t value;

	if (nt_number_parse(text, 0, most, &value) < 0)
		return -1;
	*out = (uint32_t)value;
	return 0;
}

static int read_options(int argc, char **argv)
{
	if (argc < 2 || argc > 5 ||
	    (argc > 2 && count_of(argv[2], COMMS_MAX, &options.comms) < 0) ||
	    (argc > 3 && count_of(argv[3], PROCESSES_MAX, &options.processes) < 0) ||
	    (argc > 4 && count_of(argv[4], 3600, &options.idle_s) < 0) || options.comms == 0 ||
	    options.processes == 0) {
		fprintf(stderr, "usage: nt-cost PLUGIN [COMMS [PROCESSES [IDLE_S]]]\n");
		return -1;
	}
	options.plugin = argv[1];
	return 0;
}

static double median_us(uint32_t *ns, uint32_t count)
{
	if (count == 0)
		return 0;
	nt_sort_u32(ns, count);
	return ns[count / 2] / 1e3;
}

/* The first communicator opens the shared memory and starts the thread; those beyond the shared
 * memory's places get none. */
static void print_rank(struct found *r)
{
	uint32_t joined = options.comms < NT_SHM_COMMS ? options.comms : NT_SHM_COMMS;

	printf("{\"speaks\":%s,\"threads_added\":%d,\"first_us\":%.2f,\"init_us\":%.2f,"
	       "\"finalize_us\":%.2f,\"rss\":%lld,\"pss\":%lld",
	       r->speaks ? "true" : "false", (int)r->threads - (int)r->threads_before,
	       r->init_ns[0] / 1e3, median_us(r->init_ns + 1, joined - 1),
	       median_us(r->finalize_ns, options.comms), (long long)(r->after.rss - r->before.rss),
	       (long long)(r->after.pss - r->before.pss));
	for (int s = 0; s < STATES; s++) {
		if (r->measured & (1u << s))
			printf(",\"%s_cpu_ms\":%.3f", state_name[s], (double)r->idle_ns[s] / 1e6);
	}
	printf("}");
}

int main(int argc, char **argv)
{
	/* holds the shared memory and the records; the caller removes it */
	const char *scratch = getenv("TMPDIR");
	pid_t pid[PROCESSES_MAX];
	bool good = true;
	char dir[128];

	if (read_options(argc, argv) < 0)
		return 2;
	snprintf(dir, sizeof(dir), "%s/nt-cost.XXXXXX", scratch ? scratch : "/tmp");
	if (!mkdtemp(dir))
		die("no directory for the shared memory");
	if (nt_measure_policy(dir) < 0)
		die("the directory's name does not fit");
	make_shared();
	for (uint32_t p = 0; p < options.processes; p++) {
		pid[p] = fork();
		if (pid[p] < 0)
			die("no more processes");
		if (pid[p] == 0) {
			be_rank((int)p, dir);
			exit(0);
		}
	}
	for (uint32_t p = 0; p < options.processes; p++) {
		int status = 0;
		pid_t ended = wait(&status);

		if (ended > 0 && status != 0 && good) {
			good = false;
			end_all(pid); /* the others wait for it */
		}
	}
	if (!good)
		return 1;
	printf("{\"comms\":%u,\"processes\":%u,\"ranks\":[", options.comms, options.processes);
	for (uint32_t p = 0; p < options.processes; p++) {
		printf("%s", p ? "," : "");
		print_rank(&shared->rank[p]);
	}
	printf("]}\n");
	return 0;
}

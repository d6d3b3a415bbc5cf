/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ranktime.c - which rank's time of a collective tells what an arm does to a program?
 *
 *   ranktime --nodes N --ranks-per-node M --probe nt-probe.so --out DIR [--nccl PATH] [--scale S]
 *
 * All ranks are children of this process, each node a host to NCCL (NCCL_HOSTID). For each size and
 * each way in which ranks arrive, two things are done with AllReduce:
 *
 *   loops   a loop of one arm after the other, untouched: no events. DIR/loops.csv has what a call
 *           took, from the start of the loop to its end, on the rank that took longest.
 *   turns   all arms by turns in blocks of another order each, twice in a row, as the plugin
 *           explores. DIR/calls.csv says what each call was; the probe writes down what NCCL told
 *           each rank (DIR/probe.RANK.PID.csv, one row a call in the order of calls.csv).
 *
 * Ranks arrive apart by a kernel that waits on the GPU before the call; the same calls of a loop
 * wait alike whatever the arm. --scale multiplies the number of calls. Needs MPS where there are
 * fewer GPUs than ranks.
 *
 * Exit status: 0; 1 a failed call, a rank that died, or a stall.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench/gpu.h"
#include "bench/library.h"
#include "contract/coll.h"

#define RANKS_MAX 16
#define LOOPS_MAX 4096
#define EVENTS 66 /* Coll and KernelCh */
#define WARM_UP 3
#define SETTLE_US 20000 /* NCCL's thread tells of kernels after their end */
#define STALL_S 150

static const char *const arms[] = { "AUTO", "TREE/LL", "TREE/SIMPLE", "RING/LL", "RING/SIMPLE" };
#define ARMS (sizeof(arms) / sizeof(arms[0]))

/* How ranks arrive: at once; another one late at each call; always the first or the last one late;
 * each after a time of its own. */
enum arrival { EVEN, TURNS, FIRST, LAST, EACH, ARRIVALS };
static const char *const arrival_name[ARRIVALS] = { "even", "turns", "first", "last", "each" };

struct size {
	size_t bytes;
	unsigned apart_us; /* about what a call takes */
	unsigned calls, rounds, blocks, arrivals;
};

static const struct size sizes[] = {
	{ 16 << 10, 100, 500, 3, 120, ARRIVALS },
	{ 256 << 10, 300, 250, 3, 80, ARRIVALS },
	{ 4 << 20, 1500, 40, 3, 32, ARRIVALS },
	{ 64 << 20, 10000, 5, 2, 10, FIRST },
};

struct loop {
	const struct size *size;
	int arrival, round, arm;
	unsigned calls;
	double us[RANKS_MAX];
};

static struct shared {
	pthread_barrier_t all;
	nt_nccl_id id;
	unsigned loops;
	struct loop loop[LOOPS_MAX];
} * shared;

static struct {
	int nodes, per_node, ranks;
	const char *probe, *out, *nccl;
	double scale;
} options = { 2, 1, 0, NULL, ".", NULL, 1 };

struct rank {
	int rank;
	nt_nccl_comm comm;
	nt_stream stream;
	nt_function wait;
	void *buffer;
	void (*tell)(int arm, int mask);
	uint64_t random; /* the same on all ranks, for orders */
	FILE *calls; /* of rank 0 */
};

/* Waits on the GPU until ns have passed; its clock ticks in 32 ns. */
static const char wait_ptx[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
			       ".visible .entry nt_wait(.param .u64 ns)\n{\n"
			       ".reg .pred %p;\n.reg .b64 %rd<5>;\n"
			       "ld.param.u64 %rd1, [ns];\n"
			       "mov.u64 %rd2, %globaltimer;\n"
			       "AGAIN:\n"
			       "mov.u64 %rd3, %globaltimer;\n"
			       "sub.u64 %rd4, %rd3, %rd2;\n"
			       "setp.lt.u64 %p, %rd4, %rd1;\n"
			       "@%p bra AGAIN;\n"
			       "ret;\n}\n";

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static unsigned draw(uint64_t *state, unsigned below)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(mix(*state) % below);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* What this rank waits before a call; call numbers are those of a loop. */
static uint64_t wait_ns(const struct rank *r, const struct size *size, int arrival, unsigned call)
{
	const uint64_t apart = (uint64_t)size->apart_us * 1000, ranks = (uint64_t)options.ranks;
	const uint64_t number = mix(call * UINT64_C(0x9e3779b97f4a7c15) + size->bytes);

	switch (arrival) {
	case TURNS: return number % ranks == (uint64_t)r->rank ? apart : 0;
	case FIRST: return r->rank == 0 ? apart : 0;
	case LAST: return r->rank == options.ranks - 1 ? apart : 0;
	case EACH: return mix(number + (uint64_t)r->rank) % (2 * apart);
	default: return 0;
	}
}

static void one_call(struct rank *r, const struct size *size, int arrival, unsigned call, int arm,
		     int mask)
{
	uint64_t ns = wait_ns(r, size, arrival, call);
	void *arguments[] = { &ns };
	nt_driver_result rc = 0;

	if (ns > 0)
		rc = nt_driver.LaunchKernel(r->wait, 1, 1, 1, 1, 1, 1, 0, r->stream, arguments,
					    NULL);
	if (rc != 0)
		nt_bench_die("cuLaunchKernel: %u", rc);
	r->tell(nt_arm_parse(arms[arm]), mask);
	NCCL_CHECK(AllReduce(r->buffer, r->buffer, size->bytes / sizeof(float), NT_NCCL_FLOAT32,
			     NT_NCCL_SUM, r->comm, r->stream));
}

static void finish(struct rank *r)
{
	CUDA_CHECK(StreamSynchronize(r->stream));
	alarm(STALL_S);
}

static void play_loop(struct rank *r, const struct size *size, int arrival, int round, int arm)
{
	const unsigned calls = (unsigned)(size->calls * options.scale) + 1;
	struct loop *loop = &shared->loop[shared->loops];
	double start_us;

	for (unsigned i = 0; i < WARM_UP; i++)
		one_call(r, size, EVEN, i, arm, 0);
	finish(r);
	pthread_barrier_wait(&shared->all);
	start_us = now_us();
	for (unsigned i = 0; i < calls; i++)
		one_call(r, size, arrival, i, arm, 0);
	finish(r);
	loop->us[r->rank] = (now_us() - start_us) / calls;
	pthread_barrier_wait(&shared->all);
	if (r->rank == 0) {
		loop->size = size;
		loop->arrival = arrival;
		loop->round = round;
		loop->arm = arm;
		loop->calls = calls;
		shared->loops++;
	}
	pthread_barrier_wait(&shared->all);
}

static void order(struct rank *r, unsigned out[ARMS])
{
	for (unsigned i = 0; i < ARMS; i++) {
		const unsigned j = draw(&r->random, i + 1);

		out[i] = out[j];
		out[j] = i;
	}
}

static void note(struct rank *r, const struct size *size, int arrival, unsigned block, int arm,
		 int again)
{
	if (r->calls)
		fprintf(r->calls, "%zu,%s,%u,%s,%d\n", size->bytes, arrival_name[arrival], block,
			arms[arm], again);
}

static void play_turns(struct rank *r, const struct size *size, int arrival)
{
	const unsigned blocks = (unsigned)(size->blocks * options.scale) + 2;
	unsigned arm[ARMS], call = 0;

	pthread_barrier_wait(&shared->all);
	for (unsigned b = 0; b < blocks; b++) {
		order(r, arm);
		for (unsigned i = 0; i < 2 * ARMS; i++) {
			one_call(r, size, arrival, call++, (int)arm[i / 2], EVENTS);
			note(r, size, arrival, b, (int)arm[i / 2], i % 2);
		}
	}
	one_call(r, size, arrival, call, 0, EVENTS); /* until whose start the last one takes */
	note(r, size, arrival, blocks, 0, 0);
	finish(r);
	usleep(SETTLE_US);
	pthread_barrier_wait(&shared->all);
}

static void play_size(struct rank *r, const struct size *size)
{
	unsigned arm[ARMS];

	for (int a = 0; a < (int)size->arrivals; a++) {
		for (int round = 0; round < (int)size->rounds; round++) {
			order(r, arm);
			for (unsigned i = 0; i < ARMS; i++)
				play_loop(r, size, a, round, (int)arm[i]);
			if (round == 0)
				play_turns(r, size, a);
		}
	}
	if (r->rank == 0)
		fprintf(stderr, "ranktime: %zu bytes done\n", size->bytes);
}

/* Processors of its own, as many as there are for each. */
static void bind_processors(int rank)
{
	const long each = sysconf(_SC_NPROCESSORS_ONLN) / options.ranks;
	cpu_set_t set;

	if (each < 1)
		return;
	CPU_ZERO(&set);
	for (long i = 0; i < each; i++)
		CPU_SET((size_t)(rank * each + i), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void set_environment(int rank)
{
	char node[32];

	snprintf(node, sizeof(node), "node%d", rank / options.per_node);
	setenv("NCCL_HOSTID", node, 1);
	setenv("NCCL_NVLS_ENABLE", "0", 1);
	setenv("NCCL_NET", "Socket", 1);
	setenv("NCCL_SOCKET_IFNAME", "lo", 0);
	setenv("NCCL_TUNER_PLUGIN", options.probe, 1);
	setenv("NCCL_PROFILER_PLUGIN", options.probe, 1);
	setenv("NT_PROBE_DIR", options.out, 1);
}

static void open_libraries(struct rank *r)
{
	struct nt_search search = { .named = options.nccl,
				    .preload = getenv("LD_PRELOAD"),
				    .library_path = getenv("LD_LIBRARY_PATH"),
				    .ask_python = nt_search_ask_python };
	struct nt_found found;
	struct nt_library nccl;
	struct nt_error err;
	void *probe;

	if (nt_library_open(&search, &found, &nccl, &err) < 0 ||
	    nt_library_open_cuda(nccl.path, &err) < 0 || nt_library_open_driver(&err) < 0)
		nt_bench_die("%s", err.text);
	if (r->rank == 0)
		fprintf(stderr, "ranktime: NCCL %d from %s\n", nccl.version, nccl.path);
	probe = dlopen(options.probe, RTLD_NOW);
	*(void **)&r->tell = probe ? dlsym(probe, "nt_probe_tell") : NULL;
	if (!r->tell)
		nt_bench_die("%s", dlerror());
}

static void open_gpu(struct rank *r)
{
	int gpus, lowest, highest;
	nt_driver_result rc;
	nt_module module;

	CUDA_CHECK(GetDeviceCount(&gpus));
	CUDA_CHECK(SetDevice(r->rank % gpus));
	CUDA_CHECK(Malloc(&r->buffer, sizes[sizeof(sizes) / sizeof(sizes[0]) - 1].bytes));
	CUDA_CHECK(Memset(r->buffer, 0, sizes[sizeof(sizes) / sizeof(sizes[0]) - 1].bytes));
	CUDA_CHECK(DeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(StreamCreateWithPriority(&r->stream, NT_CUDA_STREAM_NON_BLOCKING, lowest));
	rc = nt_driver.ModuleLoadData(&module, wait_ptx);
	if (rc == 0)
		rc = nt_driver.ModuleGetFunction(&r->wait, module, "nt_wait");
	if (rc != 0)
		nt_bench_die("the kernel that waits: CUDA's driver says %u", rc);
}

static void run_rank(int rank)
{
	struct rank r = { .rank = rank, .random = 1 };
	char path[512];

	alarm(STALL_S);
	nt_bench_rank = rank;
	bind_processors(rank);
	set_environment(rank);
	open_libraries(&r);
	open_gpu(&r);
	if (rank == 0) {
		snprintf(path, sizeof(path), "%s/calls.csv", options.out);
		r.calls = fopen(path, "w");
		NCCL_CHECK(GetUniqueId(&shared->id));
	}
	pthread_barrier_wait(&shared->all);
	NCCL_CHECK(CommInitRank(&r.comm, options.ranks, shared->id, rank));
	for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		play_size(&r, &sizes[s]);
	NCCL_CHECK(CommDestroy(r.comm));
	if (r.calls)
		fclose(r.calls);
	exit(0); /* the probe writes */
}

static void write_loops(void)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/loops.csv", options.out);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return;
	}
	for (unsigned i = 0; i < shared->loops; i++) {
		const struct loop *l = &shared->loop[i];
		double longest = 0;

		for (int k = 0; k < options.ranks; k++)
			longest = l->us[k] > longest ? l->us[k] : longest;
		fprintf(f, "%zu,%s,%d,%s,%u,%.3f\n", l->size->bytes, arrival_name[l->arrival],
			l->round, arms[l->arm], l->calls, longest);
	}
	fclose(f);
}

static int read_options(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--nodes") == 0)
			options.nodes = (int)strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--ranks-per-node") == 0)
			options.per_node = (int)strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--probe") == 0)
			options.probe = argv[i + 1];
		else if (strcmp(argv[i], "--out") == 0)
			options.out = argv[i + 1];
		else if (strcmp(argv[i], "--nccl") == 0)
			options.nccl = argv[i + 1];
		else if (strcmp(argv[i], "--scale") == 0)
			options.scale = strtod(argv[i + 1], NULL);
		else
			return -1;
	}
	options.ranks = options.nodes * options.per_node;
	return options.probe && options.ranks >= 2 && options.ranks <= RANKS_MAX ? 0 : -1;
}

/* One that fails takes the others along: they would wait for it. */
static int wait_for(const pid_t *child)
{
	int status, left = options.ranks, rc = 0;

	while (left > 0 && wait(&status) > 0) {
		left--;
		if (status == 0 || rc != 0)
			continue;
		rc = 1;
		for (int k = 0; k < options.ranks; k++)
			kill(child[k], SIGTERM);
	}
	return rc;
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t attributes;
	pid_t child[RANKS_MAX];
	int rc;

	if (read_options(argc, argv) < 0) {
		fprintf(stderr, "ranktime: see the top of ranktime.c\n");
		return 1;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->all, &attributes, (unsigned)options.ranks);
	for (int k = 0; k < options.ranks; k++) {
		child[k] = fork();
		if (child[k] == 0)
			run_rank(k);
	}
	rc = wait_for(child);
	write_loops();
	return rc;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - create communicators, and read options from the environment */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/fake/gpu.h"
#include "tests/fake/rng.h"
#include "tests/simlib/fault.h"
#include "tests/simlib/sim.h"

#define BARRIER_PLACE 1 /* on the wire, besides the communicator's own */
#define PEER_S "3600" /* NCCL waits forever */
#define WORDS 64

static struct {
	struct nt_options options;
	struct nt_model model;
	struct nt_launch_names names;
	char text[4096]; /* of NT_SIM_OPTIONS */
	char trace[PATH_MAX + 8], picks[PATH_MAX];
	char node[64];
	char why[256]; /* what is wrong with them; empty: nothing */
} sim;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The times beside the library; false: there are none. */
static bool find_times(void)
{
	Dl_info self;
	const char *slash;
	int dir;

	if (!dladdr(&sim, &self) || !self.dli_fname)
		return false;
	slash = strrchr(self.dli_fname, '/');
	dir = slash ? (int)(slash - self.dli_fname) + 1 : 0;
	snprintf(sim.picks, sizeof(sim.picks), "%.*spicks.csv", dir, self.dli_fname);
	snprintf(sim.trace, sizeof(sim.trace), "%.*stimes.csv,2x4", dir, self.dli_fname);
	return access(sim.picks, R_OK) == 0;
}

/* As for nt-fake-nccl: defaults, then NT_SIM_OPTIONS. */
static int parse_options(struct nt_error *err)
{
	const char *text = getenv("NT_SIM_OPTIONS");
	char *word[WORDS] = { (char *)"nccl", (char *)"--peer-timeout", (char *)PEER_S };
	char *rest = sim.text;
	int words = 3;

	if (!text && find_times()) {
		char *own[] = { (char *)"--trace",	 sim.trace,
				(char *)"--auto-picks",	 sim.picks,
				(char *)"--launch-else", (char *)"none" };

		memcpy(&word[words], own, sizeof(own));
		words += 6;
	}
	snprintf(sim.text, sizeof(sim.text), "%s", text ? text : "");
	while (words < WORDS && (word[words] = strsep(&rest, " ")))
		words += word[words][0] != 0;
	return nt_options_parse(&sim.options, words, word, err);
}

static int name_variables(struct nt_error *err)
{
	for (unsigned i = 0; i < sim.model.trace.rows; i++) {
		if (nt_launch_names_add(&sim.names, sim.model.trace.row[i].launch, err) < 0)
			return -1;
	}
	return nt_sim_faults_read(&sim.names, err);
}

static void find_node(void)
{
	const char *node = getenv("SLURMD_NODENAME");

	if (node)
		snprintf(sim.node, sizeof(sim.node), "%s", node);
	else
		gethostname(sim.node, sizeof(sim.node) - 1);
}

static void read_environment(void)
{
	struct nt_error err;

	find_node();
	if (parse_options(&err) < 0 || nt_model_init(&sim.model, &sim.options, &err) < 0 ||
	    name_variables(&err) < 0 || nt_model_launch(&sim.model, &err) < 0) {
		snprintf(sim.why, sizeof(sim.why), "%s", err.text);
		fprintf(stderr, "simulated NCCL: %s\n", sim.why);
		return;
	}
	sim.options.split[1].kind = NT_SPLIT_COLORS;
	nt_load_setup(nt_release_find(sim.options.nccl));
}

/* A program may ask for the version before it makes a communicator. */
__attribute__((constructor)) static void choose_release(void)
{
	struct nt_error err;

	if (parse_options(&err) == 0)
		(void)nt_load_setup(nt_release_find(sim.options.nccl));
}

const struct nt_options *nt_sim_options(void)
{
	pthread_once(&once, read_environment);
	return sim.why[0] ? NULL : &sim.options;
}

unsigned nt_sim_task(unsigned otherwise)
{
	const char *task = getenv("SLURM_PROCID");

	return task ? (unsigned)strtoul(task, NULL, 10) : otherwise;
}

int nt_sim_id_make(struct nt_sim_id *id, uint64_t number, struct nt_error *err)
{
	*id = (struct nt_sim_id){ .number = number | 2, .process = getpid() };
	id->wire = memfd_create("nccl-wire", MFD_CLOEXEC);
	id->area = memfd_create("nccl-area", MFD_CLOEXEC);
	return id->wire < 0 || id->area < 0 ? nt_error_set(err, "no shared memory: %m") : 0;
}

static int map_area(struct ncclComm *c, const struct nt_sim_id *id, struct nt_error *err)
{
	char path[64];
	int fd;

	c->area_bytes = sizeof(*c->area) + 2 * c->job.ranks * NT_SIM_CHUNK +
			(size_t)c->job.ranks * c->job.ranks * sizeof(struct nt_sim_box);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", id->process, id->area);
	fd = open(path, O_RDWR | O_CLOEXEC);
	c->area = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)c->area_bytes) == 0)
		c->area = mmap(NULL, c->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return c->area == MAP_FAILED ? nt_error_set(err, "%s: %m", path) : 0;
}

static int open_wire(struct ncclComm *c, const struct nt_sim_id *id, struct nt_error *err)
{
	char dir[32], name[16];

	snprintf(dir, sizeof(dir), "/proc/%d/fd", id->process);
	snprintf(name, sizeof(name), "%d", id->wire);
	c->job.wire = nt_wire_open(dir, name, c->job.ranks, c->job.ranks,
				   c->job.options->peer_timeout_s, err);
	return c->job.wire ? 0 : -1;
}

static void say_simulated(const struct ncclComm *c)
{
	static _Atomic bool said;

	if (c->rank.rank == 0 && !atomic_exchange(&said, true))
		fprintf(stderr, "simulated NCCL: times are made up\n");
}

/* All ranks have opened the files of the id: it is no longer needed. */
static void meet(struct ncclComm *c, const struct nt_sim_id *id)
{
	struct nt_comm hello = { .owner = &c->rank,
				 .wire = nt_wire_comm(c->job.wire, 0, 0, c->job.ranks),
				 .rank = c->rank.rank };

	nt_wire_hello(c->job.wire, c->rank.rank, c->rank.node, c->job.model.launch, id->number);
	nt_fake_expect(&hello, nt_wire_barrier(hello.wire, hello.rank), "ncclCommInitRank");
	nt_fake_check_launch(&c->job);
	if (id->process == getpid()) {
		close(id->wire);
		close(id->area);
	}
}

/* NCCL_ALGO=ring,tree: is the name in the list, or is there no list? */
static bool allowed(const char *variable, const char *name)
{
	const char *text = getenv(variable);
	size_t n = strlen(name);

	if (!text || !*text)
		return true;
	for (; *text; text += strcspn(text, ","), text += *text == ',') {
		if (strncasecmp(text, name, n) == 0 && strchr(",", text[n]))
			return true;
	}
	return false;
}

static uint32_t barred_pairs(void)
{
	uint32_t barred = 0;

	for (int pair = 0; pair < NT_PAIRS; pair++) {
		if (!allowed("NCCL_ALGO", nt_algo_name(pair / NT_PROTOS)) ||
		    !allowed("NCCL_PROTO", nt_proto_name(pair % NT_PROTOS)))
			barred |= 1u << pair;
	}
	return barred;
}

static void create(struct ncclComm *c, const struct nt_sim_id *id, unsigned kind)
{
	unsigned member[NT_MAX_RANKS];
	const struct nt_birth birth = {
		.id = id->number, .kind = kind, .members = member, .ranks = c->job.ranks
	};

	for (unsigned r = 0; r < c->job.ranks; r++)
		member[r] = r;
	c->barrier = nt_wire_comm(c->job.wire, BARRIER_PLACE, 0, c->job.ranks);
	c->comm = nt_comm_create(&c->rank, &birth);
	c->comm->place.barred = barred_pairs();
}

struct ncclComm *nt_sim_comm_join(const struct nt_sim_id *id, unsigned ranks, unsigned rank,
				  unsigned kind, struct nt_error *err)
{
	struct ncclComm *c = calloc(1, sizeof(*c));

	if (!c || !nt_sim_options()) {
		free(c);
		nt_error_set(err, "%s", sim.why[0] ? sim.why : "out of memory");
		return NULL;
	}
	c->job = (struct nt_job){ .options = &sim.options,
				  .release = nt_load_release(),
				  .model = sim.model,
				  .ranks = ranks };
	c->rank = (struct nt_rank){
		.job = &c->job, .rank = rank, .gpu = nt_sim_task(rank), .node = sim.node
	};
	if (open_wire(c, id, err) < 0 || map_area(c, id, err) < 0) {
		nt_wire_close(c->job.wire);
		free(c);
		return NULL;
	}
	meet(c, id);
	say_simulated(c);
	create(c, id, kind);
	return c;
}

/* Its position among the ranks of its color, by key and then by rank; *first: the first of them. */
static unsigned place_of(const struct ncclComm *parent, unsigned *ranks, unsigned *first)
{
	const struct nt_sim_slot *slot = parent->area->slot;
	const unsigned me = parent->rank.rank;
	unsigned before = 0;

	*ranks = 0;
	*first = me;
	for (unsigned r = 0; r < parent->job.ranks; r++) {
		if (slot[r].color != slot[me].color)
			continue;
		++*ranks;
		before += slot[r].key < slot[me].key || (slot[r].key == slot[me].key && r < me);
		if (slot[r].key < slot[*first].key ||
		    (slot[r].key == slot[*first].key && r < *first))
			*first = r;
	}
	return before;
}

static void wait_for_all(struct ncclComm *parent)
{
	nt_fake_expect(parent->comm, nt_wire_barrier(parent->comm->wire, parent->rank.rank),
		       "ncclCommSplit");
}

struct ncclComm *nt_sim_comm_split(struct ncclComm *parent, int color, int key,
				   struct nt_error *err)
{
	struct nt_sim_slot *slot = &parent->area->slot[parent->rank.rank];
	uint64_t number = nt_rng_mix(nt_rng_mix(parent->comm->id, ++parent->children),
				     (uint64_t)color + 1);
	unsigned ranks, first, rank;
	struct ncclComm *made = NULL;
	struct nt_sim_id id;
	int rc = 0;

	*slot = (struct nt_sim_slot){ .color = color, .key = key };
	wait_for_all(parent);
	rank = place_of(parent, &ranks, &first);
	if (color >= 0 && rank == 0)
		rc = nt_sim_id_make(&slot->id, number, err);
	wait_for_all(parent);
	id = parent->area->slot[first].id;
	if (color >= 0 && rc == 0)
		made = nt_sim_comm_join(&id, ranks, rank, 1, err);
	wait_for_all(parent);
	return made;
}

void nt_sim_comm_finish(struct ncclComm *c)
{
	while (atomic_load(&c->exchanges) > 0)
		usleep(100);
	nt_gpu_sync(c->comm->gpu);
	nt_gpu_drain(c->comm->gpu);
}

void nt_sim_comm_leave(struct ncclComm *c, bool abort)
{
	if (abort) {
		nt_wire_abort(c->comm->wire);
		nt_wire_abort(c->barrier);
		atomic_store(&c->quit, true);
		while (atomic_load(&c->exchanges) > 0)
			usleep(100);
		nt_gpu_abandon(c->comm->gpu);
	} else {
		nt_sim_comm_finish(c);
	}
	nt_comm_destroy(c->comm, NULL);
	nt_comm_free(c->comm);
	nt_wire_close(c->job.wire);
	munmap(c->area, c->area_bytes);
	free(c);
}

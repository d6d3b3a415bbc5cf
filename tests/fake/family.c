/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/family.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "contract/names.h"
#include "tests/fake/gpu.h"
#include "tests/fake/load.h"
#include "tests/fake/rng.h"

static const struct nt_options *options_of(const struct nt_family *f)
{
	return f->rank.job->options;
}

static const char *node_of(const void *arg, unsigned rank)
{
	return nt_wire_node(arg, rank);
}

void nt_family_meet(struct nt_family *f)
{
	struct nt_job *job = f->rank.job;
	struct timespec now;
	struct nt_comm hello = { .owner = &f->rank,
				 .wire = nt_wire_comm(job->wire, 0, 0, job->ranks),
				 .rank = f->rank.rank };

	clock_gettime(CLOCK_REALTIME, &now);
	nt_wire_hello(job->wire, f->rank.rank, f->rank.node, job->model.launch,
		      nt_rng_mix((uint64_t)now.tv_nsec + (uint64_t)now.tv_sec, (uint64_t)getpid()) |
			      1);
	nt_fake_expect(&hello, nt_wire_barrier(hello.wire, f->rank.rank), "the start of the job");
	nt_fake_check_launch(job);
}

/* A profiler behind the plugin may want them for good, and so does the plugin where the program
 * sends: then --settled alone tells. */
static bool wants_events(const struct nt_family *f)
{
	return nt_load_mask_now() != 0 &&
	       !(options_of(f)->settled &&
		 (getenv(NT_ENV_CHAINED_PROFILER) || options_of(f)->p2ps > 0));
}

bool nt_family_busy(struct nt_family *f, unsigned look)
{
	struct nt_job *job = f->rank.job;
	struct nt_comm all = { .owner = &f->rank,
			       .wire = nt_wire_comm(job->wire, 0, 0, job->ranks),
			       .rank = f->rank.rank };

	if (wants_events(f) || (options_of(f)->settled && !nt_settled(&f->settled)))
		nt_wire_say_busy(job->wire, look);
	nt_fake_expect(&all, nt_wire_barrier(all.wire, f->rank.rank), "a look at all ranks");
	return nt_wire_is_busy(job->wire, look);
}

/* As in NCCL: for the job's communicator a hash of its unique id; for a split one a hash of the
 * parent's id, the number of children and the color (init.cc:1557@v2.28.9-1). */
static uint64_t id_of(struct nt_family *f, unsigned split, uint64_t color)
{
	uint64_t world = nt_wire_world(f->rank.job->wire);
	bool is_world = options_of(f)->split[split].kind == NT_SPLIT_WORLD;
	uint64_t number = options_of(f)->same_id ? split : f->children;

	f->children++;
	if (is_world && (!f->generation || options_of(f)->same_id))
		return world + 2 * split; /* further worlds have other unique ids */
	return nt_rng_mix(nt_rng_mix(world, number + 1), color) | 1;
}

void nt_family_create(struct nt_family *f, unsigned first)
{
	const struct nt_job *job = f->rank.job;

	for (unsigned s = first; s < options_of(f)->splits; s++) {
		unsigned member[NT_MAX_RANKS];
		uint64_t color;
		struct nt_birth birth = {
			.life = f->generation,
			.kind = s,
			.members = member,
			.ranks = nt_split_members(&options_of(f)->split[s], job->ranks,
						  f->rank.rank, f->generation, node_of, job->wire,
						  member, &color),
		};

		/* A rank counts the child even if it is not in it (NCCL_SPLIT_NOCOLOR). */
		birth.id = id_of(f, s, color);
		if (birth.ranks)
			f->comm[s] = nt_comm_create(&f->rank, &birth);
	}
}

struct nt_comm *nt_family_active(const struct nt_family *f, unsigned split)
{
	struct nt_comm *c = f->comm[split];

	return c && c->place.ranks > 1 ? c : NULL;
}

void nt_family_sync(struct nt_family *f)
{
	for (unsigned s = 0; s < options_of(f)->splits; s++) {
		uint64_t clock_ns = f->comm[s] ? nt_gpu_sync(f->comm[s]->gpu) : 0;

		if (clock_ns > f->rank.host_ns)
			f->rank.host_ns = clock_ns;
	}
}

static void between_finalizes(struct nt_comm *c)
{
	nt_gpu_hold(c->gpu, false);
	nt_gpu_drain(c->gpu);
}

static void destroy(struct nt_comm *c, bool abort)
{
	enum nt_late late = c->owner->job->options->late_kernelch;

	if (abort) {
		nt_wire_abort(c->wire);
		nt_gpu_abandon(c->gpu);
	} else {
		nt_gpu_sync(c->gpu);
		if (!late)
			nt_gpu_drain(c->gpu);
	}
	nt_comm_destroy(c, late == NT_LATE_TUNER ? between_finalizes : NULL);
	if (late)
		between_finalizes(c);
	nt_gpu_hold(c->gpu, false);
	nt_comm_free(c);
}

void nt_family_destroy(struct nt_family *f, unsigned first, bool abort)
{
	/* Children first, as applications do. */
	for (unsigned s = options_of(f)->splits; s-- > first;) {
		if (f->comm[s])
			destroy(f->comm[s], abort);
		f->comm[s] = NULL;
	}
}

void nt_family_free(struct nt_family *f)
{
	for (unsigned s = 0; s < options_of(f)->splits; s++) {
		if (f->comm[s])
			nt_comm_free(f->comm[s]);
	}
}

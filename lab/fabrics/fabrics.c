/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fabrics.c - nt-fabrics: what calibrations choose on made-up fabrics
 *
 * usage: nt-fabrics PROFILES [FABRICS [SECONDS]]: with the profiles of that file, on so many
 * fabrics (100) of each kind. Each has a job whose first step has shown what it calls, a
 * calibration of at most SECONDS (60), and then a choice, by the code of the product. Prints CSV, a
 * line for each kind, program and noise; naive is what the best of one turn of each profile would
 * have chosen.
 *
 * Exit status: 0; 1 trouble; 2 misuse.
 */
#include <stdio.h>
#include "lab/fabrics/fabric.h"
#include "profiles/measure/trial-calls.h"
#include "tests/unit/select-world.h"

#define FABRICS 100
#define TIME_S 60
#define TURN_S 3.5 /* srun, the start of NCCL and a second of calls */
#define CALL_SPREAD 0.05
#define SLOWER 1.03
#define NEAR_BEST 1.02

#define GBIT (1e9 / 8 / 1e6) /* bytes a microsecond */

static const struct lab_kind kinds[] = {
	{ "ib", NT_FABRIC_IB, 2, 1, 1, 100 * GBIT, 400 * GBIT, 6, 15, 6000, 20000, 2 },
	{ "ib", NT_FABRIC_IB, 2, 4, 4, 200 * GBIT, 400 * GBIT, 6, 15, 6000, 20000, 8 },
	{ "ib", NT_FABRIC_IB, 2, 8, 8, 200 * GBIT, 400 * GBIT, 6, 15, 6000, 20000, 16 },
	{ "efa", NT_FABRIC_EFA, 2, 4, 8, 100 * GBIT, 400 * GBIT, 15, 35, 6000, 20000, 8 },
	{ "cxi", NT_FABRIC_CXI, 2, 4, 4, 200 * GBIT, 200 * GBIT, 5, 12, 4000, 12000, 4 },
	{ "tcpx", NT_FABRIC_TCPX, 2, 4, 8, 100 * GBIT, 200 * GBIT, 30, 80, 4000, 25000, 4 },
	{ "pcie", NT_FABRIC_PCIE, 1, 1, 8, 80 * GBIT, 400 * GBIT, 8, 20, 3000, 25000, 2 },
	{ "socket", NT_FABRIC_SOCKET, 2, 1, 1, 10 * GBIT, 100 * GBIT, 40, 100, 800, 2500, 2 },
};

struct call {
	int coll;
	uint64_t bytes;
	double calls; /* of a step */
};

struct program {
	const char *name;
	unsigned count;
	struct call call[6];
};

static const struct program programs[] = {
	{ "dense",
	  4,
	  { { NT_ALLREDUCE, 64 << 10, 2000 },
	    { NT_ALLREDUCE, 4 << 20, 400 },
	    { NT_ALLREDUCE, 64 << 20, 60 },
	    { NT_ALLGATHER, 16 << 20, 100 } } },
	{ "experts",
	  5,
	  { { NT_ALLREDUCE, 64 << 10, 1000 },
	    { NT_ALLREDUCE, 64 << 20, 20 },
	    { NT_P2P_ALLTOALL, 1 << 20, 1000 },
	    { NT_P2P_ALLTOALL, 16 << 20, 200 },
	    { NT_P2P_SEND, 4 << 20, 300 } } },
};

/* A job in such a world. */
struct lab_job {
	struct lab_fabric fabric;
	const struct nt_profiles *profiles;
	const struct program *program;
	double noise, time_s;
	struct nt_trial_calls calls;
	unsigned candidates; /* of those below, with the default */
	const char *name[NT_CALIBRATION_MAX];
};

static const struct nt_settings *settings_of(const struct lab_job *job, const char *name)
{
	static const struct nt_settings none;
	const struct nt_profile *profile = nt_profiles_find(job->profiles, name);

	return profile ? &profile->settings : &none;
}

static struct nt_memory_entry begin_entry(const struct lab_job *job, const char *profile,
					  uint32_t step)
{
	struct nt_memory_entry entry = world_entry(profile, 7, step);

	entry.where.fabric = job->fabric.kind->fabric;
	entry.where.nodes = job->fabric.kind->nodes;
	entry.where.per_node = job->fabric.kind->gpus;
	return entry;
}

/* run: what all times of the step have in common. */
static void add_call(struct nt_memory_entry *entry, const struct lab_job *job,
		     const struct call *call, double run, uint64_t *seed)
{
	const double us = run * exp(CALL_SPREAD / 3 * world_normal(seed)) *
			  lab_fabric_us(&job->fabric, settings_of(job, entry->profile), call->coll,
					call->bytes);

	world_key(entry, call->bytes, (uint64_t)call->calls, us);
	entry->key[entry->keys - 1].coll = call->coll;
	entry->key[entry->keys - 1].arm = NT_ARM_BASELINE;
	entry->key[entry->keys - 1].untuned = entry->key[entry->keys - 1].best;
}

static struct nt_memory_entry first_step(const struct lab_job *job, uint64_t *seed)
{
	struct nt_memory_entry entry = begin_entry(job, NT_PROFILE_DEFAULT, 0);
	const double run = exp(job->noise * world_normal(seed));

	for (unsigned i = 0; i < job->program->count; i++)
		add_call(&entry, job, &job->program->call[i], run, seed);
	return entry;
}

static struct nt_memory_entry draw_turn(const void *arg, unsigned profile, uint64_t *seed)
{
	const struct lab_job *job = arg;
	struct nt_memory_entry entry = begin_entry(job, job->name[profile], 1);
	const double run = exp(job->noise * world_normal(seed));

	for (unsigned i = 0; i < job->calls.colls; i++)
		for (unsigned k = 0; k < job->calls.sizes; k++)
			add_call(&entry, job,
				 &(struct call){ job->calls.coll[i], job->calls.bytes[k], 100 },
				 run, seed);
	return entry;
}

/* As the command does. */
static void find_candidates(struct lab_job *job)
{
	job->candidates = 0;
	job->name[job->candidates++] = NT_PROFILE_DEFAULT;
	for (unsigned i = 0; i < job->profiles->count; i++) {
		const struct nt_profile *profile = &job->profiles->profile[i];

		if (nt_profile_fits(profile, job->fabric.kind->fabric) &&
		    (nt_trial_calls_send(&job->calls) ||
		     !nt_settings_are_for_sends(&profile->settings)) &&
		    job->candidates < NT_CALIBRATION_MAX)
			job->name[job->candidates++] = profile->name;
	}
}

/* Of the calls of a step, without noise. */
static double true_us(const struct lab_job *job, const char *name)
{
	double us = 0;

	for (unsigned i = 0; i < job->program->count; i++) {
		const struct call *call = &job->program->call[i];

		us += call->calls *
		      lab_fabric_us(&job->fabric, settings_of(job, name), call->coll, call->bytes);
	}
	return us;
}

/* For comparison: the best of one turn each. */
static const char *best_of_one(const struct lab_job *job, uint64_t *seed)
{
	const char *best = NULL;
	double least = INFINITY;

	for (unsigned i = 0; i < job->candidates; i++) {
		const double us = true_us(job, job->name[i]) * exp(job->noise * world_normal(seed));

		if (us < least)
			best = job->name[i];
		least = fmin(least, us);
	}
	return best;
}

/* Of all jobs of a line. */
struct tally {
	double best, chosen, naive, took_s, worst; /* logarithms of ratios, but for the time */
	unsigned gains, near_best, slower, naive_slower, jobs;
	unsigned won[NT_PROFILES_MAX + 1];
};

static void count_naive(struct tally *tally, const struct lab_job *job, uint64_t *seed)
{
	const double ratio = true_us(job, best_of_one(job, seed)) /
			     true_us(job, NT_PROFILE_DEFAULT);

	tally->naive += log(ratio);
	tally->naive_slower += ratio > SLOWER;
}

static void count(struct tally *tally, const struct lab_job *job, const char *chosen, double took_s)
{
	const double base_us = true_us(job, NT_PROFILE_DEFAULT);
	const double ratio = true_us(job, chosen) / base_us;
	const struct nt_profile *profile = nt_profiles_find(job->profiles, chosen);
	double best = 1;

	for (unsigned i = 1; i < job->candidates; i++)
		best = fmin(best, true_us(job, job->name[i]) / base_us);
	tally->jobs++;
	tally->best += log(best);
	tally->chosen += log(ratio);
	tally->worst = fmax(tally->worst, log(ratio));
	tally->took_s += took_s;
	tally->gains += ratio < 1 / SLOWER;
	tally->near_best += ratio < NEAR_BEST * best;
	tally->slower += ratio > SLOWER;
	tally->won[profile ? profile - job->profiles->profile : NT_PROFILES_MAX]++;
}

static int run_job(struct lab_job *job, uint64_t seed, struct tally *tally)
{
	static struct nt_launch_choice choice;
	struct world_turns turns = { job->name, 0, job->time_s, TURN_S, draw_turn, job };
	struct nt_memory memory;
	struct nt_launch_case launch = { .memory = { &memory },
					 .profiles = job->profiles,
					 .now_s = NOW_S };
	struct nt_memory_entry step;
	struct nt_mix mix;
	double took_s = -1;
	int rc;

	nt_memory_init(&memory);
	job->fabric = lab_fabric_draw(job->fabric.kind, &seed);
	step = first_step(job, &seed);
	launch.where = step.where;
	nt_mix_of(&step, &mix);
	rc = nt_trial_calls_of(&step, &job->calls) ? 0 : -1;
	find_candidates(job);
	turns.profiles = job->candidates;
	rc |= nt_memory_add_take(&memory, &step, NULL);
	if (rc == 0)
		took_s = world_calibrate(&turns, &mix, &memory, &seed);
	rc = took_s < 0 ? -1 : nt_select(&launch, &choice);
	if (rc == 0) {
		count(tally, job, choice.profile, took_s);
		count_naive(tally, job, &seed);
	}
	nt_memory_fini(&memory);
	return rc;
}

static void print(const struct lab_job *job, const struct tally *tally)
{
	const double jobs = tally->jobs;

	printf("%s,%u,%u,%s,%.2f,%u,%u,", job->fabric.kind->name, job->fabric.kind->nics,
	       job->fabric.kind->gpus, job->program->name, job->noise, tally->jobs,
	       job->candidates - 1);
	printf("%.3f,%.3f,%.0f,%.0f,%.1f,%.3f,%.3f,%.1f,%.0f,", exp(-tally->best / jobs),
	       exp(-tally->chosen / jobs), 100 * tally->gains / jobs, 100 * tally->near_best / jobs,
	       100 * tally->slower / jobs, exp(tally->worst), exp(-tally->naive / jobs),
	       100 * tally->naive_slower / jobs, tally->took_s / jobs);
	printf("default:%u", tally->won[NT_PROFILES_MAX]);
	for (unsigned i = 0; i < job->profiles->count; i++)
		if (tally->won[i] > 0)
			printf(" %s:%u", job->profiles->profile[i].name, tally->won[i]);
	printf("\n");
	fflush(stdout);
}

static int play(const struct nt_profiles *profiles, unsigned fabrics, double time_s)
{
	static const double noises[] = { 0.03, 0.09, 0.15 };

	printf("fabric,nics,gpus,program,noise,fabrics,profiles,best,chosen,gained_percent,"
	       "best_percent,slower_percent,worst,naive,naive_slower_percent,seconds,won\n");
	for (unsigned at = 0; at < sizeof(kinds) / sizeof(kinds[0]) * 6; at++) {
		struct lab_job job = { .fabric = { .kind = &kinds[at / 6] },
				       .profiles = profiles,
				       .program = &programs[at / 3 % 2],
				       .noise = noises[at % 3],
				       .time_s = time_s };
		struct tally tally = { 0 };

		for (unsigned i = 0; i < fabrics; i++)
			if (run_job(&job, 1000 * (uint64_t)i + 17, &tally) < 0)
				return -1;
		print(&job, &tally);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct nt_profiles profiles;
	struct nt_error err = { "" };
	unsigned long fabrics = argc > 2 ? strtoul(argv[2], NULL, 10) : FABRICS;
	unsigned long time_s = argc > 3 ? strtoul(argv[3], NULL, 10) : TIME_S;

	if (argc < 2 || argc > 4 || fabrics == 0 || fabrics > 100000 || time_s == 0) {
		fprintf(stderr, "usage: nt-fabrics PROFILES [FABRICS [SECONDS]]\n");
		return 2;
	}
	nt_profiles_init(&profiles);
	if (nt_profiles_read(&profiles, argv[1], 0, &err) < 0 ||
	    play(&profiles, (unsigned)fabrics, (double)time_s) < 0) {
		fprintf(stderr, "nt-fabrics: %s\n", err.text[0] ? err.text : "no memory");
		return 1;
	}
	return 0;
}

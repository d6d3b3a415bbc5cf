/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* For which rank the others wait: from the same calls' times on all ranks. */
#include "record/sum.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "lab/replay/rng.h"
#include "tuner/kept-calls.h"

#define CALLS 48
#define RANKS_MAX 64

struct job {
	unsigned ranks, per_node;
	bool tree;
	unsigned missing; /* ranks without a record, from the last on */
	uint64_t seed;
	double jitter_us; /* each rank's lateness, mean */
	/* The rank that is late in that call, by so many microseconds; ranks: nobody. */
	unsigned (*slow)(const struct job *job, unsigned call);
	double slow_us;
	double step_us; /* of the program; 0: not known */
};

static unsigned nobody(const struct job *job, unsigned call)
{
	(void)call;
	return job->ranks;
}

static unsigned third(const struct job *job, unsigned call)
{
	(void)job;
	(void)call;
	return 2;
}

static unsigned one_after_another(const struct job *job, unsigned call)
{
	return call * 4 / CALLS % job->ranks;
}

static unsigned each_time_another(const struct job *job, unsigned call)
{
	return (unsigned)(nt_rng_mix(job->seed, call) % job->ranks);
}

static unsigned at_times(const struct job *job, unsigned call)
{
	return call < CALLS * 5 / 8 ? 2 : job->ranks;
}

/* Calls take 100 us; all ranks end together, at most 2 % apart. */
static struct nt_lateness find(const struct job *job)
{
	static struct nt_late_sample samples[CALLS * RANKS_MAX];
	struct nt_lateness lateness;
	size_t count = 0;

	for (unsigned call = 0; call < CALLS; call++) {
		double late[RANKS_MAX], latest = 0;

		for (unsigned r = 0; r < job->ranks; r++) {
			uint64_t key = nt_rng_mix(nt_rng_mix(job->seed, call), r);

			late[r] = nt_rng_exponential(key, job->jitter_us) +
				  (job->slow(job, call) == r ? job->slow_us : 0);
			latest = fmax(latest, late[r]);
		}
		for (unsigned r = 0; r < job->ranks - job->missing; r++) {
			uint64_t key = nt_rng_mix(nt_rng_mix(job->seed + 1, call), r);
			double us = 100 * (1 + 0.02 * nt_rng_unit(key));

			if (job->tree)
				us *= r % 2 ? 0.55 : 1;
			samples[count++] = (struct nt_late_sample){
				.call = { .coll = NT_ALLREDUCE,
					  .ring = !job->tree,
					  .turn = call,
					  .us = us + latest - late[r],
					  .s = call },
				.rank = r,
				.node = r / job->per_node,
			};
		}
	}
	assert_int_equal(nt_lateness_find(&lateness, samples, count, job->ranks, job->step_us), 0);
	return lateness;
}

static void of_two_ranks_too(void **state)
{
	struct job job = { 2, 1, .slow = nobody, .jitter_us = 5, .slow_us = 80 };
	struct nt_lateness late;

	late = find(&job);
	assert_int_equal(late.kind, NT_LATE_NONE);
	job.slow = one_after_another;
	late = find(&job);
	assert_int_equal(late.kind, NT_LATE_WANDERS);
	assert_int_equal(late.rank, -1);
}

/* Noise alone, small or large: a name in hardly one of a thousand communicators. */
static void nobody_is_named_without_a_cause(void **state)
{
	unsigned varies = 0, named = 0;

	for (uint64_t seed = 0; seed < 10000; seed++) {
		const struct job job = { .ranks = 2 + (unsigned)(seed % 7),
					 .per_node = 1 + (unsigned)(seed % 3),
					 .seed = seed * 31,
					 .slow = seed % 2 ? nobody : each_time_another,
					 .slow_us = 150,
					 .jitter_us = (double)(seed % 5) * 40 };
		struct nt_lateness late = find(&job);

		named += late.rank >= 0 || late.node >= 0;
		varies += late.kind == NT_LATE_VARIES;
	}
	assert_true(named <= 10);
	assert_true(varies > 1000);
}

/* ---- how often somebody is named: programs whose ranks need a step each, more or less */

#define STEP_US 60000.0
#define PROGRAMS 100

struct program {
	unsigned ranks, per_node, calls; /* in a step, the first of which waits */
	double jitter; /* deviation of a rank's step, as a share of it */
	double slow; /* share of a step that rank 1 takes longer */
	uint64_t seed;
};

static double normal(uint64_t key)
{
	const double a = nt_rng_unit(key), b = nt_rng_unit(nt_rng_mix(key, 1));

	return sqrt(-2 * log(fmax(a, 1e-12))) * cos(2 * M_PI * b);
}

/* As the plugin keeps them: 96 calls, each of a step as often. */
static struct nt_lateness watch(const struct program *program)
{
	static struct nt_late_sample samples[NT_KEPT_CALLS * RANKS_MAX];
	struct nt_lateness lateness;
	size_t count = 0;

	for (unsigned call = 0; call < NT_KEPT_CALLS; call++) {
		double late[RANKS_MAX], latest = -INFINITY;

		for (unsigned r = 0; r < program->ranks; r++) {
			const uint64_t key = nt_rng_mix(nt_rng_mix(program->seed, call), r);

			late[r] = call % program->calls != 0
					  ? 0
					  : STEP_US * (program->jitter * normal(key) +
						       (r == 1 ? program->slow : 0));
			latest = fmax(latest, late[r]);
		}
		for (unsigned r = 0; r < program->ranks; r++)
			samples[count++] = (struct nt_late_sample){
				.call = { .coll = NT_ALLREDUCE,
					  .ring = true,
					  .turn = call,
					  .us = 5000 + latest - late[r],
					  .s = call },
				.rank = r,
				.node = r / program->per_node,
			};
	}
	assert_int_equal(nt_lateness_find(&lateness, samples, count, program->ranks,
					  STEP_US / program->calls),
			 0);
	return lateness;
}

static bool names_anybody(const struct nt_lateness *late)
{
	return late->rank >= 0 || late->node >= 0;
}

static struct program program_of(uint64_t seed)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 64 };
	struct program program = { .ranks = ranks[seed % 5], .calls = 1 + (unsigned)(seed % 3) };

	program.per_node = seed % 2 || program.ranks == 2 ? 1 : 2;
	program.seed = seed * 7919;
	return program;
}

/* At most one of a hundred, ten times. */
static void healthy_programs_name_nobody(void **state)
{
	unsigned named = 0;

	for (uint64_t seed = 0; seed < (uint64_t)10 * PROGRAMS; seed++) {
		struct program program = program_of(seed);
		struct nt_lateness late;

		program.jitter = 0.1;
		late = watch(&program);
		named += names_anybody(&late);
	}
	print_message("named in %u of %u healthy programs\n", named, 10 * PROGRAMS);
	assert_true(named <= 10);
}

/* What it costs counts, not how often it is last. */
static void a_rank_that_costs_little_is_not_named(void **state)
{
	struct program program = { 4, 1, 1, .jitter = 0.001, .slow = 0.02, .seed = 3 };

	assert_int_equal(watch(&program).rank, -1);
	program.slow = 0.04;
	assert_int_equal(watch(&program).rank, 1);
}

static void lateness_that_wanders_is_told_as_such(void **state)
{
	struct job job = { 4, 4, .slow = one_after_another, .slow_us = 200, .jitter_us = 3 };
	struct nt_lateness late = find(&job);

	assert_int_equal(late.kind, NT_LATE_WANDERS);
	assert_int_equal(late.rank, -1);
	job.slow = at_times;
	late = find(&job);
	assert_int_equal(late.kind, NT_LATE_WANDERS);
	assert_int_equal(late.rank, 2);
	/* In the order of time. */
	assert_int_equal(late.slices, NT_LATENESS_SLICES);
	assert_true(late.row[2].us[0] > 150 && late.row[2].us[7] < 20);
	job.slow = each_time_another;
	assert_int_equal(find(&job).kind, NT_LATE_VARIES);
}

/* A tree's ends are stamped too early on some ranks, which thus seem to come last. */
static void an_early_end_is_no_lateness(void **state)
{
	struct job job = { 4, 4, .tree = true, .slow = nobody, .jitter_us = 3 };
	struct nt_lateness late = find(&job);

	assert_int_equal(late.kind, NT_LATE_NONE);
	assert_true(isnan(late.waiting));
	job.slow = third;
	job.slow_us = 500;
	late = find(&job);
	assert_int_equal(late.kind, NT_LATE_STEADY);
	assert_int_equal(late.rank, 2);
}

/* ---- which calls a rank keeps */

static void keep(struct nt_kept_calls *kept, int coll, uint64_t turn, uint64_t start_ns,
		 uint64_t ns)
{
	static const int handle;

	nt_kept_begin(kept, &handle, start_ns);
	nt_kept_end(kept, &handle, nt_kept_name(coll, 1, turn), start_ns + ns);
}

/* Of each call of a step as many as of another, whatever the number of calls in a step. */
static void no_call_of_a_step_is_preferred(void **state)
{
	for (unsigned step = 2; step <= 64; step++) {
		static struct nt_kept_calls none;
		struct nt_kept_calls kept = none;
		unsigned first = 0, count = 0;
		struct nt_kept call;

		for (uint64_t turn = 0; turn < (uint64_t)64 * step; turn++)
			keep(&kept, NT_ALLREDUCE, turn, 1000 + turn * 1000, 500);
		for (; nt_kept_read(&kept, count, &call); count++)
			first += call.turn % step == 0;
		assert_true(first * step <= 4 * count && (step > 16 || first * step * 4 >= count));
	}
}

static void the_last_end_of_a_call_counts(void **state)
{
	static struct nt_kept_calls kept;
	const uint32_t name = nt_kept_name(NT_ALLGATHER, 0, 7);
	struct nt_kept call;
	int one, other;

	nt_kept_begin(&kept, &one, 5000);
	nt_kept_end(&kept, &one, name, 6000);
	nt_kept_end(&kept, &one, name, 8000);
	nt_kept_end(&kept, &other, name, 9000);
	nt_kept_end(&kept, &one, 0, 9000);
	nt_kept_end(&kept, &one, name, 4000);
	assert_true(nt_kept_read(&kept, 0, &call));
	assert_int_equal(call.ns, 3000);
	assert_false(call.ring);
	assert_int_equal(call.turn, 7);
	assert_false(nt_kept_read(&kept, 1, &call));
	/* A root is done before the others, or after them. */
	assert_int_equal(nt_kept_name(NT_BROADCAST, 1, 7), 0);
	assert_int_equal(nt_kept_name(NT_REDUCE, 1, 7), 0);
}

/* ---- from records to a step */

/* A record of that rank with so many calls of 100 us, and one number too many. */
static int add_record(struct nt_sum *sum, int rank, int ranks, const char *node, double us,
		      int calls, int more, struct nt_error *err)
{
	char text[8192];
	int at = snprintf(
		text, sizeof(text),
		"{\"v\":1,\"job\":12,\"step\":0,\"task\":%d,\"node\":\"%s\",\"comms\":[{\"id\":\"c1\","
		"\"rank\":%d,\"ranks\":%d,\"nodes\":2,\"state\":\"agreed\",\"sampled\":[{\"coll\":"
		"\"AllGather\",\"ring\":true,\"calls\":[0,%.1f,0",
		rank, node, rank, ranks, us);

	for (int i = 1; i < calls; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, ",%d,%.1f,%d.5", i, us, i);
	at += snprintf(text + at, sizeof(text) - (size_t)at, "%s]}]}]}", more ? ",1" : "");
	return nt_sum_add_record(sum, text, (size_t)at, 12, 0, err);
}

static struct nt_step make_step(struct nt_sum *sum, struct nt_summary *summary)
{
	struct nt_step head = { .more = 0 };
	struct nt_error err;

	nt_fields_clear(&nt_step_fields, &head);
	nt_summary_init(summary);
	assert_int_equal(nt_summary_add_sum(summary, sum, &head, &err), 0);
	return summary->steps[0];
}

static void records_of_all_ranks_become_what_the_step_says(void **state)
{
	struct nt_summary summary;
	struct nt_step step;
	struct nt_error err;
	struct nt_sum sum;

	nt_sum_init(&sum);
	for (int rank = 0; rank < 4; rank++)
		assert_int_equal(add_record(&sum, rank, 4, rank < 2 ? "n1" : "n2",
					    rank == 3 ? 100 : 400, 40, 0, &err),
				 0);
	step = make_step(&sum, &summary);
	assert_string_equal(step.late, "steady");
	assert_int_equal(step.late_rank, 3);
	assert_string_equal(step.late_node, "n2");
	assert_true(step.late_us > 299 && step.late_us < 301);
	assert_true(step.waiting > 0.69 && step.waiting < 0.7);
	assert_int_equal(summary.comms[0].lateness->calls, 40);
	nt_summary_fini(&summary);
	nt_sum_fini(&sum);
}

/* Those of one node cannot know; and what a communicator cannot have is no record. */
static void what_is_not_known_is_not_said(void **state)
{
	struct nt_summary summary;
	struct nt_step step;
	struct nt_error err;
	struct nt_sum sum;

	nt_sum_init(&sum);
	assert_int_equal(add_record(&sum, 0, 4, "n1", 100, 40, 0, &err), 0);
	assert_int_equal(add_record(&sum, 1, 4, "n1", 400, 40, 0, &err), 0);
	assert_int_equal(add_record(&sum, 2, 4, "n1", 400, 40, 1, &err), -1);
	assert_non_null(strstr(err.text, "want three of each"));
	assert_int_equal(add_record(&sum, 2, 4, "n1", 400, NT_SAMPLED_MAX + 1, 0, &err), -1);
	step = make_step(&sum, &summary);
	assert_string_equal(step.late, "");
	assert_true(isnan(step.waiting));
	assert_int_equal(step.late_rank, -1);
	nt_summary_fini(&summary);
	nt_sum_fini(&sum);
}

UNIT_TESTS(of_two_ranks_too, nobody_is_named_without_a_cause, healthy_programs_name_nobody,
	   a_rank_that_costs_little_is_not_named, lateness_that_wanders_is_told_as_such,
	   an_early_end_is_no_lateness, no_call_of_a_step_is_preferred,
	   the_last_end_of_a_call_counts, records_of_all_ranks_become_what_the_step_says,
	   what_is_not_known_is_not_said);

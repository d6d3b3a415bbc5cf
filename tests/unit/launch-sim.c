/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of several steps in worlds whose best profile is known: where they end, what they cost */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "launch-world.h"

#define SIZES 6
#define PROFILES 4 /* the default and three candidates */
#define RUNS 100
#define STEPS_MAX 8

static const char *const names[PROFILES] = { NT_PROFILE_DEFAULT, "sockets-wide", "sockets-many",
					     "sockets-medium" };

/* Times in microseconds by profile, at 64K 256K 1M 4M 16M 64M. */
struct world {
	const char *name;
	double us[PROFILES][SIZES];
	bool traced; /* times are drawn from a real run's samples instead */
	unsigned turns_bad_at; /* the step from which sockets-wide is ten times slower; 0: never */
};

/* Two nodes of one H200, loopback sockets, the plugin's arms inside; and variations of it. */
#define MEASURED_DEFAULT                        \
	{                                       \
		92, 146, 363, 1179, 4478, 16929 \
	}
#define MEASURED_WIDE                          \
	{                                      \
		160, 201, 287, 550, 1238, 4046 \
	}
#define MEASURED_MANY                          \
	{                                      \
		117, 160, 241, 515, 1693, 6715 \
	}
#define MEASURED_MEDIUM                        \
	{                                      \
		149, 191, 278, 561, 1397, 4396 \
	}

static const struct world measured = {
	"measured", { MEASURED_DEFAULT, MEASURED_WIDE, MEASURED_MANY, MEASURED_MEDIUM }, false, 0
};
/* 10 Gbit/s between the nodes: nothing to gain from any. */
static const struct world shaped = { "10 Gbit/s",
				     { { 202, 245, 1100, 4300, 16500, 55800 },
				       { 264, 556, 1180, 4500, 17200, 57000 },
				       { 240, 400, 1150, 4400, 17000, 56500 },
				       { 250, 430, 1160, 4450, 17100, 56800 } },
				     false,
				     0 };
static const struct world turning = {
	"turns bad", { MEASURED_DEFAULT, MEASURED_WIDE, MEASURED_MANY, MEASURED_MEDIUM }, false, 4
};
/* The profile between the two others beats them both, which their results do not suggest. */
static const struct world between = {
	"between",
	{ MEASURED_DEFAULT, MEASURED_WIDE, MEASURED_MANY, { 90, 118, 180, 350, 800, 2600 } },
	false,
	0
};

/* The recorded run: none, 8 channels x 2 x 4, 4 x 4, buffers of 16 MiB; 256K, 4M and 64M. */
static const struct world traced = { "traced", { { 0 } }, true, 0 };
static const char *const trace_rows[PROFILES] = {
	"none,",
	"NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4,",
	"NCCL_SOCKET_NTHREADS=4+NCCL_NSOCKS_PERTHREAD=4,",
	"NCCL_BUFFSIZE=16777216,",
};
static struct {
	unsigned count;
	double us[64];
} samples[PROFILES][SIZES];

static void read_row(char *row, unsigned profile)
{
	static const char *const bytes[SIZES] = { NULL,	       ",262144,", NULL,
						  ",4194304,", NULL,	   ",67108864," };

	for (unsigned size = 0; size < SIZES; size++) {
		char *at = bytes[size] != NULL ? strstr(row, bytes[size]) : NULL;

		if (at == NULL)
			continue;
		at += strlen(bytes[size]) - 1;
		while (*at == ',' && samples[profile][size].count < 64)
			samples[profile][size].us[samples[profile][size].count++] = strtod(at + 1,
											   &at);
	}
}

static void read_trace(void)
{
	const char *top = getenv("top_srcdir");
	char path[512], row[8192];
	FILE *in;

	snprintf(path, sizeof(path), "%s/tests/traces/h200-2x4-launch-knobs.csv",
		 top != NULL ? top : ".");
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(row, sizeof(row), in) != NULL)
		for (unsigned i = 0; i < PROFILES; i++)
			if (strncmp(row, trace_rows[i], strlen(trace_rows[i])) == 0)
				read_row(row, i);
	fclose(in);
	for (unsigned i = 0; i < PROFILES; i++)
		assert_true(samples[i][1].count > 20 && samples[i][5].count > 20);
}

struct program {
	const char *name;
	double calls[SIZES]; /* in each of its own steps */
	double compute_us;
};

static const struct program programs[] = {
	{ "small", { 60, 40, 0, 0, 0, 0 }, 5000 },
	{ "large", { 0, 0, 0, 2, 4, 1 }, 20000 },
	{ "both", { 50, 0, 20, 0, 2, 0 }, 5000 },
};

static const struct program trace_programs[] = {
	{ "small", { 0, 20, 0, 1, 0, 0 }, 3000 },
	{ "large", { 0, 0, 0, 2, 0, 2 }, 20000 },
	{ "both", { 0, 8, 0, 4, 0, 1 }, 5000 },
};

/* A fast mode, a slow one that is met now and then at small sizes, and stalls; times a factor that
 * all of one run have in common. */
static double call_us(const struct world *world, unsigned profile, unsigned size, unsigned step,
		      double run, uint64_t *seed)
{
	double us = world->us[profile][size] * run * exp(0.05 * world_normal(seed));
	bool bad = profile == 1 && world->turns_bad_at != 0 && step >= world->turns_bad_at;

	if (world->traced)
		return run *
		       samples[profile][size]
			       .us[(size_t)(world_random(seed) * samples[profile][size].count)];
	if (size < 3 && world_random(seed) < 0.15)
		us *= 1.8;
	if (world_random(seed) < 0.01)
		us *= pow(world_random(seed), -1 / 1.6);
	return bad ? 10 * us : us;
}

static double mean_of(unsigned profile, unsigned size)
{
	double sum = 0;

	for (unsigned i = 0; i < samples[profile][size].count; i++)
		sum += samples[profile][size].us[i];
	return sum / samples[profile][size].count;
}

static double true_us(const struct world *world, const struct program *program, unsigned profile,
		      unsigned step)
{
	double sum = 0;
	bool bad = profile == 1 && world->turns_bad_at != 0 && step >= world->turns_bad_at;

	for (unsigned size = 0; size < SIZES && world->traced; size++)
		if (program->calls[size] > 0)
			sum += program->calls[size] * mean_of(profile, size);
	for (unsigned size = 0; size < SIZES && !world->traced; size++)
		sum += program->calls[size] * world->us[profile][size] * (size < 3 ? 1.12 : 1) *
		       (bad ? 10 : 1);
	return sum + program->compute_us;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct nt_quantiles quantiles_of(double *us, unsigned count)
{
	qsort(us, count, sizeof(*us), by_value);
	return (struct nt_quantiles){ us[count / 4], us[count / 2], us[3 * count / 4], count };
}

/* What a step leaves behind. */
static struct nt_memory_entry run_step(const struct world *world, const struct program *program,
				       unsigned profile, unsigned step, uint64_t *seed)
{
	struct nt_memory_entry entry = world_entry(names[profile], 7, step);
	double run = exp(0.03 * world_normal(seed)), us[100];

	for (unsigned size = 0; size < SIZES; size++) {
		if (program->calls[size] <= 0)
			continue;
		for (unsigned i = 0; i < 100; i++)
			us[i] = call_us(world, profile, size, step, run, seed);
		world_key(&entry, UINT64_C(65536) << (2 * size),
			  (uint64_t)(program->calls[size] * 100), 1);
		entry.key[entry.keys - 1].best = quantiles_of(us, 100);
		entry.key[entry.keys - 1].untuned = entry.key[entry.keys - 1].best;
	}
	entry.marker_coll = NT_ALLREDUCE;
	entry.marker_bytes = 1 << 26;
	entry.periods = 40;
	for (unsigned i = 0; i < entry.periods; i++) {
		double period = program->compute_us * exp(0.02 * world_normal(seed));

		for (unsigned size = 0; size < SIZES; size++)
			for (unsigned call = 0; call < program->calls[size]; call++)
				period += call_us(world, profile, size, step, run, seed);
		entry.period_us[i] = (float)period;
	}
	return entry;
}

static unsigned number_of(const char *name)
{
	for (unsigned i = 0; i < PROFILES; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fail_msg("no profile %s", name);
	return 0;
}

static struct nt_profiles *candidates(const struct world *world)
{
	static struct nt_profiles profiles;
	static const char text[] = "[sockets-wide]\nfabric=socket\nNCCL_MIN_NCHANNELS=8\n"
				   "NCCL_SOCKET_NTHREADS=2\nNCCL_NSOCKS_PERTHREAD=4\n"
				   "[sockets-many]\nfabric=socket\n"
				   "NCCL_SOCKET_NTHREADS=2\nNCCL_NSOCKS_PERTHREAD=4\n"
				   "[sockets-medium]\nfabric=socket\nNCCL_MIN_NCHANNELS=4\n"
				   "NCCL_SOCKET_NTHREADS=2\nNCCL_NSOCKS_PERTHREAD=2\n";

	static const char of_trace[] = "[sockets-wide]\nfabric=socket\nNCCL_MIN_NCHANNELS=8\n"
				       "NCCL_SOCKET_NTHREADS=2\nNCCL_NSOCKS_PERTHREAD=4\n"
				       "[sockets-many]\nfabric=socket\n"
				       "NCCL_SOCKET_NTHREADS=4\nNCCL_NSOCKS_PERTHREAD=4\n"
				       "[sockets-medium]\nNCCL_BUFFSIZE=16M\n";
	const char *used = world->traced ? of_trace : text;

	nt_profiles_init(&profiles);
	assert_int_equal(nt_profiles_parse(&profiles, "test", used, strlen(used), NULL), 0);
	return &profiles;
}

struct outcome {
	unsigned profile[STEPS_MAX + 1]; /* of each step, and of the one that would follow */
	bool decided[STEPS_MAX + 1];
};

static void run_job(const struct world *world, const struct program *program, unsigned steps,
		    uint64_t seed, struct outcome *out)
{
	static struct nt_launch_choice choice;
	struct nt_launch_limits limits;
	struct nt_memory job;
	struct nt_launch_case launch = { .memory = { &job },
					 .profiles = candidates(world),
					 .where = world_where(),
					 .array_task = -1,
					 .now_s = NOW_S };

	nt_launch_limits_default(&limits);
	limits.feel.test = world_test;
	nt_memory_init(&job);
	for (unsigned step = 0; step <= steps; step++) {
		struct nt_memory_entry entry;

		assert_int_equal(nt_choose(&launch, &limits, &choice), 0);
		out->profile[step] = number_of(choice.profile);
		out->decided[step] = step > 0 && !choice.candidate && choice.why != NT_WHY_FIRST;
		if (step == steps)
			break;
		entry = run_step(world, program, out->profile[step], step, &seed);
		entry.candidate = choice.candidate;
		assert_int_equal(nt_memory_add_take(&job, &entry, NULL), 0);
	}
	nt_memory_fini(&job);
}

/* Unavoidable is the first step of a profile that has turned bad unseen. Equal within noise is no
 * loss. */
static unsigned slower_steps(const struct world *world, const struct program *program,
			     const struct outcome *outcome, unsigned steps)
{
	unsigned slower = 0;
	bool seen = false;

	for (unsigned step = 0; step < steps; step++) {
		double ratio = true_us(world, program, outcome->profile[step], step) /
			       true_us(world, program, 0, step);

		bool turned = world->turns_bad_at != 0 && step >= world->turns_bad_at &&
			      outcome->profile[step] == 1;

		if (outcome->decided[step] && ratio > 1.02 && (!turned || seen))
			slower++;
		seen = seen || turned;
	}
	return slower;
}

/* How many of RUNS jobs run the best profile in their last step (or in the step after it); -1 if
 * a decided step was slower than the default. */
static void play(const struct world *world, const struct program *program, unsigned steps,
		 unsigned *last, unsigned *after, unsigned *slower)
{
	unsigned best = 0;

	for (unsigned i = 1; i < PROFILES; i++)
		if (true_us(world, program, i, steps) < true_us(world, program, best, steps))
			best = i;
	*last = *after = *slower = 0;
	for (uint64_t run = 0; run < RUNS; run++) {
		struct outcome outcome;

		run_job(world, program, steps, 1000 * run + 17, &outcome);
		if (getenv("NT_SIM_PATHS") != NULL)
			for (unsigned i = 0; i <= steps; i++)
				printf("%u%s%s", outcome.profile[i], outcome.decided[i] ? "!" : "",
				       i == steps ? "\n" : " ");
		*last += outcome.profile[steps - 1] == best;
		*after += outcome.profile[steps] == best;
		*slower += slower_steps(world, program, &outcome, steps);
	}
	print_message("# %-10s %-6s %u steps: best is %-14s last %3u, next %3u, slower %u\n",
		      world->name, program->name, steps, names[best], *last, *after, *slower);
}

static void a_job_of_four_steps_ends_on_the_best(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned last, after, slower;

		play(&measured, &programs[i], 4, &last, &after, &slower);
		assert_true(last >= 95);
		assert_int_equal(slower, 0);
	}
}

static void so_it_does_on_recorded_times(void **state)
{
	(void)state;
	read_trace();
	for (unsigned i = 0; i < 3; i++) {
		unsigned last, after, slower;

		play(&traced, &trace_programs[i], 4, &last, &after, &slower);
		assert_true(last >= 95);
		assert_int_equal(slower, 0);
	}
}

static void where_nothing_gains_the_default_stays(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned last, after, slower;

		play(&shaped, &programs[i], 4, &last, &after, &slower);
		assert_true(last >= 95);
		assert_int_equal(slower, 0);
	}
}

static void a_profile_that_turns_bad_is_left(void **state)
{
	unsigned last, after, slower;

	(void)state;
	play(&turning, &programs[1], 8, &last, &after, &slower);
	assert_int_equal(slower, 0);
}

/* Neighbours say that it lies between them: a hope that small is not worth a step of this job. */
static void what_neighbours_hide(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned last, after, slower;

		play(&between, &programs[i], 6, &last, &after, &slower);
		assert_int_equal(slower, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_of_four_steps_ends_on_the_best),
		cmocka_unit_test(so_it_does_on_recorded_times),
		cmocka_unit_test(where_nothing_gains_the_default_stays),
		cmocka_unit_test(a_profile_that_turns_bad_is_left),
		cmocka_unit_test(what_neighbours_hide),
	};

	return cmocka_run_group_tests_name("launch-sim", tests, NULL, NULL);
}

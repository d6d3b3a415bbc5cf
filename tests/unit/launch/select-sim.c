/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated jobs of several steps whose best profile is known: their final profile and their cost,
 * with more and less variation between steps. NT_SIM_JOBS=100 plays so many of each kind, for the
 * table in docs/results/launch-noise. */
#include "tests/lib/unit.h"
#include "tests/unit/launch/calibrate-world.h"

#define SIZES 6
#define PROFILES 4 /* the default and three others */
#define JOBS 20
#define STEPS_MAX 10
#define LAP_S 3.5 /* of a calibration: srun, the start of NCCL and a second of calls */
#define TIME_S 60.0

static const char *const names[PROFILES] = { NT_PROFILE_DEFAULT, "sockets-wide", "sockets-many",
					     "sockets-medium" };

/* Times in microseconds by profile, at 64K 256K 1M 4M 16M 64M. */
struct world {
	const char *name;
	double us[PROFILES][SIZES];
	bool traced; /* times are drawn from a real run's samples instead */
	unsigned turns_bad_at; /* the step from which sockets-wide is ten times slower; 0: never */
};

/* Two nodes of one H200, loopback sockets, with the plugin; and variations of it. sockets-many was
 * measured without NCCL_SOCKET_INLINE, which takes 22, 6 and 4 % off its times up to 1M. */
#define MEASURED_DEFAULT                        \
	{                                       \
		92, 146, 363, 1179, 4478, 16929 \
	}
#define MEASURED_WIDE                          \
	{                                      \
		160, 201, 287, 550, 1238, 4046 \
	}
#define MEASURED_MANY                         \
	{                                     \
		91, 150, 231, 515, 1693, 6715 \
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
/* The profile between two others is better than both, which their results do not suggest. */
static const struct world between = { "between",
				      { MEASURED_DEFAULT,
					MEASURED_WIDE,
					{ 117, 160, 241, 515, 1693, 6715 },
					{ 90, 118, 180, 350, 800, 2600 } },
				      false,
				      0 };

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
	double apart_us; /* of its own between calls; a calibration makes them back to back */
};

static const struct program programs[] = {
	{ "small", { 60, 40, 0, 0, 0, 0 }, 5000, 0 },
	{ "large", { 0, 0, 0, 2, 4, 1 }, 20000, 0 },
	{ "both", { 50, 0, 20, 0, 2, 0 }, 5000, 0 },
};

static const struct program apart_programs[] = {
	{ "small", { 60, 40, 0, 0, 0, 0 }, 5000, 300 },
	{ "large", { 0, 0, 0, 2, 4, 1 }, 20000, 2000 },
	{ "both", { 50, 0, 20, 0, 2, 0 }, 5000, 300 },
};

static const struct program trace_programs[] = {
	{ "small", { 0, 20, 0, 1, 0, 0 }, 3000, 0 },
	{ "large", { 0, 0, 0, 2, 0, 2 }, 20000, 0 },
	{ "both", { 0, 8, 0, 4, 0, 1 }, 5000, 0 },
};

/* A fast mode, a slow one that is met now and then at small sizes, and stalls; times a factor that
 * all of one step has in common. */
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
		sum += program->calls[size] *
		       (world->us[profile][size] * (size < 3 ? 1.12 : 1) * (bad ? 10 : 1) +
			program->apart_us);
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

/* The entry that a step leaves. */
static struct nt_memory_entry run_step(const struct world *world, const struct program *program,
				       unsigned profile, unsigned step, double noise,
				       uint64_t *seed)
{
	struct nt_memory_entry entry = world_entry(names[profile], 7, step);
	double run = exp(noise * world_normal(seed)), us[100];

	for (unsigned size = 0; size < SIZES; size++) {
		if (program->calls[size] <= 0)
			continue;
		for (unsigned i = 0; i < 100; i++)
			us[i] = call_us(world, profile, size, step, run, seed) +
				run * program->apart_us;
		world_key(&entry, UINT64_C(65536) << (2 * size),
			  (uint64_t)(program->calls[size] * 100), 1);
		entry.key[entry.keys - 1].best = quantiles_of(us, 100);
		entry.key[entry.keys - 1].untuned = entry.key[entry.keys - 1].best;
	}
	entry.marker_coll = NT_ALLREDUCE;
	entry.marker_bytes = 1 << 26;
	entry.periods = 40;
	for (unsigned i = 0; i < entry.periods; i++) {
		double period = run * program->compute_us * exp(0.02 * world_normal(seed));

		for (unsigned size = 0; size < SIZES; size++)
			for (unsigned call = 0; call < program->calls[size]; call++)
				period += call_us(world, profile, size, step, run, seed) +
					  run * program->apart_us;
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

struct lap_of {
	const struct world *world;
	double noise;
};

static struct nt_memory_entry draw_lap(const void *arg, unsigned profile, uint64_t *seed)
{
	static const struct program all = { "all", { 1, 1, 1, 1, 1, 1 }, 0, 0 };
	static const struct program of_trace = { "all", { 0, 1, 0, 1, 0, 1 }, 0, 0 };
	const struct lap_of *of = arg;
	struct nt_memory_entry entry = run_step(of->world, of->world->traced ? &of_trace : &all,
						profile, 0, of->noise, seed);

	entry.when_s -= 1000;
	entry.marker_coll = -1;
	entry.periods = 0;
	return entry;
}

/* Returns how long it took. calls NULL: all sizes, whatever the program will send. */
static double calibrate(const struct world *world, const struct nt_memory_entry *calls,
			double noise, struct nt_memory *memory, uint64_t *seed)
{
	const struct lap_of of = { world, noise };
	const struct world_laps laps = { names, PROFILES, TIME_S, LAP_S, draw_lap, &of };
	double spent_s = world_calibrate(&laps, calls, memory, seed);

	assert_true(spent_s >= 0);
	return spent_s;
}

struct outcome {
	double calibration_s;
	unsigned profile[STEPS_MAX]; /* of each step */
	bool decided[STEPS_MAX]; /* by what was measured for such calls */
};

/* How a job goes. */
struct course {
	const struct world *world;
	const struct program *program;
	unsigned steps;
	double noise;
	bool known; /* an earlier job has shown what the program sends */
};

/* An earlier job's step. */
static void show_calls(const struct course *course, struct nt_memory *user, uint64_t *seed)
{
	struct nt_memory_entry entry = run_step(course->world, course->program, 0, 0, course->noise,
						seed);

	entry.job = 6;
	entry.when_s -= 2000;
	assert_int_equal(nt_memory_add_take(user, &entry, NULL), 0);
}

static void run_job(const struct course *course, uint64_t seed, struct outcome *out)
{
	static struct nt_launch_choice choice;
	struct nt_memory user;
	struct nt_launch_case launch = { .memory = { &user },
					 .profiles = candidates(course->world),
					 .where = world_where(),
					 .job = 7 };
	size_t last = 0;

	nt_memory_init(&user);
	if (course->known)
		show_calls(course, &user, &seed);
	out->calibration_s = calibrate(course->world, course->known ? &user.entry[0] : NULL,
				       course->noise, &user, &seed);
	for (last = 0; last < user.entries && user.entry[last].origin != NT_ORIGIN_JOB;)
		last++;
	for (unsigned step = 0; step < course->steps; step++) {
		struct nt_memory_entry entry;

		launch.step = last < user.entries ? &user.entry[last] : NULL;
		nt_profile_select(&launch, &choice);
		out->profile[step] = number_of(choice.profile);
		out->decided[step] = choice.mix_known;
		entry = run_step(course->world, course->program, out->profile[step], step,
				 course->noise, &seed);
		assert_int_equal(nt_memory_add_take(&user, &entry, NULL), 0);
		last = user.entries - 1;
	}
	nt_memory_fini(&user);
}

/* Of all jobs of a kind. */
struct tally {
	double best_ratio; /* of the best profile's step to the default's */
	unsigned ends_best; /* jobs whose last step is within 2 % of it */
	unsigned decided, slower; /* steps; those over 3 % slower than the default */
	unsigned flips; /* from one decided step to the next */
	double calibration_s, pays_s; /* means; of jobs that gained: from which length they do */
	unsigned gained;
};

/* Not to be avoided is the first step of a profile that has turned bad unseen. */
static bool is_slower(const struct course *course, const struct outcome *outcome, unsigned step)
{
	const struct world *world = course->world;
	bool turned = world->turns_bad_at != 0 && outcome->profile[step] == 1;

	if (turned && (step <= world->turns_bad_at || outcome->profile[step - 1] != 1))
		return false;
	return true_us(world, course->program, outcome->profile[step], step) >
	       1.03 * true_us(world, course->program, 0, step);
}

static void count_steps(const struct course *course, const struct outcome *outcome,
			struct tally *tally)
{
	for (unsigned step = 0; step < course->steps; step++) {
		if (!outcome->decided[step])
			continue;
		tally->decided++;
		tally->slower += is_slower(course, outcome, step);
		tally->flips += step > 0 && outcome->decided[step - 1] &&
				outcome->profile[step] != outcome->profile[step - 1];
	}
}

static unsigned jobs_of_a_kind(void)
{
	const char *jobs = getenv("NT_SIM_JOBS");

	return jobs != NULL ? (unsigned)strtoul(jobs, NULL, 10) : JOBS;
}

static struct tally play(const struct course *course)
{
	const unsigned jobs = jobs_of_a_kind();
	struct tally tally = { .best_ratio = 1 };
	unsigned last = course->steps - 1;
	double base_us = true_us(course->world, course->program, 0, last);

	for (unsigned i = 1; i < PROFILES; i++)
		tally.best_ratio = fmin(tally.best_ratio,
					true_us(course->world, course->program, i, last) / base_us);
	for (uint64_t seed = 0; seed < jobs; seed++) {
		struct outcome outcome;
		double ratio;

		run_job(course, 1000 * seed + 17, &outcome);
		count_steps(course, &outcome, &tally);
		ratio = true_us(course->world, course->program, outcome.profile[last], last) /
			base_us;
		tally.ends_best += ratio < 1.02 * tally.best_ratio;
		tally.calibration_s += outcome.calibration_s / jobs;
		if (ratio < 1) {
			tally.pays_s += outcome.calibration_s / (1 - ratio);
			tally.gained++;
		}
	}
	print_message("# %-10s %-6s %-5s %.2f   %.2f  %3u %%  %5.1f %%  %.2f  %4.0f s",
		      course->world->name, course->program->name, course->known ? "yes" : "no",
		      course->noise, tally.best_ratio, 100 * tally.ends_best / jobs,
		      100.0 * tally.slower / tally.decided, (double)tally.flips / jobs,
		      tally.calibration_s);
	if (tally.gained > 0)
		print_message("  %4.1f min", tally.pays_s / tally.gained / 60);
	print_message("\n");
	return tally;
}

static void print_head(void)
{
	print_message("# %u jobs of %u steps each, seeds 17, 1017, ...; a calibration of at most "
		      "%.0f s\n",
		      jobs_of_a_kind(), STEPS_MAX, TIME_S);
	print_message(
		"# world      calls  known noise  best  ends   slower  flips calibr. pays from\n");
}

static const double noises[] = { 0.03, 0.09, 0.15 };
#define NOISES (sizeof(noises) / sizeof(noises[0]))

/* least: jobs that end on the best profile when steps differ by 0.09 and less, if their calls were
 * known to the calibration: else a later job of the program calibrates for them. Where steps differ
 * by more, one job in twenty may take a slower profile by chance. */
static void check(const struct course *course, unsigned least)
{
	struct tally tally = play(course);

	assert_true(tally.slower <= (course->noise > 0.1 ? 0.05 : 0.01) * tally.decided);
	if (course->noise > 0.1 || !course->known)
		return;
	assert_true(tally.ends_best >= least * jobs_of_a_kind() / 100);
	assert_true(tally.flips <= 0.2 * jobs_of_a_kind());
}

static void check_programs(const struct world *world, const struct program *of, unsigned least)
{
	for (unsigned known = 0; known < 2; known++)
		for (unsigned i = 0; i < 3; i++)
			for (unsigned k = 0; k < NOISES; k++)
				check(&(struct course){ world, &of[i], STEPS_MAX, noises[k],
							known > 0 },
				      least);
}

static void jobs_end_on_the_best_of_recorded_times(void **state)
{
	read_trace();
	print_head();
	check_programs(&traced, trace_programs, 90);
}

static void and_of_what_was_measured_in_jobs(void **state)
{
	check_programs(&measured, programs, 90);
}

/* From start to start a call takes longer than in a calibration, which shows the same gain. */
static void and_where_programs_compute_between_calls(void **state)
{
	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; noises[k] < 0.1; k++)
			check(&(struct course){ &measured, &apart_programs[i % 3], STEPS_MAX,
						noises[k], i >= 3 },
			      70); /* two profiles are close */
}

static void where_nothing_gains_the_default_stays(void **state)
{
	check_programs(&shaped, programs, 90);
}

static void a_profile_that_turns_bad_is_left(void **state)
{
	for (unsigned k = 0; k < NOISES; k++) {
		struct tally tally = play(
			&(struct course){ &turning, &programs[1], 8, noises[k], true });

		assert_true(tally.slower <= 0.01 * tally.decided);
	}
}

/* A calibration measures it nevertheless. Small calls gain a tenth from it, which takes more laps
 * than there is time for to be sure of. */
static void what_neighbours_hide_is_found(void **state)
{
	check_programs(&between, programs, 50);
}

UNIT_TESTS(jobs_end_on_the_best_of_recorded_times, and_of_what_was_measured_in_jobs,
	   and_where_programs_compute_between_calls, where_nothing_gains_the_default_stays,
	   a_profile_that_turns_bad_is_left, what_neighbours_hide_is_found);

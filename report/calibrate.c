/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune calibrate: find out which launch profile is best on this job's nodes. */
#include "report/command.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/compare.h"
#include "launch/choose.h"
#include "launch/store.h"
#include "launch/why.h"
#include "report/calrun.h"
#include "report/caltable.h"
#include "report/places.h"
#include "report/seconds.h"

#define TIME_LEAST_S 1
#define TIME_MOST_S 3600

static volatile sig_atomic_t stop;

struct settings {
	struct nt_places places;
	double time_s; /* 0: as many nodes take */
	const char *sizes, *profiles, *mpi;
	uint32_t nodes, per_node;
	bool overlap, quiet;
	char *const *program;
};

/* All that one calibration holds. */
struct calibrating {
	struct nt_places places;
	struct nt_profiles all, candidates;
	struct nt_memory memory; /* the user's */
	char directory[NT_PATH_MAX];
	struct nt_mix mix;
	uint32_t mix_job, mix_step;
	struct nt_calrun run;
	struct nt_launch_choice choice;
};

static void on_signal(int number)
{
	stop = number;
}

static void watch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Is the name in a list with commas? */
static bool in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

/* Every name of a list must be a profile, or the default, which is measured anyway. */
static int check_names(const struct nt_profiles *all, const char *list, struct nt_error *err)
{
	char name[NT_PROFILE_NAME];

	for (const char *at = list; at; at = strchr(at, ',')) {
		size_t length;

		at += *at == ',';
		length = strcspn(at, ",");
		if (length == 0 || length >= sizeof(name))
			return nt_error_set(err, "bad list of profiles '%.60s'", list);
		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (strcmp(name, NT_PROFILE_DEFAULT) != 0 && !nt_profiles_want(all, name, err))
			return -1;
	}
	return 0;
}

static int choose_candidates(struct calibrating *c, const struct settings *settings,
			     struct nt_error *err)
{
	if (settings->profiles && check_names(&c->all, settings->profiles, err) < 0)
		return -1;
	nt_profiles_init(&c->candidates);
	for (unsigned i = 0; i < c->all.count; i++) {
		const struct nt_profile *profile = &c->all.profile[i];

		if (!settings->profiles || in_list(settings->profiles, profile->name))
			c->candidates.profile[c->candidates.count++] = *profile;
	}
	return 0;
}

/* The calls to make, and the mix to weigh by: as asked, as the job was seen to do, or a standard
 * list. */
static int choose_calls(struct calibrating *c, const struct settings *settings,
			struct nt_error *err)
{
	const struct nt_allocation *job = &c->run.allocation;
	const struct nt_memory_entry *entry = nt_calls_entry(
		&c->memory, job->job, nt_allocation_fingerprint(job, &c->memory), job->nodes,
		job->per_node);

	nt_calls_standard(&c->run.calls);
	if (settings->sizes)
		return nt_calls_parse(&c->run.calls, settings->sizes, err);
	if (!entry || !nt_calls_of(entry, &c->run.calls))
		return 0;
	nt_mix_of(entry, &c->mix);
	c->run.mix = &c->mix;
	c->mix_job = entry->job;
	c->mix_step = entry->step;
	return 0;
}

static int prepare(struct calibrating *c, const struct settings *settings, struct nt_error *err)
{
	struct nt_calrun *run = &c->run;

	c->places = settings->places;
	if (nt_allocation_read(&run->allocation, settings->nodes, settings->per_node, err) < 0 ||
	    nt_places_profiles(&settings->places, &c->all, err) < 0 ||
	    choose_candidates(c, settings, err) < 0 ||
	    nt_places_memory(&settings->places, c->directory, err) < 0 ||
	    nt_store_read(c->directory, &c->memory, (int64_t)time(NULL), err) < 0 ||
	    choose_calls(c, settings, err) < 0)
		return -1;
	run->profiles = &c->candidates;
	run->directory = c->directory;
	run->mpi = settings->mpi;
	run->overlap = settings->overlap;
	run->quiet = settings->quiet;
	run->program = settings->program;
	run->stop = &stop;
	run->time_s = settings->time_s > 0 ? settings->time_s
					   : nt_calibration_time_s(run->allocation.nodes);
	return 0;
}

static double test(const float *base, const float *arm, unsigned count)
{
	return nt_compare_p(base, arm, count);
}

/* This job's part of the user's memory. */
static int find_job(const struct calibrating *c, struct nt_memory *job, struct nt_error *err)
{
	for (size_t i = 0; i < c->memory.entries; i++) {
		const struct nt_memory_entry *entry = &c->memory.entry[i];
		struct nt_memory_entry copy;

		if (entry->job != c->run.allocation.job || entry->origin == NT_ORIGIN_IMPORT)
			continue;
		if (nt_entry_copy(&copy, entry, err) < 0 || nt_memory_add_take(job, &copy, err) < 0)
			return -1;
	}
	return 0;
}

/* What a step of this job that is launched now would get. */
static int choose_with(struct calibrating *c, const struct nt_memory *memory[NT_LEVELS],
		       struct nt_error *err)
{
	struct nt_launch_limits limits;
	struct nt_launch_case launch = {
		.memory = { memory[0], memory[1], memory[2] },
		.profiles = &c->all,
		.where = *nt_calrun_where(&c->run),
		.mix = c->run.mix,
		.array_task = -1,
		.now_s = (int64_t)time(NULL),
	};
	char text[256];

	nt_launch_limits_default(&limits);
	limits.feel.test = test;
	if (nt_choose(&launch, &limits, &c->choice) < 0)
		return nt_error_set(err, "no memory");
	printf("\n%s\n\n", nt_choice_text(&c->choice, &launch, text, sizeof(text)));
	nt_choice_print(&c->choice, stdout);
	return 0;
}

static int choose(struct calibrating *c, struct nt_error *err)
{
	struct nt_memory job, site;
	const struct nt_memory *memory[NT_LEVELS] = { &job, &c->memory, &site };
	int64_t now_s = (int64_t)time(NULL);
	int rc = -1;

	nt_memory_init(&job);
	nt_memory_init(&site);
	nt_memory_fini(&c->memory);
	if (nt_store_read(c->directory, &c->memory, now_s, err) == 0 &&
	    nt_places_read_site(&c->places, &site, now_s, err) == 0 && find_job(c, &job, err) == 0)
		rc = choose_with(c, memory, err);
	nt_memory_fini(&job);
	nt_memory_fini(&site);
	return rc;
}

static unsigned steps_of(const struct nt_calibration *calibration)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < calibration->count; i++)
		steps += calibration->contender[i].round;
	return steps;
}

static void print_head(const struct calibrating *c)
{
	const struct nt_where *where = nt_calrun_where(&c->run);

	printf("Calibration in job %" PRIu32 ": %" PRIu32 " x %" PRIu32
	       ", %s, NCCL %u.%u.%u; %u steps in %.0f s; ",
	       c->run.allocation.job, where->nodes, where->per_node,
	       where->fabric == NT_FABRIC_ANY ? "network unknown"
					      : nt_fabric_name((int)where->fabric),
	       where->nccl / 10000, where->nccl / 100 % 100, where->nccl % 100,
	       steps_of(&c->run.calibration), c->run.spent_s);
	if (c->run.mix)
		printf("calls of step %" PRIu32 ".%" PRIu32 "\n\n", c->mix_job, c->mix_step);
	else
		puts("no job's calls are known\n");
}

static unsigned chosen_of(const struct calibrating *c)
{
	for (unsigned i = 1; i < c->run.calibration.count; i++)
		if (strcmp(c->run.calibration.contender[i].name, c->choice.profile) == 0)
			return i;
	return 0;
}

static void print_failures(const struct nt_calrun *run)
{
	for (unsigned i = 0; i < run->calibration.count; i++)
		if (run->failure[i][0])
			nt_command_complain(&nt_command_calibrate, "%s: %s",
					    run->calibration.contender[i].name, run->failure[i]);
}

static unsigned candidates_run(const struct nt_calibration *calibration)
{
	unsigned count = 0;

	for (unsigned i = 1; i < calibration->count; i++)
		count += calibration->contender[i].round > 0;
	return count;
}

/* What may be missing on this cluster. */
static void explain_nothing(const struct nt_calrun *run)
{
	if (strstr(run->failure[0], "--nccl-tune"))
		nt_command_complain(&nt_command_calibrate,
				    "this srun does not know launch profiles: plugstack.conf must "
				    "load spank_nccl_tune.so of this release");
	else if (run->silent)
		nt_command_complain(&nt_command_calibrate,
				    "is spank_nccl_tune.so in plugstack.conf of all nodes, with "
				    "nt-recordd beside it, and do the nodes see that directory?");
}

/* A profile that wins at some sizes and loses at others waits for the job's mix. */
static void print_prospect(const struct calibrating *c)
{
	for (unsigned i = 0; !c->choice.mix_known && i < c->choice.count; i++) {
		if (c->choice.weighed[i].why != NT_WHY_WORST)
			continue;
		puts("\nSome profile is better at some sizes: after its first step this job's mix is "
		     "known,\nand decides for those that follow.");
		return;
	}
}

/* What is known by now, in full or in part. */
static int tell(struct calibrating *c)
{
	const struct nt_calrun *run = &c->run;
	const struct nt_calibration *calibration = &run->calibration;
	struct nt_error err;

	print_failures(run);
	if (!nt_calrun_where(run)) {
		nt_command_complain(&nt_command_calibrate,
				    "nothing is known: no step with NCCL's default ended well");
		explain_nothing(run);
		return NT_EXIT_FAILED;
	}
	print_head(c);
	if (nt_caltable_print(stdout, calibration, &run->found, nt_calrun_where(run), run->mix,
			      (int64_t)time(NULL)) < 0 ||
	    choose(c, &err) < 0) {
		nt_command_complain(&nt_command_calibrate, "%s", err.text);
		return NT_EXIT_FAILED;
	}
	print_prospect(c);
	putchar('\n');
	nt_caltable_cost(stdout, calibration, chosen_of(c), run->spent_s);
	if (stop) {
		nt_command_complain(&nt_command_calibrate,
				    "interrupted: this is what was known by then");
		return NT_EXIT_FAILED;
	}
	if (candidates_run(calibration) == 0 && calibration->count > 1) {
		nt_command_complain(&nt_command_calibrate,
				    "no time for a candidate: a step takes %.1f s, of which at "
				    "least two must fit into --time",
				    calibration->contender[0].longest_s);
		return NT_EXIT_FAILED;
	}
	return NT_EXIT_OK;
}

static int calibrate(const struct settings *settings)
{
	struct calibrating *c = calloc(1, sizeof(*c));
	struct nt_error err = { "no memory" };
	int status = NT_EXIT_FAILED;

	if (c && prepare(c, settings, &err) == 0) {
		watch_signals();
		if (nt_calrun(&c->run, &err) == 0)
			status = tell(c);
		else
			nt_command_complain(&nt_command_calibrate, "%s", err.text);
		nt_calrun_fini(&c->run);
	} else {
		nt_command_complain(&nt_command_calibrate, "%s", err.text);
	}
	if (c)
		nt_memory_fini(&c->memory);
	free(c);
	return status;
}

/* A whole number from least to most; 0 if it is none. */
static uint32_t count_of(const char *text, unsigned long most)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return 0;
	value = strtoul(text, &end, 10);
	return *end == '\0' && value <= most ? (uint32_t)value : 0;
}

static int take_option(struct settings *settings, int option, char *argv[])
{
	struct nt_error err;

	switch (option) {
	case 't':
		if (nt_seconds_parse(optarg, TIME_LEAST_S, TIME_MOST_S, &settings->time_s, &err) ==
		    0)
			return 0;
		return nt_command_misuse(&nt_command_calibrate, "--time: %s", err.text);
	case 's': settings->sizes = optarg; return 0;
	case 'p': settings->profiles = optarg; return 0;
	case 'f': settings->places.profiles = optarg; return 0;
	case 'm': settings->places.memory = optarg; return 0;
	case 'S': settings->places.site_memory = optarg; return 0;
	case 'M': settings->mpi = optarg; return 0;
	case 'o': settings->overlap = true; return 0;
	case 'q': settings->quiet = true; return 0;
	case 'N':
		settings->nodes = count_of(optarg, 1 << 20);
		if (settings->nodes > 0)
			return 0;
		return nt_command_misuse(&nt_command_calibrate, "bad number of nodes '%s'", optarg);
	case 'n':
		settings->per_node = count_of(optarg, 4096);
		if (settings->per_node > 0)
			return 0;
		return nt_command_misuse(&nt_command_calibrate,
					 "bad number of tasks on each node '%s'", optarg);
	default: return nt_command_misuse_option(&nt_command_calibrate, option, argv);
	}
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "time", required_argument, NULL, 't' },
		{ "sizes", required_argument, NULL, 's' },
		{ "profiles", required_argument, NULL, 'p' },
		{ "profile-file", required_argument, NULL, 'f' },
		{ "memory", required_argument, NULL, 'm' },
		{ "site-memory", required_argument, NULL, 'S' },
		{ "nodes", required_argument, NULL, 'N' },
		{ "ntasks-per-node", required_argument, NULL, 'n' },
		{ "mpi", required_argument, NULL, 'M' },
		{ "overlap", no_argument, NULL, 'o' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct settings settings = { .mpi = "pmix" };
	int option, rc;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:t:s:p:N:qh", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_calibrate);
		rc = take_option(&settings, option, argv);
		if (rc != 0)
			return rc;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
		return nt_command_misuse(&nt_command_calibrate,
					 "unknown argument '%s' (a program stands behind --)",
					 argv[optind]);
	if (optind < argc)
		settings.program = argv + optind;
	if (settings.program && settings.sizes)
		return nt_command_misuse(&nt_command_calibrate,
					 "--sizes is for nccl-tune-bench, not for '%s'",
					 argv[optind]);
	return nt_command_finish(&nt_command_calibrate, calibrate(&settings));
}

const struct nt_command nt_command_calibrate = {
	.name = "calibrate",
	.run = run,
	.summary = "find the best launch profile on this job's nodes",
	.help = "Usage: nccl-tune calibrate [OPTION...] [-- PROGRAM [ARGUMENT...]]\n"
		"\n"
		"In a job: runs nccl-tune-bench on its nodes with NCCL's default and with each launch\n"
		"profile that fits, by turns, and remembers what each gave. Prints how fast each is at\n"
		"each size, which one later steps with --nccl-tune=...,launch=auto get, and why. Which\n"
		"collectives and sizes count is taken from the newest step of this job, or of an\n"
		"earlier one on such nodes; else AllReduce of 64K to 64M, all alike.\n"
		"\n"
		"  -t, --time TIME         at most so long, as 30s or 2m (default: 30s for two nodes,\n"
		"                          a quarter more each time they double)\n"
		"  -s, --sizes LIST        AllReduce of these, as 64K,1M,16M\n"
		"  -p, --profiles LIST     only these profiles\n"
		"      --profile-file FILE profiles from there, not from where they are installed\n"
		"  -N, --nodes N           of the job's nodes so many (default: all)\n"
		"      --ntasks-per-node N tasks, one a GPU (default: as the job has, or 1)\n"
		"      --mpi TYPE          for srun (default: pmix)\n"
		"      --memory DIRECTORY  what is remembered (default: $NCCL_TUNE_MEMORY, else\n"
		"                          nccl-tune/memory in $XDG_STATE_HOME or ~/.local/state)\n"
		"      --site-memory FILE  what the site remembers, for the choice\n"
		"      --overlap           share the nodes with another step of this job\n"
		"  -q, --quiet             no progress\n"
		"  -h, --help              print this\n"
		"\n"
		"PROGRAM stands for nccl-tune-bench; each task of a step runs it.\n"
		"\n"
		"Exit status: 0 it was measured, also where the default is best; 1 something failed\n"
		"(see stderr); 2 misuse.\n",
};

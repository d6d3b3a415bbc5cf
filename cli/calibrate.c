/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune calibrate: find the best launch profile on this job's nodes. */
#include "cli/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "contract/setting.h"
#include "lib/plural.h"
#include "profiles/select.h"
#include "profiles/memory-store.h"
#include "profiles/select-text.h"
#include "cli/calibrate-run.h"
#include "cli/calibrate-table.h"
#include "report/model/places.h"
#include "lib/list.h"
#include "lib/seconds.h"

#define TIME_LEAST_S 1
#define TIME_MOST_S 3600

static volatile sig_atomic_t stop;

struct calibrating {
	/* What is asked for; more of it is in run. */
	struct nt_places places;
	const char *sizes, *names; /* of profiles; NULL: all */
	uint32_t nodes, per_node;
	/* What is known. */
	struct nt_profiles all, candidates;
	struct nt_memory memory, site; /* the user's, the site's */
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

/* Every name must be a profile, or the default, which is always measured. */
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

static int choose_candidates(struct calibrating *c, struct nt_error *err)
{
	if (c->names && check_names(&c->all, c->names, err) < 0)
		return -1;
	for (unsigned i = 0; i < c->all.count; i++) {
		const struct nt_profile *profile = &c->all.profile[i];

		if (!c->names || nt_list_has(c->names, ',', profile->name, strlen(profile->name)))
			c->candidates.profile[c->candidates.count++] = *profile;
	}
	return 0;
}

/* The calls to make, and the mix to weigh them by: as requested, else those of an earlier step,
 * else a standard list. */
static int choose_calls(struct calibrating *c, struct nt_error *err)
{
	const struct nt_allocation *job = &c->run.allocation;
	const struct nt_memory_entry *entry = nt_trial_calls_entry(
		&c->memory, job->job, nt_allocation_fingerprint(job, &c->memory), job->nodes,
		job->per_node);

	nt_trial_calls_standard(&c->run.calls);
	if (c->sizes)
		return nt_trial_calls_parse(&c->run.calls, c->sizes, err);
	if (!entry || !nt_trial_calls_of(entry, &c->run.calls))
		return 0;
	nt_mix_of(entry, &c->mix);
	c->run.mix = &c->mix;
	c->mix_job = entry->job;
	c->mix_step = entry->step;
	return 0;
}

static int prepare(struct calibrating *c, struct nt_error *err)
{
	const int64_t now_s = (int64_t)time(NULL);
	struct nt_calrun *run = &c->run;

	if (nt_allocation_read(&run->allocation, run->nodelist, c->nodes, c->per_node, err) < 0)
		return -1;
	if (!run->program && run->allocation.nodes < 2 && run->allocation.per_node < 2)
		return nt_error_set(err, "one task: two or more are needed (--ntasks-per-node)");
	if (nt_places_profiles(&c->places, &c->all, err) < 0 || choose_candidates(c, err) < 0 ||
	    nt_places_memory(&c->places, c->directory, err) < 0 ||
	    nt_store_read(c->directory, &c->memory, now_s, err) < 0 ||
	    nt_places_read_site(&c->places, &c->site, now_s, err) < 0 || choose_calls(c, err) < 0)
		return -1;
	run->profiles = &c->candidates;
	run->named = c->names != NULL;
	run->site = &c->site;
	run->directory = c->directory;
	run->stop = &stop;
	if (run->time_s <= 0)
		run->time_s = (double)nt_calibrate_auto_s(run->allocation.nodes);
	return 0;
}

/* What a step of this job would get now. */
static int choose_with(struct calibrating *c, const struct nt_memory *memory[NT_LEVELS],
		       struct nt_error *err)
{
	struct nt_launch_case launch = {
		.memory = { memory[0], memory[1], memory[2] },
		.profiles = &c->all,
		.where = *nt_calrun_where(&c->run),
		.mix = c->run.mix,
		.now_s = (int64_t)time(NULL),
	};
	char text[256];

	if (nt_select(&launch, &c->choice) < 0)
		return nt_error_set(err, "no memory");
	printf("\n%s\n\n", nt_choice_text(&c->choice, &launch, text, sizeof(text)));
	nt_choice_print(&c->choice, stdout);
	return 0;
}

static int choose(struct calibrating *c, struct nt_error *err)
{
	struct nt_memory job;
	const struct nt_memory *memory[NT_LEVELS] = { &job, &c->memory, &c->site };
	int64_t now_s = (int64_t)time(NULL);
	int rc = -1;

	nt_memory_init(&job);
	nt_memory_fini(&c->memory);
	if (nt_store_read(c->directory, &c->memory, now_s, err) == 0 &&
	    nt_memory_add_job(&job, &c->memory, c->run.allocation.job, err) == 0)
		rc = choose_with(c, memory, err);
	nt_memory_fini(&job);
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
	const unsigned steps = steps_of(&c->run.calibration);

	printf("Calibration in job %" PRIu32 ": %" PRIu32 " x %" PRIu32
	       ", %s, NCCL %u.%u.%u; %u step%s in %.0f s; ",
	       c->run.allocation.job, where->nodes, where->per_node,
	       where->fabric == NT_FABRIC_ANY ? "network unknown"
					      : nt_fabric_name((int)where->fabric),
	       where->nccl / 10000, where->nccl / 100 % 100, where->nccl % 100, steps,
	       nt_plural(steps), c->run.spent_s);
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
			nt_command_complain("%s: %s", run->calibration.contender[i].name,
					    run->failure[i]);
}

static unsigned candidates_run(const struct nt_calibration *calibration)
{
	unsigned count = 0;

	for (unsigned i = 1; i < calibration->count; i++)
		count += calibration->contender[i].round > 0;
	return count;
}

/* Common mistakes in a cluster's configuration. */
static void explain_nothing(const struct nt_calrun *run)
{
	if (strstr(run->failure[0], "--nccl-tune"))
		nt_command_complain("this srun has no launch profiles: plugstack.conf must load "
				    "spank_nccl_tune.so of this release");
	else if (run->silent)
		nt_command_complain("check that plugstack.conf of all nodes loads "
				    "spank_nccl_tune.so, that nt-recordd is next to it, and that "
				    "the nodes see that directory; if so, nccl-tune report %" PRIu32
				    " may give the reason",
				    run->allocation.job);
}

/* A profile that wins at some sizes only is not used before the job's mix is known. */
static void print_prospect(const struct calibrating *c)
{
	for (unsigned i = 0; !c->choice.mix_known && i < c->choice.count; i++) {
		if (c->choice.candidate[i].why != NT_WHY_WORST)
			continue;
		puts("\nSome profiles are faster at some sizes. After the first step, this job's "
		     "mix of calls\nis known and decides for later steps.");
		return;
	}
}

/* Prints the results, of an interrupted calibration as far as they go. */
static int tell(struct calibrating *c)
{
	const struct nt_calrun *run = &c->run;
	const struct nt_calibration *calibration = &run->calibration;
	struct nt_error err = { "no memory" };

	print_failures(run);
	if (calibration->contender[0].state == NT_CONTENDER_WRONG) {
		nt_command_complain(
			"results are wrong with forced algorithms and protocols: none is forced "
			"on this hardware from now on, and NCCL starts with its own settings");
		return NT_CALRUN_WRONG;
	}
	if (!nt_calrun_where(run)) {
		nt_command_complain("no result: no step with NCCL's default succeeded");
		explain_nothing(run);
		return NT_EXIT_FAILED;
	}
	print_head(c);
	if (nt_caltable_print(stdout, calibration, &run->found, nt_calrun_where(run), run->mix,
			      (int64_t)time(NULL)) < 0 ||
	    choose(c, &err) < 0)
		return nt_command_fail(&err);
	if (run->left_out[0])
		printf("\nNot tried: %s\n", run->left_out);
	print_prospect(c);
	putchar('\n');
	nt_caltable_cost(stdout, calibration, chosen_of(c), run->spent_s);
	if (stop) {
		nt_command_complain("interrupted: results so far");
		return NT_EXIT_FAILED;
	}
	if (candidates_run(calibration) == 0 && calibration->count > 1) {
		nt_command_complain("too little time for a profile: at least two steps of %.1f s "
				    "must fit into --time",
				    calibration->contender[0].longest_s);
		return NT_EXIT_FAILED;
	}
	return NT_EXIT_OK;
}

static int find_profile(struct calibrating *c)
{
	struct nt_error err = { "no memory" };
	int status;

	status = nt_calrun(&c->run, &err) == 0 ? tell(c) : nt_command_fail(&err);
	nt_calrun_fini(&c->run);
	return status;
}

static int calibrate(struct calibrating *c)
{
	struct nt_error err = { "no memory" };
	int status;

	if (prepare(c, &err) == 0) {
		watch_signals();
		status = find_profile(c);
	} else {
		status = nt_command_fail(&err);
	}
	nt_memory_fini(&c->memory);
	nt_memory_fini(&c->site);
	return status;
}

static void init(void *argument)
{
	struct calibrating *c = argument;

	c->run.mpi = "pmix";
}

static int take_time(void *argument, const char *text)
{
	struct calibrating *c = argument;
	struct nt_error err;

	if (nt_seconds_parse(text, TIME_LEAST_S, TIME_MOST_S, &c->run.time_s, &err) == 0)
		return 0;
	return nt_command_misuse("--time: %s", err.text);
}

static int run(void *argument, char *argv[])
{
	struct calibrating *c = argument;
	const bool program = argv[0] != NULL;

	if (program && strcmp(argv[-1], "--") != 0)
		return nt_command_misuse("unknown argument '%s' (put a program after --)", argv[0]);
	if (program)
		c->run.program = argv;
	if (program && c->sizes)
		return nt_command_misuse("--sizes is for nccl-tune-bench, not for '%s'", argv[0]);
	return calibrate(c);
}

static const struct nt_option options[] = {
	{ "time", 't',
	  "Time limit, as in 30s or 2m (default: 60s for two nodes, a quarter more each time they "
	  "double)",
	  NT_TAKE(take_time, "TIME") },
	{ "sizes", 's', "Measure AllReduce of these sizes, as in 64K,1M,16M",
	  NT_TEXT(struct calibrating, sizes, "LIST") },
	{ "profiles", 'p', "Only these profiles", NT_TEXT(struct calibrating, names, "LIST") },
	{ "profile-file", 0, "Use the profiles in FILE instead of the installed ones",
	  NT_TEXT(struct calibrating, places.profiles, "FILE") },
	{ "nodes", 'N', "N of the job's nodes (default: all)",
	  NT_U32(struct calibrating, nodes, "N", 1, 1 << 20) },
	{ "nodelist", 'w', "These of the job's nodes, as Slurm writes them",
	  NT_TEXT(struct calibrating, run.nodelist, "LIST") },
	{ "ntasks-per-node", 0, "Tasks per node, one per GPU (default: the job's, or 1)",
	  NT_U32(struct calibrating, per_node, "N", 1, 4096) },
	{ "mpi", 0, "srun's --mpi (default: pmix)", NT_TEXT(struct calibrating, run.mpi, "TYPE") },
	{ "memory", 0,
	  "The memory of launch profiles (default: $NCCL_TUNE_MEMORY, or nccl-tune/memory in "
	  "$XDG_STATE_HOME or ~/.local/state)",
	  NT_TEXT(struct calibrating, places.memory, "DIRECTORY") },
	{ "site-memory", 0, "The site's memory",
	  NT_TEXT(struct calibrating, places.site_memory, "FILE") },
	{ "overlap", 0, "Share the nodes with another step of this job",
	  NT_FLAG(struct calibrating, run.overlap) },
	{ "quiet", 'q', "Print no progress", NT_FLAG(struct calibrating, run.quiet) },
	{ 0 },
};

const struct nt_command nt_command_calibrate = {
	.name = "calibrate",
	.summary = "find the best launch profile on this job's nodes",
	.options = options,
	.usage = "[-- PROGRAM [ARGUMENT...]]",
	.doc = "In a job: run nccl-tune-bench on its nodes with NCCL's default settings and with "
	       "each launch profile for their network, in turn, and remember the results. Print "
	       "the speed of each at each size, the profile that later steps with launch=auto get, "
	       "and the reason. The collectives and sizes are those of the newest step of this "
	       "job, or else of an earlier job on such nodes, or else AllReduce of 64K to "
	       "64M.\n\n"
	       "PROGRAM replaces nccl-tune-bench; each task of a step runs it. It exits with "
	       "status 3 if it found wrong results."
	       "\vExit status: 0 if the profiles were measured, 1 if something failed (see stderr), 2 "
	       "for a usage error, 3 if results are wrong when choices are forced.",
	.request_bytes = sizeof(struct calibrating),
	.init = init,
	.run = run,
	.arguments = NT_ANY_NUMBER,
	.options_first = true,
};

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune calibrate: find out which launch profile is best on this job's nodes. */
#include "cli/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "contract/setting.h"
#include "profiles/select.h"
#include "profiles/memory-store.h"
#include "profiles/select-text.h"
#include "cli/calibrate-run.h"
#include "cli/calibrate-table.h"
#include "cli/compare-nodes.h"
#include "report/model/places.h"
#include "profiles/measure/low-nodes.h"
#include "report/summary/compared-nodes.h"
#include "lib/list.h"
#include "lib/seconds.h"

#define TIME_LEAST_S 1
#define TIME_MOST_S 3600
#define COMPARE_NODES 4 /* from so many on, nodes are compared first */
#define COMPARE_SHARE 0.2 /* of the time */
#define COMPARE_LEAST_S 10 /* less is not worth a step */
#define NAMED 4 /* exit status: a node was named */

static volatile sig_atomic_t stop;

struct settings {
	struct nt_places places;
	double time_s; /* 0: as many nodes take */
	const char *sizes, *profiles, *mpi;
	const char *nodelist; /* NULL: any nodes of the job */
	uint32_t nodes, per_node;
	bool overlap, quiet;
	bool compare_nodes, json; /* only the former; as JSON */
	const char *output; /* a file for it; NULL: in the memory */
	char *const *program;
};

/* All that one calibration holds. */
struct calibrating {
	struct nt_places places;
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

		if (!settings->profiles ||
		    nt_list_has(settings->profiles, ',', profile->name, strlen(profile->name)))
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
	const struct nt_memory_entry *entry = nt_trial_calls_entry(
		&c->memory, job->job, nt_allocation_fingerprint(job, &c->memory), job->nodes,
		job->per_node);

	nt_trial_calls_standard(&c->run.calls);
	if (settings->sizes)
		return nt_trial_calls_parse(&c->run.calls, settings->sizes, err);
	if (!entry || !nt_trial_calls_of(entry, &c->run.calls))
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
	if (nt_allocation_read(&run->allocation, settings->nodelist, settings->nodes,
			       settings->per_node, err) < 0 ||
	    nt_places_profiles(&settings->places, &c->all, err) < 0 ||
	    choose_candidates(c, settings, err) < 0 ||
	    nt_places_memory(&settings->places, c->directory, err) < 0 ||
	    nt_store_read(c->directory, &c->memory, (int64_t)time(NULL), err) < 0 ||
	    nt_places_read_site(&c->places, &c->site, (int64_t)time(NULL), err) < 0 ||
	    choose_calls(c, settings, err) < 0)
		return -1;
	run->profiles = &c->candidates;
	run->named = settings->profiles != NULL;
	run->site = &c->site;
	run->directory = c->directory;
	run->mpi = settings->mpi;
	run->nodelist = settings->nodelist;
	run->overlap = settings->overlap;
	run->quiet = settings->quiet;
	run->program = settings->program;
	run->stop = &stop;
	run->time_s = settings->time_s > 0 ? settings->time_s
					   : (double)nt_calibrate_auto_s(run->allocation.nodes);
	return 0;
}

/* This job's part of the user's memory. */
static int find_job(const struct calibrating *c, struct nt_memory *job, struct nt_error *err)
{
	for (size_t i = 0; i < c->memory.entries; i++) {
		const struct nt_memory_entry *entry = &c->memory.entry[i];

		if (entry->job == c->run.allocation.job && entry->origin != NT_ORIGIN_IMPORT &&
		    nt_memory_add_copy(job, entry, err) < 0)
			return -1;
	}
	return 0;
}

/* What a step of this job that is launched now would get. */
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
	if (nt_store_read(c->directory, &c->memory, now_s, err) == 0 && find_job(c, &job, err) == 0)
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

/* What may be missing on this cluster. */
static void explain_nothing(const struct nt_calrun *run)
{
	if (strstr(run->failure[0], "--nccl-tune"))
		nt_command_complain("this srun has no launch profiles: plugstack.conf must load "
				    "spank_nccl_tune.so of this release");
	else if (run->silent)
		nt_command_complain("check that plugstack.conf of all nodes loads "
				    "spank_nccl_tune.so, that nt-recordd is next to it, and that "
				    "the nodes see that directory");
}

/* A profile that wins at some sizes and loses at others waits for the job's mix. */
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

/* What is known by now, in full or in part. */
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

/* ---- nodes */

static json_object *compare(const struct calibrating *c, double time_s, struct nt_error *err)
{
	const struct nt_calrun *run = &c->run;
	const struct nt_node_comparison comparison = { .allocation = &run->allocation,
						       .directory = c->directory,
						       .mpi = run->mpi,
						       .nodelist = run->nodelist,
						       .overlap = run->overlap,
						       .quiet = run->quiet,
						       .time_s = time_s,
						       .stop = &stop };

	return nt_compare_nodes(&comparison, err);
}

static int keep_compared(const struct calibrating *c, const char *output, json_object *compared,
			 struct nt_error *err)
{
	char path[sizeof(c->directory) + sizeof("/" NT_COMPARED_FILE)];

	snprintf(path, sizeof(path), "%s/" NT_COMPARED_FILE, c->directory);
	return nt_compare_nodes_keep(compared, output ? output : path, err);
}

static int tell_compared(const struct settings *settings, json_object *compared,
			 struct nt_error *err)
{
	if (!settings->json)
		return nt_compared_text(stdout, compared, err);
	puts(json_object_to_json_string_ext(compared, JSON_C_TO_STRING_PLAIN));
	return 0;
}

/* Only that. */
static int compare_nodes(struct calibrating *c, const struct settings *settings)
{
	struct nt_error err = { "no memory" };
	json_object *compared = NULL;
	int status = NT_EXIT_FAILED;

	if (c->run.allocation.nodes < NT_LOW_NODES_LEAST) {
		nt_command_complain("%" PRIu32 " nodes: %d or more are needed",
				    c->run.allocation.nodes, NT_LOW_NODES_LEAST);
		return NT_EXIT_FAILED;
	}
	compared = compare(c, c->run.time_s, &err);
	if (compared && tell_compared(settings, compared, &err) == 0 &&
	    keep_compared(c, settings->output, compared, &err) == 0)
		status = nt_compared_names_any(compared) ? NAMED : NT_EXIT_OK;
	if (status == NT_EXIT_FAILED)
		nt_command_complain("nodes: %s", err.text);
	json_object_put(compared);
	return status;
}

/* Before profiles: a slow node makes all of them slow. What fails here fails nothing else. */
static void compare_first(struct calibrating *c)
{
	const double time_s = COMPARE_SHARE * c->run.time_s;
	struct nt_error err = { "no memory" };
	json_object *compared;

	if (c->run.program || c->run.allocation.nodes < COMPARE_NODES || time_s < COMPARE_LEAST_S)
		return;
	compared = compare(c, time_s, &err);
	if (!compared || keep_compared(c, NULL, compared, &err) < 0)
		nt_command_complain("nodes are not compared: %s", err.text);
	if (compared && nt_compared_names_any(compared)) {
		(void)nt_compared_text(stdout, compared, NULL);
		putchar('\n');
	}
	json_object_put(compared);
	c->run.time_s -= time_s;
}

static int find_profile(struct calibrating *c)
{
	struct nt_error err = { "no memory" };
	int status = NT_EXIT_FAILED;

	compare_first(c);
	if (nt_calrun(&c->run, &err) == 0)
		status = tell(c);
	else
		nt_command_complain("%s", err.text);
	nt_calrun_fini(&c->run);
	return status;
}

static int calibrate(const struct settings *settings)
{
	struct calibrating *c = calloc(1, sizeof(*c));
	struct nt_error err = { "no memory" };
	int status = NT_EXIT_FAILED;

	if (c && prepare(c, settings, &err) == 0) {
		watch_signals();
		status = settings->compare_nodes ? compare_nodes(c, settings) : find_profile(c);
	} else {
		nt_command_complain("%s", err.text);
	}
	if (c) {
		nt_memory_fini(&c->memory);
		nt_memory_fini(&c->site);
	}
	free(c);
	return status;
}

static int take_time(struct settings *settings, const char *text)
{
	struct nt_error err;

	if (nt_seconds_parse(text, TIME_LEAST_S, TIME_MOST_S, &settings->time_s, &err) == 0)
		return 0;
	return nt_command_misuse("--time: %s", err.text);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 't': return take_time(settings, arg);
	case 's': settings->sizes = arg; return 0;
	case 'p': settings->profiles = arg; return 0;
	case NT_LONG('f'): settings->places.profiles = arg; return 0;
	case NT_LONG('m'): settings->places.memory = arg; return 0;
	case NT_LONG('S'): settings->places.site_memory = arg; return 0;
	case NT_LONG('M'): settings->mpi = arg; return 0;
	case 'w': settings->nodelist = arg; return 0;
	case NT_LONG('o'): settings->overlap = true; return 0;
	case 'q': settings->quiet = true; return 0;
	case NT_LONG('c'): settings->compare_nodes = true; return 0;
	case NT_LONG('j'): settings->json = true; return 0;
	case NT_LONG('O'): settings->output = arg; return 0;
	case 'N': return nt_command_count("--nodes", arg, 1 << 20, &settings->nodes);
	case NT_LONG('n'):
		return nt_command_count("--ntasks-per-node", arg, 4096, &settings->per_node);
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int run(int argc, char *argv[])
{
	struct settings settings = { .mpi = "pmix" };
	int first, status = nt_command_parse(&nt_command_calibrate, argc, argv, &settings, &first);

	if (status != NT_COMMAND_GO)
		return status;
	if (first < argc && strcmp(argv[first - 1], "--") != 0)
		return nt_command_misuse("unknown argument '%s' (put a program after --)",
					 argv[first]);
	if (first < argc)
		settings.program = argv + first;
	if (settings.program && settings.sizes)
		return nt_command_misuse("--sizes is for nccl-tune-bench, not for '%s'",
					 argv[first]);
	if ((settings.json || settings.output) && !settings.compare_nodes)
		return nt_command_misuse("--json and --output need --compare-nodes");
	if (settings.compare_nodes && (settings.program || settings.sizes || settings.profiles))
		return nt_command_misuse(
			"--compare-nodes cannot be combined with --sizes, --profiles or a "
			"program");
	return nt_command_finish(calibrate(&settings));
}

static const struct argp_option options[] = {
	{ "time", 't', "TIME", 0,
	  "Time limit, as in 30s or 2m (default: 60s for two nodes, a quarter more each time they "
	  "double)",
	  0 },
	{ "sizes", 's', "LIST", 0, "Measure AllReduce of these sizes, as in 64K,1M,16M", 0 },
	{ "profiles", 'p', "LIST", 0, "Only these profiles", 0 },
	{ "profile-file", NT_LONG('f'), "FILE", 0,
	  "Use the profiles in FILE instead of the installed ones", 0 },
	{ "nodes", 'N', "N", 0, "N of the job's nodes (default: all)", 0 },
	{ "nodelist", 'w', "LIST", 0, "These of the job's nodes, as Slurm writes them", 0 },
	{ "ntasks-per-node", NT_LONG('n'), "N", 0,
	  "Tasks per node, one per GPU (default: the job's, or 1)", 0 },
	{ "mpi", NT_LONG('M'), "TYPE", 0, "srun's --mpi (default: pmix)", 0 },
	{ "memory", NT_LONG('m'), "DIRECTORY", 0,
	  "The memory of launch profiles (default: $NCCL_TUNE_MEMORY, or nccl-tune/memory in "
	  "$XDG_STATE_HOME or ~/.local/state)",
	  0 },
	{ "site-memory", NT_LONG('S'), "FILE", 0, "The site's memory", 0 },
	{ "overlap", NT_LONG('o'), NULL, 0, "Share the nodes with another step of this job", 0 },
	{ "quiet", 'q', NULL, 0, "Print no progress", 0 },
	{ "compare-nodes", NT_LONG('c'), NULL, 0,
	  "Measure no profiles; compare nodes by pairs of GPUs, and name nodes, GPUs and NICs that "
	  "are slower than their like",
	  0 },
	{ "json", NT_LONG('j'), NULL, 0, "With --compare-nodes: print one line of JSON", 0 },
	{ "output", NT_LONG('O'), "FILE", 0,
	  "With --compare-nodes: write that line to FILE, not to nodes.json in the memory", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "[-- PROGRAM [ARGUMENT...]]",
	.doc = "In a job: run nccl-tune-bench on its nodes with NCCL's default settings and with "
	       "each launch profile for their network, in turn, and remember the results. Print "
	       "the speed of each at each size, the profile that later steps with launch=auto get, "
	       "and the reason. The collectives and sizes are those of the newest step of this "
	       "job, or else of an earlier job on such nodes, or else AllReduce of 64K to "
	       "64M.\n\n"
	       "PROGRAM replaces nccl-tune-bench; each task of a step runs it. It exits with "
	       "status 3 if it found wrong results."
	       "\vExit status: 0 if the profiles or nodes were measured, 1 if something failed (see "
	       "stderr), 2 for a usage error, 3 if results are wrong when choices are forced, 4 if "
	       "--compare-nodes names something.",
};

const struct nt_command nt_command_calibrate = {
	.name = "calibrate",
	.run = run,
	.summary = "find the best launch profile on this job's nodes",
	.argp = &argp,
	.flags = ARGP_NO_ARGS,
};

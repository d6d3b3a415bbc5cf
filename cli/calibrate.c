/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune calibrate: measure launch profiles on this job's nodes, for one number of ranks on each
 * after another. The tasks of a step measure, as before any program; the step's program is the
 * benchmark, whose record tells the hardware and the network. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "contract/setting.h"
#include "lib/argv.h"
#include "lib/file.h"
#include "lib/list.h"
#include "lib/number.h"
#include "lib/plural.h"
#include "lib/size.h"
#include "launch/measure/request.h"
#include "launch/memory-store.h"
#include "launch/select-text.h"
#include "report/model/launch-paths.h"

#define TIME_LEAST_S 5u
#define TIME_MOST_S 3600u
#define GRACE_S 60 /* for the step's start and its program */
#define NODES_MAX (1 << 20)
#define TASKS_MAX 4096
#define SHAPES 8 /* numbers of ranks on a node */

extern char **environ;

/* The job that this process runs in, from Slurm's variables. */
struct allocation {
	uint32_t job;
	uint32_t nodes, per_node; /* nodes, tasks on each */
};

struct calibrating {
	/* What is asked for. */
	struct nt_launch_paths paths;
	const char *sizes, *names; /* of profiles; NULL: all */
	const char *ranks;
	double time_s;
	/* What is known. */
	struct allocation allocation;
	unsigned shapes;
	uint64_t shape[SHAPES];
	struct nt_profiles profiles;
	struct nt_memory memory, site; /* the user's, the site's */
	char directory[NT_PATH_MAX]; /* of the user's, where the ranks of a step also meet */
	struct nt_launch_choice choice;
};

/* ---- the job */

/* The number at the start of a variable: "4", or "4(x2)", or "4,2". 0 if there is none. */
static uint64_t number_in(const char *name, uint64_t most)
{
	const char *text = getenv(name);
	uint64_t value;
	const char *end = text ? nt_number_read(text, most, &value) : NULL;

	return end && (*end == '\0' || *end == '(' || *end == ',') ? value : 0;
}

static uint32_t tasks_a_node(uint32_t nodes)
{
	uint64_t tasks = number_in("SLURM_NTASKS_PER_NODE", TASKS_MAX);

	if (tasks == 0)
		tasks = number_in("SLURM_NTASKS", (uint64_t)NODES_MAX * TASKS_MAX) / nodes;
	return tasks > 0 && tasks <= TASKS_MAX ? (uint32_t)tasks : 1;
}

static int read_allocation(struct allocation *allocation, struct nt_error *err)
{
	allocation->job = (uint32_t)number_in("SLURM_JOB_ID", UINT32_MAX);
	if (allocation->job == 0)
		return nt_error_set(err, "not in a Slurm job: run it in an sbatch script or an "
					 "salloc shell");
	allocation->nodes = (uint32_t)number_in("SLURM_JOB_NUM_NODES", NODES_MAX);
	if (allocation->nodes == 0)
		return nt_error_set(err, "SLURM_JOB_NUM_NODES is not set");
	allocation->per_node = tasks_a_node(allocation->nodes);
	return 0;
}

/* ---- srun */

/* What it and the tasks say is for the user; its time limit ends it. */
static int srun(char *const argv[], struct nt_error *err)
{
	posix_spawn_file_actions_t actions;
	int failure, status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return nt_error_set(err, "out of memory");
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	fflush(stdout);
	failure = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failure)
		return nt_error_set(err, "cannot start %s: %s", argv[0], strerror(failure));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : nt_error_set(err, "its step failed");
}

/* ---- what is measured */

static int choose_profiles(struct calibrating *c, struct nt_error *err)
{
	char name[NT_PROFILE_NAME];

	for (const char *at = c->names; at && *at;) {
		const size_t length = strcspn(at, ",");

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!nt_profiles_want(&c->profiles, name, err))
			return -1;
		at += length + (at[length] == ',');
	}
	for (unsigned i = 0; c->names && i < c->profiles.count; i++) {
		struct nt_profile *profile = &c->profiles.profile[i];

		if (!nt_list_has(c->names, ',', profile->name, strlen(profile->name)))
			profile->disabled = true;
	}
	return 0;
}

static int put_sizes(const struct calibrating *c, struct nt_cal_request *request,
		     struct nt_error *err)
{
	uint64_t bytes[NT_CAL_CALLS];
	int count = c->sizes ? nt_sizes_parse(c->sizes, bytes, NT_CAL_CALLS) : 0;

	for (int i = 0; i < count; i++) {
		if (bytes[i] < NT_CAL_BYTES_LEAST || bytes[i] > NT_CAL_BYTES_MOST ||
		    bytes[i] % 4 != 0)
			count = -1;
		else
			request->call[request->calls++] = (struct nt_cal_call){ NT_ALLREDUCE,
										bytes[i], 0 };
	}
	if (count < 0)
		return nt_error_set(err,
				    "bad sizes '%.60s' (want 1 to %d, as in 64K,1M,16M, each a "
				    "multiple of 4 up to 1G)",
				    c->sizes, NT_CAL_CALLS);
	return 0;
}

/* srun adds the address of the step's first node. */
static int make_request(const struct calibrating *c, uint64_t ranks, char text[NT_CAL_REQUEST_MAX],
			struct nt_error *err)
{
	struct nt_cal_request request = { .seconds = (unsigned)c->time_s,
					  .procs = (unsigned)ranks,
					  .address = "srun" };

	if (put_sizes(c, &request, err) < 0 ||
	    nt_random_digits(request.token, NT_CAL_TOKEN, err) < 0)
		return -1;
	for (unsigned i = 0; i < c->profiles.count; i++) {
		const struct nt_profile *profile = &c->profiles.profile[i];
		struct nt_cal_profile *to = &request.profile[request.profiles];

		if (profile->disabled || request.profiles == NT_CAL_PROFILES ||
		    (!c->names && !nt_profile_fits(profile, nt_profiles_guess_fabric())))
			continue;
		request.profiles++;
		snprintf(to->name, sizeof(to->name), "%s", profile->name);
		to->settings = profile->settings;
	}
	return nt_cal_request_print(&request, text, NT_CAL_REQUEST_MAX, err);
}

/* ---- a step */

static void make_command(struct nt_argv *words, const struct calibrating *c, uint64_t ranks)
{
	char path[NT_PATH_MAX];

	nt_argv_add(words, "srun");
	nt_argv_add(words, "--nodes=%" PRIu32, c->allocation.nodes);
	nt_argv_add(words, "--ntasks=%" PRIu32, c->allocation.nodes);
	nt_argv_add(words, "--ntasks-per-node=1");
	nt_argv_add(words, "--mpi=pmix");
	nt_argv_add(words, "--kill-on-bad-exit=1");
	nt_argv_add(words, "--quit-on-interrupt");
	nt_argv_add(words, "--time=%d", (int)ceil((c->time_s + GRACE_S) / 60));
	nt_argv_add(words, "--job-name=nccl-tune-calibrate");
	/* Nothing is remembered unless the ranks of the nodes have compared their hardware: a mode
	 * in which they do, and a step that is long enough for that on busy nodes. */
	nt_argv_add(words, "--nccl-tune=bandit,min_calls=4,launch=auto");
	nt_argv_add(words, "%s", nt_path_beside("nccl-tune-bench", path));
	nt_argv_add(words, "--procs-per-task=%" PRIu64, ranks);
	nt_argv_add(words, "--sizes=64K,1M");
	nt_argv_add(words, "--seconds=5");
	nt_argv_add(words, "--last-seconds=1");
	nt_argv_add(words, "--no-gpu-times");
	nt_argv_add(words, "--stall=20");
	nt_argv_add(words, "--rendezvous=%s", c->directory);
}

static int run_step(const struct calibrating *c, uint64_t ranks, struct nt_error *err)
{
	char request[NT_CAL_REQUEST_MAX];
	struct nt_argv words = { .count = 0 };
	int rc = -1;

	if (make_request(c, ranks, request, err) < 0)
		return -1;
	make_command(&words, c, ranks);
	setenv(NT_ENV_CALIBRATE, request, 1);
	if (words.failed)
		nt_error_set(err, "out of memory");
	else
		rc = srun(words.word, err);
	unsetenv(NT_ENV_CALIBRATE);
	nt_argv_fini(&words);
	return rc;
}

/* ---- the result */

static const struct nt_memory_entry *newest_default(const struct nt_memory *memory, uint32_t job,
						    int64_t since_us)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (entry->origin == NT_ORIGIN_CALIBRATE && entry->job == job &&
		    entry->added_us >= since_us &&
		    strcmp(entry->profile, NT_PROFILE_DEFAULT) == 0 &&
		    nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest;
}

static const struct nt_known_key *find_key(const struct nt_memory_entry *entry,
					   const struct nt_known_key *like)
{
	for (size_t i = 0; i < entry->keys; i++)
		if (entry->key[i].coll == like->coll && entry->key[i].bytes == like->bytes)
			return &entry->key[i];
	return NULL;
}

static bool is_measured_with(const struct nt_memory_entry *entry,
			     const struct nt_memory_entry *base)
{
	return entry != base && entry->origin == NT_ORIGIN_CALIBRATE &&
	       entry->added_us == base->added_us;
}

/* A row for each size: the default's time, and how many times as fast each profile is. */
static void print_table(const struct nt_memory *memory, const struct nt_memory_entry *base)
{
	char size[NT_SIZE_TEXT];

	printf("%-24s %12s", "", "default, us");
	for (size_t i = 0; i < memory->entries; i++)
		if (is_measured_with(&memory->entry[i], base))
			printf("  %s", memory->entry[i].profile);
	putchar('\n');
	for (size_t k = 0; k < base->keys; k++) {
		const struct nt_known_key *key = &base->key[k];

		printf("%-12s %11s %12.1f", nt_coll_name(key->coll),
		       nt_size_text(key->bytes, size, sizeof(size)), nt_key_times(key)->median_us);
		for (size_t i = 0; i < memory->entries; i++) {
			const struct nt_memory_entry *entry = &memory->entry[i];
			const int width = (int)strlen(entry->profile);
			const struct nt_known_key *other;

			if (!is_measured_with(entry, base))
				continue;
			other = find_key(entry, key);
			if (entry->wrong)
				printf("  %*s", width, "wrong");
			else if (other)
				printf("  %*.2f", width,
				       nt_key_times(key)->median_us /
					       nt_key_times(other)->median_us);
			else
				printf("  %*s", width, "-");
		}
		putchar('\n');
	}
}

/* What a step whose calls are unknown would get there now. */
static int print_choice(struct calibrating *c, int64_t since_us, struct nt_error *err)
{
	const struct nt_memory_entry *base;
	struct nt_launch_case launch = { .memory = { &c->memory, &c->site },
					 .profiles = &c->profiles };
	char text[256];

	nt_memory_fini(&c->memory);
	if (nt_store_read(c->directory, &c->memory, (int64_t)time(NULL), err) < 0)
		return -1;
	base = newest_default(&c->memory, c->allocation.job, since_us);
	if (!base)
		return nt_error_set(err,
				    "nothing of it was remembered in %.100s; nccl-tune report "
				    "%" PRIu32 " has the reason",
				    c->directory, c->allocation.job);
	printf("%" PRIu32 " node%s of %" PRIu32 " rank%s, %s, NCCL " NT_NCCL_TEXT "\n",
	       base->where.nodes, nt_plural(base->where.nodes), base->where.per_node,
	       nt_plural(base->where.per_node),
	       base->where.fabric == NT_FABRIC_ANY ? "network unknown"
						   : nt_fabric_name((int)base->where.fabric),
	       NT_NCCL_PARTS(base->where.nccl));
	print_table(&c->memory, base);
	launch.where = base->where;
	nt_profile_select(&launch, &c->choice);
	printf("%s, for a program whose calls are unknown\n\n",
	       nt_choice_text(&c->choice, &launch, text, sizeof(text)));
	return 0;
}

/* ---- all of it */

static int take_shapes(struct calibrating *c, struct nt_error *err)
{
	const char *list = c->ranks ? c->ranks : "";
	char number[16];

	if (!list[0]) {
		c->shapes = 1;
		c->shape[0] = c->allocation.per_node;
	}
	for (const char *at = list; *at;) {
		const size_t length = strcspn(at, ",");

		snprintf(number, sizeof(number), "%.*s", (int)length, at);
		if (c->shapes == SHAPES ||
		    nt_number_parse(number, 1, NT_CAL_PROCS, &c->shape[c->shapes]) < 0)
			return nt_error_set(err,
					    "bad list of ranks '%.60s' (want 1 to %d numbers "
					    "from 1 to %d, as in 1,2,4,8)",
					    list, SHAPES, NT_CAL_PROCS);
		c->shapes++;
		at += length + (at[length] == ',');
	}
	for (unsigned i = 0; i < c->shapes; i++)
		if (c->allocation.nodes * c->shape[i] < 2)
			return nt_error_set(err, "one rank: two or more are needed "
						 "(--ranks-per-node)");
	return 0;
}

static int prepare(struct calibrating *c, struct nt_error *err)
{
	const int64_t now_s = (int64_t)time(NULL);

	if (read_allocation(&c->allocation, err) < 0 || take_shapes(c, err) < 0 ||
	    nt_launch_paths_profiles(&c->paths, &c->profiles, err) < 0 ||
	    choose_profiles(c, err) < 0 ||
	    nt_launch_paths_memory(&c->paths, c->directory, err) < 0 ||
	    nt_launch_paths_read_site(&c->paths, &c->site, now_s, err) < 0 ||
	    nt_directories_make(c->directory, err) < 0)
		return -1;
	if (c->time_s <= 0)
		c->time_s = (double)nt_calibrate_auto_s(c->allocation.nodes);
	/* The steps store where this command looks. */
	setenv("NCCL_TUNE_MEMORY", c->directory, 1);
	return 0;
}

static int run(void *argument, char *argv[])
{
	struct calibrating *c = argument;
	struct nt_error err = { "no memory" };
	int status = NT_EXIT_OK;

	(void)argv;
	if (prepare(c, &err) < 0)
		return nt_command_fail(&err);
	for (unsigned i = 0; i < c->shapes; i++) {
		const int64_t since_us = nt_store_now_us();

		if (run_step(c, c->shape[i], &err) == 0 && print_choice(c, since_us, &err) == 0)
			continue;
		nt_command_complain("%" PRIu64 " rank%s on each node: %s", c->shape[i],
				    nt_plural(c->shape[i]), err.text);
		status = NT_EXIT_FAILED;
	}
	nt_memory_fini(&c->memory);
	nt_memory_fini(&c->site);
	return status;
}

/* 30, 30s, 2m, 1h */
static int take_time(void *argument, const char *text)
{
	struct calibrating *c = argument;
	uint64_t value, unit = 1;
	const char *end = nt_number_read(text, TIME_MOST_S, &value);

	if (end && *end == 'm')
		unit = 60;
	else if (end && *end == 'h')
		unit = 3600;
	if (!end || (*end != '\0' && end[1] != '\0') ||
	    (*end != '\0' && *end != 's' && unit == 1) || value * unit < TIME_LEAST_S ||
	    value * unit > TIME_MOST_S)
		return nt_command_misuse("--time: bad time '%.20s' (want %u to %u seconds, as in "
					 "30, 30s or 2m)",
					 text, TIME_LEAST_S, TIME_MOST_S);
	c->time_s = (double)(value * unit);
	return 0;
}

static const struct nt_option options[] = {
	{ "time", 't',
	  "Time limit for each number of ranks, as in 30s or 2m (default: 60s for two nodes, a "
	  "quarter more each time they double)",
	  NT_TAKE(take_time, "TIME") },
	{ "ranks-per-node", 'r',
	  "Measure with so many ranks on each node, one after the other, as in 1,2,4,8 (default: "
	  "the job's tasks on each node)",
	  NT_TEXT(struct calibrating, ranks, "LIST") },
	{ "sizes", 's', "Measure AllReduce of these sizes, as in 64K,1M,16M",
	  NT_TEXT(struct calibrating, sizes, "LIST") },
	{ "profiles", 'p', "Only these profiles", NT_TEXT(struct calibrating, names, "LIST") },
	{ "profile-file", 0, "Use the profiles in FILE instead of the installed ones",
	  NT_TEXT(struct calibrating, paths.profiles, "FILE") },
	{ "memory", 0,
	  "The memory of launch profiles (default: $NCCL_TUNE_MEMORY, or nccl-tune/memory in "
	  "$XDG_STATE_HOME or ~/.local/state)",
	  NT_TEXT(struct calibrating, paths.memory, "DIRECTORY") },
	{ 0 },
};

const struct nt_command nt_command_calibrate = {
	.name = "calibrate",
	.summary = "measure launch profiles on this job's nodes",
	.options = options,
	.doc = "In a job: measure NCCL's default settings and each launch profile for the network, "
	       "in turn, and remember the results. Print the speed of each at each size and the "
	       "profile that a step whose calls are unknown gets. An administrator does this once "
	       "for a partition, with --ranks-per-node 1,2,4,8, and exports the memory as the "
	       "site's (nccl-tune memory export); a user's programs are measured by their own "
	       "steps with launch=auto."
	       "\vExit status: 0 if all was measured, 1 if something failed (see stderr), 2 for a "
	       "usage error.",
	.request_bytes = sizeof(struct calibrating),
	.run = run,
};

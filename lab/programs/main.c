/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nt-programs: what the plugin makes of training programs, in virtual time */
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lab/programs/plugin.h"
#include "lab/programs/report.h"
#include "lab/programs/said.h"

#define LOOK_STEPS 24 /* from which the length of a step is known */
#define LOOK_FROM 11 /* before it connections are made */
#define MAX_STEPS 1000000.0

struct options {
	bool json, keep, list, alone;
	unsigned ranks;
	uint64_t seed, seeds;
	double seconds;
	const char *policy, *plugin;
	char directory[PATH_MAX]; /* of shipped programs */
	char library[PATH_MAX];
};

/* clang-format off */
static const char *const help_lines[] = {
	"usage: nt-programs [OPTION]... [PROGRAM]...",
	"",
	"Runs training programs with the real plugin on a simulated NCCL, in virtual time: hours of a program",
	"take seconds, and the result is the same on any machine. The plugin's clock, sleeps and threads use",
	"that time. The ranks of a node are one process with one copy of the plugin. PMIx is simulated. The",
	"plugin's own cost on the host is not included (see docs/costs.md).",
	"",
	"PROGRAM is the name of a shipped program or a file (docs/programs.md); default: all shipped ones. Each",
	"is run four times with the same random numbers: on AUTO, with the plugin, with the plugin's choices",
	"but without exploring, and with the best choices.",
	"",
	"  --json          print one line of JSON for each program and seed",
	"  --seed N        seed of everything random: the fastest choices, noise, lateness (default: 1)",
	"  --seeds N       run N seeds, one after the other, and print the spread (default: 1)",
	"  --policy TEXT   the plugin's settings, in the form of --nccl-tune (default: bandit)",
	"  --seconds S     program time, instead of the file's",
	"  --ranks N       number of ranks, instead of the file's; groups of `rest` ranks change their size",
	"  --plugin FILE   libnccl-tune.so (default: NCCL_TUNER_PLUGIN, or that of the build)",
	"  --process-per-rank   run each rank in its own process, with its own copy of the plugin",
	"  --keep          do not remove the plugin's directories, and print their names",
	"  --list          print the names of the shipped programs, with a description",
	"  --help",
	"",
	"For each communicator name, collective and size it prints",
	"  share           share of the time of all calls, on AUTO",
	"  groups          communicators with that name; decided: in how many of them the key is decided",
	"  calls, seconds  until the decision, in program time: median and last group",
	"  tried           calls with another arm than NCCL's, before the decision",
	"  spent, saved    milliseconds of the calls compared with AUTO, before and after the decision",
	"  why             the plugin's reason for the first communicator that kept AUTO",
	"  arm, best       the final choice, and the fastest one; gain: over AUTO; regret: against the best",
	"and for the program",
	"  auto, tuned, best   seconds of each run",
	"  cost            cost of exploring, in percent of program time: in the first five minutes, after them,",
	"                  and in the worst minute of the first five",
	"  after           program time compared with AUTO once exploring has ended, in percent",
	"  waited          seconds that a rank waited in the plugin for the outcome of a proposal",
	"  wrong           choices slower than AUTO by more than 2 percent",
	"",
	"Exit status: 0; 1: failure; 2: usage error; 65, 69: the plugin violated NCCL's contract; 70: two ranks",
	"of a communicator chose differently.",
};
/* clang-format on */

static int usage(const char *what)
{
	fprintf(stderr, "nt-programs: %s (see --help)\n", what);
	return NT_EXIT_USAGE;
}

static void *share_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	return memory;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void forget_environment(void)
{
	extern char **environ;
	static const char *const prefixes[] = { "SLURM", "NCCL", "PMI" };

	for (char **e = environ; *e;) {
		bool gone = false;

		for (unsigned i = 0; i < 3 && !gone; i++) {
			char name[256];

			if (strncmp(*e, prefixes[i], strlen(prefixes[i])) != 0 ||
			    strncmp(*e, "NCCL_DEBUG", 10) == 0)
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
			gone = unsetenv(name) == 0;
		}
		e = gone ? environ : e + 1;
	}
}

/* In a process of its own, which ends: the plugin writes its last words then. */
static _Noreturn void with_plugin(struct nt_world *w, const struct options *o, uint64_t steps,
				  struct nt_run_log *log, const char *dir)
{
	forget_environment();
	nt_plugin_open(w, o->library, dir, o->policy);
	nt_world_run(w, NT_CHOOSE_PLUGIN, steps, log, &nt_plugin_calls);
	nt_plugin_close(w);
	exit(NT_EXIT_OK);
}

static void run_plugin(struct nt_world *w, const struct options *o, uint64_t steps,
		       struct nt_run_log *log)
{
	const char *tmp = getenv("TMPDIR");
	char dir[PATH_MAX];
	int status;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/nt-programs.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		nt_world_leave(NT_EXIT_TROUBLE, "cannot make %s: %m", dir);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		with_plugin(w, o, steps, log, dir);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		nt_world_leave(NT_EXIT_TROUBLE, "cannot run a process: %m");
	nt_said_read(w, log, dir);
	if (o->keep)
		fprintf(stderr, "nt-programs: the plugin's directories are in %s\n", dir);
	else
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (status != 0)
		nt_world_leave(WIFEXITED(status) ? WEXITSTATUS(status) : NT_EXIT_TROUBLE,
			       "%s, seed %llu: the run with the plugin failed", w->p->name,
			       (unsigned long long)w->seed);
}

static struct nt_run_log new_log(const struct nt_program *p, uint64_t steps, struct nt_key_log *key)
{
	uint64_t *times = share_memory((steps + p->ranks) * sizeof(times[0]));

	return (struct nt_run_log){ .end_ns = times, .waited_ns = times + steps, .key = key };
}

/* Of a program that goes by time. */
static uint64_t count_steps(struct nt_world *w, const struct options *o)
{
	double seconds = o->seconds > 0 ? o->seconds : w->p->seconds, steps;
	struct nt_run_log log = new_log(w->p, LOOK_STEPS, NULL);

	if (w->p->steps && o->seconds <= 0)
		return w->p->steps;
	nt_world_run(w, NT_CHOOSE_AUTO, LOOK_STEPS, &log, NULL);
	steps = seconds * 1e9 * (LOOK_STEPS - 1 - LOOK_FROM) /
		(double)(log.end_ns[LOOK_STEPS - 1] - log.end_ns[LOOK_FROM] + 1);
	munmap(log.end_ns, (LOOK_STEPS + w->p->ranks) * sizeof(uint64_t));
	return steps < 2 ? 2 : steps > MAX_STEPS ? (uint64_t)MAX_STEPS : (uint64_t)steps;
}

static void run_program(const struct nt_program *p, const struct options *o, uint64_t seed,
			struct nt_sample_quantiles *out)
{
	struct nt_world w;
	struct nt_sacct_runs runs;
	struct nt_key_log *key;
	size_t key_bytes;

	nt_world_open(&w, p, seed);
	if (o->alone)
		w.process_ranks = 1;
	key_bytes = (size_t)w.insts * p->keys * sizeof(*key);
	key = share_memory(key_bytes);
	runs.steps = count_steps(&w, o);
	runs.automatic = new_log(p, runs.steps, key);
	runs.plugin = new_log(p, runs.steps, key);
	runs.chosen = new_log(p, runs.steps, key);
	runs.best = new_log(p, runs.steps, key);
	run_plugin(&w, o, runs.steps, &runs.plugin);
	nt_world_run(&w, NT_CHOOSE_AUTO, runs.steps, &runs.automatic, NULL);
	nt_world_run(&w, NT_CHOOSE_LOG, runs.steps, &runs.chosen, NULL);
	nt_world_run(&w, NT_CHOOSE_BEST, runs.steps, &runs.best, NULL);
	nt_report(&w, &runs, o->json, out);
	nt_world_close(&w);
}

/* Each seed in a process of its own, so that what one leaves behind is gone. */
static int run_seeds(const struct options *o, const struct nt_program *p)
{
	struct nt_sample_quantiles *quantiles = share_memory(o->seeds * sizeof(*quantiles));

	for (uint64_t i = 0; i < o->seeds; i++) {
		int status;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			run_program(p, o, o->seed + i, &quantiles[i]);
			fflush(NULL);
			_exit(NT_EXIT_OK);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
			return NT_EXIT_TROUBLE;
		if (WEXITSTATUS(status) != NT_EXIT_OK)
			return WEXITSTATUS(status);
	}
	if (o->seeds > 1)
		nt_report_spread(p->name, quantiles, o->seeds, o->json);
	munmap(quantiles, o->seeds * sizeof(*quantiles));
	return NT_EXIT_OK;
}

static int run_named(const struct options *o, const char *name)
{
	struct nt_program *p = calloc(1, sizeof(*p));
	char path[PATH_MAX];
	struct nt_error err;
	int rc;

	if (!p)
		return NT_EXIT_TROUBLE;
	if (strchr(name, '/') || strchr(name, '.'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%.3000s/%.200s.program", o->directory, name);
	if (nt_program_load(p, path, o->ranks, &err) < 0) {
		fprintf(stderr, "nt-programs: %s\n", err.text);
		rc = NT_EXIT_USAGE;
	} else {
		rc = o->list ? printf("%-18s %s\n", p->name, p->about) < 0 : run_seeds(o, p);
		nt_program_fini(p);
	}
	free(p);
	return rc;
}

/* The build's, beside the program; or the environment's. */
static void find_files(struct options *o)
{
	const char *given = o->plugin ? o->plugin : getenv("NCCL_TUNER_PLUGIN");
	char self[PATH_MAX / 2], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(o->directory, sizeof(o->directory), "%s/../../../lab/programs", self);
	if (access(o->directory, R_OK) < 0)
		snprintf(o->directory, sizeof(o->directory), "%s/programs", self);
	if (given)
		snprintf(o->library, sizeof(o->library), "%s", given);
	else
		snprintf(o->library, sizeof(o->library), "%s/../../libnccl-tune.so", self);
}

static int number_of(const char *text, double low, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end == text || *end || !(*value >= low) || *value > 1e15 ? -1 : 0;
}

static void print_help(void)
{
	for (unsigned i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++)
		puts(help_lines[i]);
}

static int apply(struct options *o, int c, double value)
{
	switch (c) {
	case 'j': o->json = true; break;
	case 's': o->seed = (uint64_t)value; break;
	case 'n': o->seeds = (uint64_t)value; break;
	case 't': o->seconds = value; break;
	case 'r': o->ranks = (unsigned)value; break;
	case 'p': o->policy = optarg; break;
	case 'l': o->plugin = optarg; break;
	case 'k': o->keep = true; break;
	case 'a': o->alone = true; break;
	case 'L': o->list = true; break;
	default: return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'n' },
		{ "policy", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 't' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "plugin", required_argument, NULL, 'l' },
		{ "keep", no_argument, NULL, 'k' },
		{ "process-per-rank", no_argument, NULL, 'a' },
		{ "list", no_argument, NULL, 'L' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .seed = 1, .seeds = 1, .policy = "bandit" };
	int c, rc = NT_EXIT_OK;
	double value = 0;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == 'h') {
			print_help();
			return NT_EXIT_OK;
		}
		if (strchr("sntr", c) && number_of(optarg, c == 's' ? 0 : 1, &value) < 0)
			return usage("want a number, 1 at least");
		if (apply(&o, c, value) < 0)
			return NT_EXIT_USAGE;
	}
	find_files(&o);
	for (unsigned i = 0; optind == argc && nt_shipped_programs[i] && rc == NT_EXIT_OK; i++)
		rc = run_named(&o, nt_shipped_programs[i]);
	for (int i = optind; i < argc && rc == NT_EXIT_OK; i++)
		rc = run_named(&o, argv[i]);
	return rc;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate-run.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "profiles/select.h"
#include "profiles/memory-dir.h"
#include "profiles/memory-store.h"
#include "lib/append.h"
#include "lib/printable.h"
#include "report/model/places.h"
#include "cli/meeting.h"
#include "cli/run-step.h"

#define START_S 5 /* assumed time of srun and NCCL before their calls */
#define GRACE_S 1 /* beyond the time limit, for a step that has begun */
#define SEEN_MS 10000 /* to wait for an entry: homes may be on slow file systems */
#define LONGER_S 3 /* of calls, if a size was not measured in time */

/* Short rounds: a calibration compares profiles, and later steps search arms again. */
#define POLICY "bandit,channels=on,screen_blocks=4,confirm_blocks=12,min_calls=4,min_share=0"

/* ---- progress */

struct progress {
	const struct nt_calrun *run;
	const char *name;
	double began_s; /* of the calibration's time */
	bool terminal;
};

static double left_s(const struct nt_calrun *run, double elapsed_s)
{
	return run->time_s > elapsed_s ? run->time_s - elapsed_s : 0;
}

static void redraw(void *argument, double elapsed_s)
{
	const struct progress *progress = argument;

	if (!progress->terminal)
		return;
	fprintf(stderr, "\r\033[Kcalibrate: %s, %.0f s; at most %.0f s left", progress->name,
		elapsed_s, left_s(progress->run, progress->began_s + elapsed_s));
	fflush(stderr);
}

static void tell(const struct nt_calrun *run, unsigned which, const struct nt_stepresult *result,
		 double elapsed_s)
{
	const struct nt_contender *contender = &run->calibration.contender[which];

	if (run->quiet)
		return;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fprintf(stderr, "calibrate: %s: %.1f s", contender->name, result->took_s);
	if (contender->state >= NT_CONTENDER_FAILED)
		fprintf(stderr, ", failed: %s", run->failure[which]);
	else if (which > 0 && contender->cost.known)
		fprintf(stderr, ", %.2f x%s", 1 / contender->cost.ratio,
			contender->state == NT_CONTENDER_BEATEN ? ", given up" : "");
	fprintf(stderr, "; at most %.0f s left\n", left_s(run, elapsed_s));
}

/* ---- a step's command */

static void add_bench(struct nt_argv *words, const struct nt_calrun *run, unsigned calls_s,
		      const char *meeting)
{
	char path[NT_PATH_MAX], text[NT_TRIAL_CALLS_TEXT];

	nt_argv_add(words, "%s", nt_places_beside("nccl-tune-bench", path));
	nt_argv_add(words, "--coll=%s", nt_trial_calls_colls_text(&run->calls, text, sizeof(text)));
	nt_argv_add(words, "--sizes=%s",
		    nt_trial_calls_sizes_text(&run->calls, text, sizeof(text)));
	if (run->calls.split[0])
		nt_argv_add(words, "--split=%s", run->calls.split);
	nt_argv_add(words,
		    "--even=16M"); /* a call of any size is soon measured, small ones also tuned */
	nt_argv_add(words, "--seconds=%u", calls_s);
	nt_argv_add(words, "--last-seconds=1");
	nt_argv_add(words, "--iters=20000");
	nt_argv_add(words, "--warmup=1");
	nt_argv_add(words, "--no-gpu-times");
	nt_argv_add(words, "--check=light");
	nt_argv_add(words, "--stall=20");
	nt_argv_add(words, "--rendezvous=%s", meeting);
}

void nt_calrun_srun(struct nt_argv *words, const struct nt_calrun *run, const char *name,
		    double limit_s)
{
	const struct nt_allocation *job = &run->allocation;

	nt_argv_add(words, "srun");
	nt_argv_add(words, "--nodes=%" PRIu32, job->nodes);
	nt_argv_add(words, "--ntasks=%" PRIu32, job->nodes * job->per_node);
	nt_argv_add(words, "--ntasks-per-node=%" PRIu32, job->per_node);
	nt_argv_add(words, "--mpi=%s", run->mpi);
	nt_argv_add(words, "--kill-on-bad-exit=1");
	nt_argv_add(words, "--job-name=%s", name);
	nt_argv_add(words, "--time=%u", (unsigned)(limit_s / 60) + 2);
	if (run->nodelist)
		nt_argv_add(words, "--nodelist=%s", run->nodelist);
	if (run->overlap)
		nt_argv_add(words, "--overlap");
}

static void make_command(struct nt_argv *words, const struct nt_calrun *run, const char *profile,
			 double limit_s, unsigned calls_s, const char *meeting)
{
	const char *cpus = getenv("SLURM_CPUS_PER_TASK");

	nt_calrun_srun(words, run, "nccl-tune-calibrate", limit_s);
	if (cpus)
		nt_argv_add(words, "--cpus-per-task=%s", cpus);
	nt_argv_add(words, "--nccl-tune=" POLICY ",launch=%s", profile);
	if (!run->program) {
		add_bench(words, run, calls_s, meeting);
		return;
	}
	for (unsigned i = 0; run->program[i]; i++)
		nt_argv_add(words, "%s", run->program[i]);
}

/* ---- entries of a run */

static bool has_id(const struct nt_memory *memory, const char *id)
{
	for (size_t i = 0; i < memory->entries; i++)
		if (strcmp(memory->entry[i].id, id) == 0)
			return true;
	return false;
}

static unsigned entries_of(const struct nt_memory *memory, const char *profile, bool wrong)
{
	unsigned count = 0;

	for (size_t i = 0; i < memory->entries; i++)
		count += strcmp(memory->entry[i].profile, profile) == 0 &&
			 memory->entry[i].wrong == wrong;
	return count;
}

/* Entries that this calibration has added. */
static int read_found(struct nt_calrun *run, struct nt_error *err)
{
	struct nt_memory now;
	int rc;

	nt_memory_init(&now);
	nt_memory_fini(&run->found);
	rc = nt_store_read(run->directory, &now, (int64_t)time(NULL), err);
	for (size_t i = 0; rc == 0 && i < now.entries; i++) {
		const struct nt_memory_entry *entry = &now.entry[i];

		if (entry->origin == NT_ORIGIN_CALIBRATE && entry->job == run->allocation.job &&
		    !has_id(&run->before, entry->id))
			rc = nt_memory_add_copy(&run->found, entry, err);
	}
	nt_memory_fini(&now);
	return rc;
}

/* 1: there is a new entry; 0: none came in time. */
static int await_entry(struct nt_calrun *run, const char *profile, bool wrong, struct nt_error *err)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	unsigned had = entries_of(&run->found, profile, wrong);
	int64_t until_ms = nt_clock_ms() + SEEN_MS;

	for (;;) {
		if (read_found(run, err) < 0)
			return -1;
		if (entries_of(&run->found, profile, wrong) > had)
			return 1;
		if (nt_clock_ms() >= until_ms)
			return 0;
		nanosleep(&pause, NULL);
	}
}

const struct nt_where *nt_calrun_where(const struct nt_calrun *run)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < run->found.entries; i++) {
		const struct nt_memory_entry *entry = &run->found.entry[i];

		if (strcmp(entry->profile, NT_PROFILE_DEFAULT) == 0 &&
		    (!newest || entry->when_s >= newest->when_s))
			newest = entry;
	}
	return newest ? &newest->where : NULL;
}

static int weigh_all(struct nt_calrun *run, double elapsed_s, struct nt_error *err)
{
	const struct nt_where *where = nt_calrun_where(run);

	if (where && nt_calibration_weigh(&run->calibration, &run->found, where, run->mix,
					  (int64_t)time(NULL)) < 0)
		return nt_error_set(err, "no memory");
	nt_calibration_judge(&run->calibration, elapsed_s);
	return 0;
}

/* Replaces the entries of each profile's turns by one. */
static void remember_turns(const struct nt_calrun *run)
{
	struct nt_memory pooled;

	nt_memory_init(&pooled);
	if (nt_calibration_pool(&run->calibration, &run->found, &pooled, NULL) == 0 &&
	    pooled.entries > 0)
		(void)nt_store_add(run->directory, &pooled, (int64_t)time(NULL), NULL);
	nt_memory_fini(&pooled);
}

/* ---- runs */

/* srun returns the highest status, perhaps that of a task that it killed because of another's. */
static bool is_wrong(const struct nt_stepresult *result)
{
	return result->end == NT_STEP_FAILED &&
	       (result->status == NT_CALRUN_WRONG || strstr(result->complaint, NT_STEP_WRONG));
}

/* The step's nt-recordd remembers wrong results if it learns of them; otherwise this does. */
static int remember_wrong(struct nt_calrun *run, const char *profile, struct nt_error *err)
{
	const struct nt_where *where = nt_calrun_where(run);
	int64_t now_us = nt_store_now_us();
	struct nt_memory_entry entry;
	struct nt_memory memory;
	int rc = await_entry(run, profile, true, err);

	if (rc != 0 || !where)
		return rc < 0 ? -1 : 0;
	nt_memory_init(&memory);
	nt_entry_init(&entry);
	entry.where = *where;
	entry.origin = NT_ORIGIN_CALIBRATE;
	entry.wrong = true;
	entry.job = run->allocation.job;
	entry.when_s = now_us / 1000000;
	entry.added_us = now_us;
	snprintf(entry.profile, sizeof(entry.profile), "%s", profile);
	rc = nt_entry_name(&entry, err);
	if (rc == 0)
		rc = nt_memory_add_take(&memory, &entry, err);
	if (rc == 0)
		rc = nt_store_add(run->directory, &memory, now_us / 1000000, err);
	nt_memory_fini(&memory);
	return rc;
}

static void note_failure(struct nt_calrun *run, unsigned which, const struct nt_stepresult *result)
{
	char *out = run->failure[which];
	size_t room = sizeof(run->failure[which]);

	if (result->end == NT_STEP_LATE)
		snprintf(out, room, "it exceeded its share of the time");
	else if (result->end == NT_STEP_STOPPED)
		snprintf(out, room, "interrupted");
	else if (is_wrong(result))
		snprintf(out, room, "wrong results; it is not used on this hardware again%s%.100s",
			 result->complaint[0] ? ": " : "", result->complaint);
	else if (result->end == NT_STEP_WELL)
		snprintf(out, room, "nothing of it was remembered in %.120s", run->directory);
	else
		snprintf(out, room, "exit status %d%s%.160s", result->status,
			 result->complaint[0] ? ": " : "", result->complaint);
	nt_printable(out);
}

/* The time limit of a profile's step: three times what others took, at least ten seconds more than
 * that because a node may be busy for a moment, and at most the time that is left. */
static double limit_of(const struct nt_calrun *run, unsigned which, double elapsed_s)
{
	double rest_s = run->time_s - elapsed_s + GRACE_S;
	double others_s = nt_calibration_estimate_s(&run->calibration, which);

	if (run->calibration.contender[0].runs == 0)
		return rest_s;
	return fmin(rest_s, others_s + fmax(2 * others_s + 2, 10));
}

struct going {
	int64_t start_ms;
	unsigned calls_s;
	char meeting[NT_PATH_MAX];
};

static double elapsed_s(const struct going *going)
{
	return (double)(nt_clock_ms() - going->start_ms) / 1000;
}

static enum nt_contender_state state_of(const struct nt_stepresult *result, bool seen)
{
	if (is_wrong(result))
		return NT_CONTENDER_WRONG;
	return seen ? NT_CONTENDER_OPEN : NT_CONTENDER_FAILED;
}

static int run_one(struct nt_calrun *run, struct going *going, unsigned which, struct nt_error *err)
{
	const char *name = run->calibration.contender[which].name;
	struct progress progress = { run, name, elapsed_s(going),
				     !run->quiet && isatty(STDERR_FILENO) };
	double limit_s = limit_of(run, which, progress.began_s);
	struct nt_argv words = { .count = 0 };
	struct nt_stepresult result;
	int rc = -1, seen = 0;

	make_command(&words, run, name, limit_s, going->calls_s, going->meeting);
	if (words.failed)
		nt_error_set(err, "too many arguments of the program, or no memory");
	else
		rc = nt_steprun(&(struct nt_steprun){ .argv = words.word,
						      .limit_s = limit_s,
						      .stop = run->stop,
						      .tick = redraw,
						      .argument = &progress },
				&result, err);
	nt_argv_fini(&words);
	if (rc < 0)
		return -1;
	if (result.end == NT_STEP_WELL)
		seen = await_entry(run, name, false, err);
	else if (is_wrong(&result))
		seen = remember_wrong(run, name, err);
	if (seen < 0)
		return -1;
	if (!seen || is_wrong(&result))
		note_failure(run, which, &result);
	run->silent = run->silent || (!seen && result.end == NT_STEP_WELL);
	if (result.end != NT_STEP_STOPPED)
		nt_calibration_note(&run->calibration, which, state_of(&result, seen > 0),
				    result.took_s);
	rc = weigh_all(run, elapsed_s(going), err);
	tell(run, which, &result, elapsed_s(going));
	return rc;
}

/* Is there an active port of InfiniBand or RoCE that NCCL may use? */
static bool has_active_port(void)
{
	const char *off = getenv("NCCL_IB_DISABLE"), *net = getenv("NCCL_NET");
	bool found = false;
	glob_t ports;

	if ((off && strcmp(off, "0") != 0) || (net && strcmp(net, "Socket") == 0))
		return false;
	if (glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &ports) != 0)
		return false;
	for (size_t i = 0; i < ports.gl_pathc; i++) {
		char line[32] = "";
		FILE *state = fopen(ports.gl_pathv[i], "re");

		if (state && fgets(line, sizeof(line), state))
			found = found || strstr(line, "ACTIVE") != NULL;
		if (state)
			fclose(state);
	}
	globfree(&ports);
	return found;
}

/* The network that the default's run has used; before that, a guess from this machine. */
static enum nt_fabric fabric_of(const struct nt_calrun *run)
{
	const struct nt_where *where = nt_calrun_where(run);

	if (where)
		return where->fabric;
	return has_active_port() ? NT_FABRIC_IB : NT_FABRIC_SOCKET;
}

static unsigned count_candidates(const struct nt_calrun *run)
{
	enum nt_fabric fabric = fabric_of(run);
	unsigned count = 0;

	for (unsigned i = 0; i < run->profiles->count; i++)
		count += nt_profile_fits(&run->profiles->profile[i], fabric);
	return count < NT_CALIBRATION_MAX - 1 ? count : NT_CALIBRATION_MAX - 1;
}

/* "; NAME: reason" */
static void leave_out(struct nt_calrun *run, const struct nt_candidate *candidate, const char *why)
{
	nt_append(run->left_out, sizeof(run->left_out), "%s%s: %s", run->left_out[0] ? "; " : "",
		  candidate->profile->name, why);
}

/* Why no time is spent on it; NULL: it is tried. */
static const char *reason_against(const struct nt_calrun *run, const struct nt_candidate *candidate)
{
	if (candidate->why == NT_WHY_WRONG_RESULTS ||
	    (candidate->why == NT_WHY_LOST_NEARBY && !run->named))
		return nt_why_text((int)candidate->why);
	if (!run->named && !nt_trial_calls_send(&run->calls) &&
	    nt_settings_are_for_sends(&candidate->profile->settings))
		return "only for sends and receives, which these programs do not make";
	return NULL;
}

/* The lowest expected ratio first; unknown ones in the order of the files. */
static void add_in_order(struct nt_calrun *run, const struct nt_launch_choice *choice)
{
	bool added[NT_PROFILES_MAX] = { false };

	for (unsigned n = 0; n < choice->count; n++) {
		const struct nt_candidate *first = NULL;
		const char *against;

		for (unsigned i = 0; i < choice->count; i++)
			if (!added[i] && (!first || choice->candidate[i].nearby < first->nearby))
				first = &choice->candidate[i];
		if (!first)
			return;
		added[first - choice->candidate] = true;
		against = reason_against(run, first);
		if (against)
			leave_out(run, first, against);
		else
			nt_calibration_add(&run->calibration, first->profile->name);
	}
}

/* Adds the profiles that fit, ordered by what was measured with other software and shapes. */
static int add_candidates(struct nt_calrun *run, struct nt_error *err)
{
	struct nt_launch_choice *choice = calloc(1, sizeof(*choice));
	const struct nt_where *where = nt_calrun_where(run);
	struct nt_launch_case launch = {
		.memory = { NULL, &run->before, run->site },
		.profiles = run->profiles,
		.mix = run->mix,
		.now_s = (int64_t)time(NULL),
	};
	int rc = -1;

	if (!choice)
		return nt_error_set(err, "no memory");
	if (where)
		launch.where = *where;
	launch.where.fabric = fabric_of(run);
	if (nt_select(&launch, choice) == 0) {
		add_in_order(run, choice);
		rc = 0;
	}
	free(choice);
	return rc < 0 ? nt_error_set(err, "no memory") : 0;
}

/* Has the default's run measured every collective and size that was asked for? */
static bool is_measured(const struct nt_calrun *run, int coll, uint64_t bytes)
{
	for (size_t i = 0; i < run->found.entries; i++) {
		const struct nt_memory_entry *entry = &run->found.entry[i];

		for (unsigned j = 0; j < entry->keys; j++)
			if (entry->key[j].coll == coll &&
			    nt_band(entry->key[j].bytes) == nt_band(bytes) &&
			    entry->key[j].untuned.samples + entry->key[j].best.samples > 0)
				return true;
	}
	return false;
}

static bool all_measured(const struct nt_calrun *run)
{
	for (unsigned i = 0; i < run->calls.colls; i++)
		for (unsigned j = 0; j < run->calls.sizes; j++)
			if (!is_measured(run, run->calls.coll[i], run->calls.bytes[j]))
				return false;
	return true;
}

/* On a slow network the largest sizes may take longer than a run makes calls; on busy nodes it may
 * end before its ranks have compared their hardware, and then it leaves nothing. */
static bool was_too_short(const struct nt_calrun *run)
{
	return run->calibration.contender[0].runs > 0 ? !all_measured(run) : run->silent;
}

static int run_default(struct nt_calrun *run, struct going *going, struct nt_error *err)
{
	struct nt_contender *base = &run->calibration.contender[0];

	if (run_one(run, going, 0, err) < 0)
		return -1;
	if (run->program || *run->stop != 0 || !was_too_short(run) ||
	    elapsed_s(going) + 2 * base->longest_s + 2 * LONGER_S > run->time_s)
		return 0;
	base->state = NT_CONTENDER_OPEN;
	run->failure[0][0] = '\0';
	run->silent = false;
	going->calls_s += LONGER_S;
	return run_one(run, going, 0, err);
}

static int run_all(struct nt_calrun *run, struct going *going, struct nt_error *err)
{
	int which;

	if (run_default(run, going, err) < 0)
		return -1;
	/* Which candidates fit is known once the default has used the network. */
	if (add_candidates(run, err) < 0)
		return -1;
	while (*run->stop == 0) {
		which = nt_calibration_next(&run->calibration, elapsed_s(going), &run->end);
		if (which < 0)
			break;
		if (run_one(run, going, (unsigned)which, err) < 0)
			return -1;
	}
	return 0;
}

int nt_calrun(struct nt_calrun *run, struct nt_error *err)
{
	struct going going = { .start_ms = nt_clock_ms() };
	int rc = -1;

	going.calls_s = nt_calibration_calls_s(run->time_s, 1 + count_candidates(run), START_S);
	nt_calibration_init(&run->calibration, run->time_s, START_S + going.calls_s);
	nt_memory_init(&run->before);
	nt_memory_init(&run->found);
	if (setenv("NCCL_TUNE_CALIBRATION", "1", 1) < 0 ||
	    setenv(NT_ENV_MEMORY, run->directory, 1) < 0)
		return nt_error_set(err, "no memory");
	if (nt_store_read(run->directory, &run->before, (int64_t)time(NULL), err) == 0 &&
	    (run->program ||
	     nt_meeting_make(run->directory, run->allocation.job, going.meeting, err) == 0))
		rc = run_all(run, &going, err);
	/* If that fails, the entries of the single turns remain. */
	if (rc == 0)
		remember_turns(run);
	nt_meeting_remove(going.meeting);
	run->spent_s = elapsed_s(&going);
	return rc;
}

void nt_calrun_fini(struct nt_calrun *run)
{
	nt_memory_fini(&run->before);
	nt_memory_fini(&run->found);
}

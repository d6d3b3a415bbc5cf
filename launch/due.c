/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/due.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED_LEAST 0.6 /* share of the cost of its calls at which they count as measured */
#define WORTH 0.01 /* share of the cost that a call must have to be measured */

/* ---- the program's calls */

struct call_cost {
	const struct nt_known_key *key;
	double us; /* of all its calls */
};

struct program_calls {
	struct nt_comm_shape shape; /* 0, 0: all ranks */
	unsigned count; /* of that shape, the most expensive first */
	struct call_cost call[NT_ENTRY_KEYS];
	double us; /* of them together */
};

/* Can the benchmark make such communicators: of all ranks, of each node's, of one rank a node? */
static bool can_be_made(const struct nt_comm_shape *shape, const struct nt_where *where)
{
	if (shape->nodes == 0)
		return true;
	return shape->ranks > 1 && ((shape->nodes == 1 && where->per_node % shape->ranks == 0) ||
				    (shape->nodes == where->nodes && shape->ranks == where->nodes));
}

static bool can_be_called(const struct nt_known_key *key)
{
	const uint64_t bytes = key->bytes / 4 * 4;

	return key->calls > 0 && key->coll >= 0 && key->coll < NT_KINDS &&
	       bytes >= NT_CAL_BYTES_LEAST && bytes <= NT_CAL_BYTES_MOST;
}

static bool same_shape(const struct nt_comm_shape *a, const struct nt_comm_shape *b)
{
	return a->ranks == b->ranks && a->nodes == b->nodes;
}

static int by_cost(const void *left, const void *right)
{
	const struct call_cost *a = left, *b = right;

	return a->us > b->us ? -1 : a->us < b->us;
}

static void take_shape(const struct nt_memory_entry *entry, const struct nt_comm_shape *shape,
		       struct program_calls *out)
{
	*out = (struct program_calls){ .shape = *shape };
	for (size_t i = 0; i < entry->keys; i++) {
		const struct nt_known_key *key = &entry->key[i];
		const struct nt_comm_shape its = nt_key_shape(key, &entry->where);

		if (!same_shape(&its, shape) || !can_be_called(key))
			continue;
		out->call[out->count++] = (struct call_cost){ key, nt_key_cost_us(key) };
		out->us += nt_key_cost_us(key);
	}
	qsort(out->call, out->count, sizeof(out->call[0]), by_cost);
	while (out->count > 0 &&
	       (out->count > NT_CAL_CALLS || out->call[out->count - 1].us < WORTH * out->us))
		out->us -= out->call[--out->count].us;
}

/* Those on the communicators that cost the step most. */
static void find_calls(const struct nt_memory_entry *entry, struct program_calls *out)
{
	struct program_calls one;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < entry->keys; i++) {
		const struct nt_comm_shape shape = nt_key_shape(&entry->key[i], &entry->where);

		if (!can_be_made(&shape, &entry->where))
			continue;
		take_shape(entry, &shape, &one);
		if (one.us > out->us)
			*out = one;
	}
}

/* ---- what was measured */

static bool is_calibration(const struct nt_memory_entry *entry)
{
	return entry->origin == NT_ORIGIN_CALIBRATE && entry->keys > 0;
}

static bool has_key(const struct nt_memory_entry *entry, const struct nt_known_key *key,
		    const struct nt_where *where)
{
	struct nt_known_key like = *key;

	like.coll = nt_measured_kind(key->coll);
	for (size_t i = 0; i < entry->keys; i++)
		if (nt_key_same(&entry->key[i], &entry->where, &like, where))
			return true;
	return false;
}

/* Did a calibration at this place measure the call of a step at where? key NULL: any call. */
static bool was_measured(const struct nt_selection *selection, const struct nt_known_key *key,
			 const struct nt_where *where)
{
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = &selection->memory[level];

		for (size_t i = 0; i < memory->entries; i++)
			if (is_calibration(&memory->entry[i]) &&
			    nt_where_same(&memory->entry[i].where, &selection->launch.where) &&
			    (!key || has_key(&memory->entry[i], key, where)))
				return true;
	}
	return false;
}

/* Enough of the program's calls, or anything if these are unknown. */
static bool is_known(const struct nt_selection *selection)
{
	struct program_calls calls;
	double us = 0;

	if (!selection->launch.step)
		return was_measured(selection, NULL, NULL);
	find_calls(selection->launch.step, &calls);
	for (unsigned i = 0; i < calls.count; i++)
		if (was_measured(selection, calls.call[i].key, &selection->launch.step->where))
			us += calls.call[i].us;
	return us >= MEASURED_LEAST * calls.us;
}

static bool job_has_calibrated(const struct nt_selection *selection)
{
	const struct nt_memory *user = &selection->memory[NT_LEVEL_USER];

	for (size_t i = 0; selection->ask.job != 0 && i < user->entries; i++)
		if (user->entry[i].origin == NT_ORIGIN_CALIBRATE &&
		    user->entry[i].job == selection->ask.job)
			return true;
	return false;
}

/* ---- profiles */

/* That of earlier steps here; before the first, a guess from this machine. */
static enum nt_fabric fabric_of(const struct nt_selection *selection)
{
	if (selection->launch.where.fabric != NT_FABRIC_ANY || selection->ask.nodes == 1)
		return selection->launch.where.fabric;
	return nt_profiles_guess_fabric();
}

static bool is_users(const char *name, void *context)
{
	const struct nt_user_env *env = context;

	return env && nt_user_env_has(env, name);
}

/* The user's own variables would leave a part of it. */
static bool is_whole(const struct nt_selection *selection, const struct nt_profile *profile)
{
	struct nt_resolved resolved;

	nt_profile_resolve(profile, is_users, (void *)(uintptr_t)selection->ask.user_env,
			   &resolved);
	return memcmp(resolved.apply.set, profile->settings.set, sizeof(resolved.apply.set)) == 0;
}

static bool is_worth_trying(const struct nt_selection *selection, const struct nt_profile *profile,
			    bool sends)
{
	const struct nt_candidate *known = nt_choice_find(&selection->choice, profile->name);

	if (!nt_profile_fits(profile, fabric_of(selection)) || !is_whole(selection, profile) ||
	    (!sends && nt_settings_are_for_sends(&profile->settings)))
		return false;
	return !known || known->why != NT_WHY_WRONG_RESULTS;
}

static void add_profile(struct nt_cal_request *request, const struct nt_profile *profile)
{
	struct nt_cal_profile *added = &request->profile[request->profiles];

	if (request->profiles == NT_CAL_PROFILES)
		return;
	snprintf(added->name, sizeof(added->name), "%s", profile->name);
	added->settings = profile->settings;
	request->profiles++;
}

static void add_profiles(const struct nt_selection *selection, struct nt_cal_request *request)
{
	bool sends = request->calls == 0;

	for (unsigned i = 0; i < request->calls; i++)
		sends = sends || !nt_kind_tunable(request->call[i].coll);
	for (unsigned i = 0; i < selection->profiles.count; i++)
		if (is_worth_trying(selection, &selection->profiles.profile[i],
				    request->calls > 0 && sends))
			add_profile(request, &selection->profiles.profile[i]);
}

/* ---- the answers */

__attribute__((format(printf, 2, 3))) static bool against(char why[NT_DUE_WHY], const char *format,
							  ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, NT_DUE_WHY, format, args);
	va_end(args);
	return false;
}

static bool fits_tasks(const struct nt_selection_request *ask, const struct nt_where *where)
{
	const uint32_t ranks = where->nodes * where->per_node;

	return where->nodes == ask->nodes && ranks > 1 && ranks % ask->tasks == 0 &&
	       ranks / ask->tasks <= NT_CAL_PROCS;
}

/* Could a calibration find anything, whatever time there is? */
static bool could_help(const struct nt_selection *selection, char why[NT_DUE_WHY])
{
	const struct nt_selection_request *ask = &selection->ask;
	struct nt_cal_request request;

	if (strcmp(ask->launch, NT_LAUNCH_AUTO) != 0)
		return against(why, "launch=%s", ask->launch);
	if (getenv("NCCL_ALGO") || getenv("NCCL_PROTO"))
		return against(why, "NCCL_ALGO or NCCL_PROTO is set");
	if (selection->choice.observe)
		return against(why, "%s", nt_why_text(NT_WHY_WRONG_FORCED));
	if (ask->nodes == 0 || ask->tasks % ask->nodes != 0)
		return against(why,
			       "its %" PRIu32 " tasks are not spread evenly over %" PRIu32 " nodes",
			       ask->tasks, ask->nodes);
	if (selection->hosts_mixed)
		return against(why, "the hardware of its nodes differs");
	if (selection->launch.step && !fits_tasks(ask, &selection->launch.step->where))
		return against(why, "its program's largest communicator has not the same number of "
				    "ranks in each task");
	if (is_known(selection))
		return against(why, selection->launch.step
					    ? "its program's calls were measured here"
					    : "such nodes were calibrated");
	nt_due_request(selection, &request);
	if (request.profiles == 0)
		return against(why, "there is no launch profile for its network");
	return true;
}

static bool repays(const struct nt_selection *selection, const struct nt_due_ask *ask,
		   char why[NT_DUE_WHY])
{
	const double share = selection->launch.step->share;

	if (share < NT_DUE_SHARE)
		return against(why, "collectives take %.0f %% of its program's time", 100 * share);
	if (ask->typed)
		return true;
	if (ask->left_s >= 0 && (double)ask->left_s * share * NT_DUE_GAIN < (double)ask->limit_s)
		return against(why, "the job's time that is left would not repay it");
	return true;
}

bool nt_due_calibration(const struct nt_selection *selection, const struct nt_due_ask *ask,
			char why[NT_DUE_WHY])
{
	why[0] = '\0';
	if (ask->limit_s <= 0)
		return against(why, "calibrate=off");
	if (!could_help(selection, why))
		return false;
	if (job_has_calibrated(selection))
		return against(why, "this job has calibrated");
	if (selection->launch.step && !repays(selection, ask, why))
		return false;
	if (!selection->launch.step && !ask->typed)
		return against(why, "its program has not run here yet");
	if (!selection->launch.step && !ask->gpus)
		return against(why, "the job has no GPU");
	if (ask->typed && ask->left_s >= 0 && ask->left_s < NT_DUE_TIMES * ask->limit_s)
		return against(why, "it would take over 1 %% of the time that the job has left");
	return true;
}

bool nt_due_next(const struct nt_selection *selection)
{
	const struct nt_due_ask ask = { .typed = false, .gpus = true, .left_s = -1, .limit_s = 1 };
	char why[NT_DUE_WHY];

	return could_help(selection, why) && selection->launch.step && repays(selection, &ask, why);
}

/* Sends and receives of the same size are one. */
static void add_call(struct nt_cal_request *request, const struct nt_known_key *key)
{
	struct nt_cal_call call = { nt_measured_kind(key->coll), key->bytes / 4 * 4, key->calls };

	for (unsigned i = 0; i < request->calls; i++) {
		if (request->call[i].coll != call.coll || request->call[i].bytes != call.bytes)
			continue;
		request->call[i].calls += call.calls;
		return;
	}
	request->call[request->calls++] = call;
}

void nt_due_request(const struct nt_selection *selection, struct nt_cal_request *request)
{
	const struct nt_memory_entry *step = selection->launch.step;
	const uint32_t per_node = selection->ask.tasks / selection->ask.nodes;
	struct program_calls calls = { .count = 0 };

	memset(request, 0, sizeof(*request));
	request->procs = per_node > 1;
	if (step) {
		find_calls(step, &calls);
		request->procs = step->where.nodes * step->where.per_node / selection->ask.tasks;
		snprintf(request->library, sizeof(request->library), "%s", step->library);
	}
	for (unsigned i = 0; i < calls.count; i++)
		add_call(request, calls.call[i].key);
	if (calls.shape.nodes == 1)
		snprintf(request->split, sizeof(request->split), "block:%" PRIu32,
			 calls.shape.ranks);
	else if (calls.shape.nodes > 1)
		snprintf(request->split, sizeof(request->split), "stride:%" PRIu32,
			 step->where.per_node);
	add_profiles(selection, request);
}

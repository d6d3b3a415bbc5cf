/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/select-input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "launch/known-arms.h"
#include "launch/memory-store.h"
#include "launch/select-text.h"

/* ---- reading */

/* Keeps the first error. */
static void note(struct nt_selection *selection, const struct nt_error *err)
{
	if (selection->trouble.text[0] == '\0')
		selection->trouble = *err;
}

/* An incomplete site file may lack exactly the profiles that it disables: then there are none. */
static void read_profiles(struct nt_selection *selection)
{
	struct nt_error err;

	if (nt_profiles_read_both(&selection->profiles, selection->paths.profiles,
				  selection->paths.site_profiles, &err) == 0)
		return;
	note(selection, &err);
	nt_profiles_init(&selection->profiles);
}

static void read_memories(struct nt_selection *selection)
{
	struct nt_memory *user = &selection->memory[NT_LEVEL_USER];
	struct nt_memory *site = &selection->memory[NT_LEVEL_SITE];
	struct nt_error err;

	if (selection->paths.memory[0] != '\0' &&
	    nt_store_read(selection->paths.memory, user, selection->ask.now_s, &err) < 0)
		note(selection, &err);
	if (selection->paths.site_memory[0] == '\0')
		return;
	errno = 0;
	if (nt_memory_read_file(site, selection->paths.site_memory, selection->paths.site_flags,
				&err) < 0 &&
	    errno != ENOENT)
		note(selection, &err);
	nt_memory_sort(site, selection->ask.now_s);
}

/* ---- where */

/* The hardware of the step's hosts, from the user's memory or else the site's; 0 where a host is
 * unknown or they are mixed. */
static uint64_t find_fingerprint(struct nt_selection *selection)
{
	uint64_t found = 0;
	bool complete = true;

	for (char *const *host = selection->ask.hosts; host && *host; host++) {
		uint64_t fingerprint = nt_memory_host(&selection->memory[NT_LEVEL_USER], *host);

		if (fingerprint == 0)
			fingerprint = nt_memory_host(&selection->memory[NT_LEVEL_SITE], *host);
		complete = complete && fingerprint != 0;
		if (found == 0)
			found = fingerprint;
		if (fingerprint != 0 && fingerprint != found)
			selection->hosts_mixed = true;
	}
	return complete && !selection->hosts_mixed ? found : 0;
}

/* A step on one node uses no network, so one on several nodes says nothing of it. */
static bool tells_fabric(const struct nt_where *where, uint32_t nodes)
{
	return where->fabric != NT_FABRIC_ANY && (where->nodes == 1) == (nodes == 1);
}

/* The newest entry of a step or calibration on this hardware, from the first memory that has one;
 * fabric: only entries that tell the fabric. */
static const struct nt_memory_entry *newest_here(const struct nt_selection *selection, bool fabric)
{
	const struct nt_memory_entry *newest = NULL;

	for (int level = 0; level < NT_LEVELS && newest == NULL; level++) {
		const struct nt_memory *memory = &selection->memory[level];

		for (size_t i = 0; i < memory->entries; i++) {
			const struct nt_memory_entry *entry = &memory->entry[i];

			if (entry->where.fingerprint == selection->launch.where.fingerprint &&
			    entry->where.nccl != 0 &&
			    (!fabric ||
			     tells_fabric(&entry->where, selection->launch.where.nodes)) &&
			    nt_entry_newer(entry, newest))
				newest = entry;
		}
	}
	return newest;
}

static bool is_started_alike(const struct nt_selection_request *ask,
			     const struct nt_memory_entry *entry)
{
	return entry->start_nodes == ask->nodes && entry->start_tasks == ask->tasks;
}

static const struct nt_memory_entry *find_step(const struct nt_selection *selection)
{
	const struct nt_memory *memory = &selection->memory[NT_LEVEL_USER];
	const struct nt_where *where = &selection->launch.where;
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; where->program[0] != '\0' && i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (entry->origin == NT_ORIGIN_JOB && entry->keys > 0 &&
		    entry->where.fingerprint == where->fingerprint &&
		    strcmp(entry->where.program, where->program) == 0 &&
		    is_started_alike(&selection->ask, entry) && nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest;
}

static uint32_t ranks_a_node(const struct nt_selection_request *ask)
{
	if (ask->nodes == 0)
		return 0;
	return ask->tasks == ask->nodes && ask->node_gpus > 0 ? ask->node_gpus
							      : ask->tasks / ask->nodes;
}

static void find_where(struct nt_selection *selection)
{
	const struct nt_selection_request *ask = &selection->ask;
	struct nt_where *where = &selection->launch.where;
	const struct nt_memory_entry *entry;

	where->fingerprint = find_fingerprint(selection);
	where->nodes = ask->nodes;
	where->per_node = ranks_a_node(ask);
	where->user_env = ask->user_env != NULL ? nt_user_env_hash(ask->user_env) : 0;
	if (ask->program != NULL)
		snprintf(where->program, sizeof(where->program), "%s", ask->program);
	/* There are no entries for ranks that are not spread evenly. */
	if (ask->nodes == 0 || ask->tasks % ask->nodes != 0)
		where->fingerprint = 0;
	if (where->fingerprint == 0)
		return;
	selection->launch.step = find_step(selection);
	if (selection->launch.step != NULL) {
		where->nodes = selection->launch.step->where.nodes;
		where->per_node = selection->launch.step->where.per_node;
	}
	entry = newest_here(selection, false);
	if (entry != NULL) {
		where->nccl = entry->where.nccl;
		memcpy(where->driver, entry->where.driver, sizeof(where->driver));
	}
	entry = newest_here(selection, true);
	if (entry != NULL)
		where->fabric = entry->where.fabric;
}

/* ---- choosing */

static bool is_named(const struct nt_selection *selection)
{
	return strcmp(selection->ask.launch, NT_LAUNCH_AUTO) != 0 &&
	       strcmp(selection->ask.launch, NT_LAUNCH_OFF) != 0;
}

/* A profile requested by name, whatever its measurements. */
static int take_named(struct nt_selection *selection, struct nt_error *err)
{
	struct nt_launch_choice *choice = &selection->choice;
	const char *name = is_named(selection) ? selection->ask.launch : NT_PROFILE_DEFAULT;
	bool is_default = strcmp(name, NT_PROFILE_DEFAULT) == 0;

	if (!is_default && nt_profiles_want(&selection->profiles, name, err) == NULL)
		return -1;
	choice->chosen = nt_choice_find(choice, name);
	snprintf(choice->profile, sizeof(choice->profile), "%s", name);
	choice->why = NT_WHY_ASKED;
	return 0;
}

int nt_selection_open(struct nt_selection *selection, const struct nt_selection_paths *paths,
		      const struct nt_selection_request *ask, struct nt_error *err)
{
	memset(selection, 0, sizeof(*selection));
	selection->ask = *ask;
	selection->paths = *paths;
	for (int level = 0; level < NT_LEVELS; level++) {
		nt_memory_init(&selection->memory[level]);
		selection->launch.memory[level] = &selection->memory[level];
	}
	read_profiles(selection);
	read_memories(selection);
	selection->launch.profiles = &selection->profiles;
	selection->launch.job = ask->job;
	find_where(selection);
	nt_profile_select(&selection->launch, &selection->choice);
	if (selection->choice.why == NT_WHY_NO_HARDWARE && ask->nodes > 0 &&
	    ask->tasks % ask->nodes != 0)
		selection->choice.why = NT_WHY_UNEVEN;
	return strcmp(ask->launch, NT_LAUNCH_AUTO) == 0 ? 0 : take_named(selection, err);
}

void nt_selection_fini(struct nt_selection *selection)
{
	for (int level = 0; level < NT_LEVELS; level++)
		nt_memory_fini(&selection->memory[level]);
}

/* ---- results */

static bool set_by_file(const char *name, void *context)
{
	const struct nt_user_env *own = context;

	for (unsigned i = 0; i < own->count; i++)
		if (own->variable[i].from_file && strcmp(own->variable[i].name, name) == 0)
			return true;
	return false;
}

static bool set_at_all(const char *name, void *context)
{
	return nt_user_env_has(context, name);
}

/* The chosen profile, without the variables that the user has set. */
static void resolve(const struct nt_selection *selection, nt_is_set *is_set,
		    struct nt_resolved *out)
{
	static const struct nt_user_env none;
	const struct nt_user_env *own = selection->ask.user_env != NULL ? selection->ask.user_env
									: &none;
	const struct nt_profile *profile = nt_profiles_find(&selection->profiles,
							    selection->choice.profile);
	struct nt_user_env copy = *own;

	memset(out, 0, sizeof(*out));
	if (profile != NULL)
		nt_profile_resolve(profile, is_set, &copy, out);
}

void nt_selection_ticket(const struct nt_selection *selection, struct nt_ticket *ticket)
{
	struct nt_resolved resolved;

	memset(ticket, 0, sizeof(*ticket));
	snprintf(ticket->profile, sizeof(ticket->profile), "%s", selection->choice.profile);
	ticket->observe = selection->choice.observe;
	ticket->why = selection->choice.why;
	nt_choice_from(&selection->choice, &selection->launch, ticket->from, sizeof(ticket->from));
	ticket->expected = nt_choice_expected(&selection->choice);
	ticket->user_env = selection->launch.where.user_env;
	snprintf(ticket->program, sizeof(ticket->program), "%s", selection->launch.where.program);
	snprintf(ticket->memory, sizeof(ticket->memory), "%s", selection->paths.memory);
	resolve(selection, set_by_file, &resolved);
	ticket->settings = resolved.apply;
	nt_ticket_leave_all(ticket, &resolved);
}

/* ---- remembered arms */

static int by_worth(const void *left, const void *right)
{
	const struct nt_known_arm *a = left, *b = right;

	return (a->worth < b->worth) - (a->worth > b->worth);
}

/* Too many for the text: those with the lowest worth are left out, an eighth at a time. */
static bool print_most(const struct nt_known_arms *arms, struct nt_warm *warm)
{
	unsigned most = arms->count < NT_WARM_MAX ? arms->count : NT_WARM_MAX;

	for (; most > 0; most -= most / 8 + 1) {
		char text[NT_WARM_TEXT_MAX];

		warm->count = 0;
		for (unsigned i = 0; i < most; i++)
			(void)nt_warm_add(warm, &arms->arm[i].key, NULL);
		if (warm->count > 0 && nt_warm_print(warm, text, sizeof(text), NULL) == 0)
			return true;
	}
	return false;
}

bool nt_selection_warm(const struct nt_selection *selection, struct nt_warm *warm)
{
	const struct nt_where *where = &selection->launch.where;
	struct nt_known_arms *arms;
	bool any = false;

	memset(warm, 0, sizeof(*warm));
	if (where->fingerprint == 0 || where->nccl == 0)
		return false;
	warm->nccl = where->nccl;
	warm->fabric = (int)where->fabric;
	warm->fingerprint = where->fingerprint;
	arms = calloc(1, sizeof(*arms));
	if (arms == NULL)
		return false;
	/* The site's memory counts for keys that the user's does not have. */
	nt_known_arms_add(arms, &selection->memory[NT_LEVEL_USER], where,
			  selection->choice.profile);
	if (arms->count == 0)
		nt_known_arms_add(arms, &selection->memory[NT_LEVEL_SITE], where,
				  selection->choice.profile);
	qsort(arms->arm, arms->count, sizeof(arms->arm[0]), by_worth);
	any = print_most(arms, warm);
	free(arms);
	return any;
}

/* ---- for the user */

const char *nt_selection_text(const struct nt_selection *selection, char *out, size_t out_bytes)
{
	struct nt_ticket left = { .profile = "" };
	struct nt_resolved resolved;

	nt_choice_text(&selection->choice, &selection->launch, out, out_bytes);
	resolve(selection, set_at_all, &resolved);
	nt_ticket_leave_all(&left, &resolved);
	if (left.left[0] != '\0')
		nt_append(out, out_bytes, "; left alone: %s", left.left);
	return out;
}

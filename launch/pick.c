/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A choice, from files to a ticket. Arms are in pick-warm.c. */
#include "launch/pick.h"

#include <errno.h>
#include <string.h>
#include "launch/hosts.h"
#include "launch/store.h"
#include "launch/why.h"

#define HOSTS_MAX 65536

/* ---- reading */

/* Keeps the first that went wrong. */
static void note(struct nt_pick *pick, const struct nt_error *err)
{
	if (pick->trouble.text[0] == '\0')
		pick->trouble = *err;
}

static void read_profiles(struct nt_pick *pick)
{
	const char *site = pick->paths.site_profiles;
	struct nt_error err;

	nt_profiles_init(&pick->profiles);
	if (nt_profiles_read(&pick->profiles, pick->paths.profiles, 0, &err) < 0) {
		note(pick, &err);
		nt_profiles_init(&pick->profiles);
		return;
	}
	errno = 0;
	if (site[0] == '\0' || nt_profiles_read(&pick->profiles, site, 0, &err) == 0 ||
	    errno == ENOENT)
		return;
	/* Half of a site's file may lack just what it switches off. */
	note(pick, &err);
	nt_profiles_init(&pick->profiles);
}

/* Whether a list joined by + has this name. */
static bool lists(const char *list, const char *name)
{
	while (*list) {
		const size_t length = strcspn(list, "+");

		if (strlen(name) == length && memcmp(name, list, length) == 0)
			return true;
		list += length + (list[length] == '+');
	}
	return false;
}

/* What the site does not allow is as if it were switched off. */
static void keep_allowed(struct nt_pick *pick)
{
	for (unsigned i = 0; pick->ask.allowed && i < pick->profiles.count; i++) {
		struct nt_profile *profile = &pick->profiles.profile[i];

		profile->disabled = profile->disabled || !lists(pick->ask.allowed, profile->name);
	}
}

static void read_memories(struct nt_pick *pick)
{
	struct nt_memory *user = &pick->memory[NT_LEVEL_USER];
	struct nt_memory *site = &pick->memory[NT_LEVEL_SITE];
	struct nt_error err;

	if (pick->paths.memory[0] != '\0' &&
	    nt_store_read(pick->paths.memory, user, pick->ask.now_s, &err) < 0)
		note(pick, &err);
	if (pick->paths.site_memory[0] == '\0')
		return;
	errno = 0;
	if (nt_memory_read_file(site, pick->paths.site_memory, pick->paths.site_flags, &err) < 0 &&
	    errno != ENOENT)
		note(pick, &err);
	nt_memory_tidy(site, pick->ask.now_s);
}

/* The steps of this job so far are in the user's memory. */
static void find_job(struct nt_pick *pick)
{
	const struct nt_memory *user = &pick->memory[NT_LEVEL_USER];
	struct nt_memory *job = &pick->memory[NT_LEVEL_JOB];

	for (size_t i = 0; pick->ask.job != 0 && i < user->entries; i++) {
		struct nt_memory_entry copy;
		struct nt_error err;

		if (user->entry[i].job != pick->ask.job ||
		    user->entry[i].origin == NT_ORIGIN_IMPORT)
			continue;
		if (nt_entry_copy(&copy, &user->entry[i], &err) < 0 ||
		    nt_memory_add_take(job, &copy, &err) < 0)
			note(pick, &err);
	}
	nt_memory_tidy(job, pick->ask.now_s);
}

/* ---- where */

struct hardware {
	struct nt_pick *pick;
	uint64_t fingerprint;
};

static int take_host(void *context, const char *name)
{
	struct hardware *hardware = context;
	struct nt_pick *pick = hardware->pick;
	uint64_t fingerprint = nt_memory_host(&pick->memory[NT_LEVEL_USER], name);

	if (fingerprint == 0)
		fingerprint = nt_memory_host(&pick->memory[NT_LEVEL_SITE], name);
	pick->hosts++;
	if (fingerprint == 0)
		pick->hosts_unknown++;
	else if (hardware->fingerprint == 0)
		hardware->fingerprint = fingerprint;
	else if (hardware->fingerprint != fingerprint)
		pick->hosts_mixed = true;
	return 0;
}

uint64_t nt_pick_fingerprint(struct nt_pick *pick, const char *hosts)
{
	struct hardware hardware = { .pick = pick };
	struct nt_error err;

	pick->hosts = pick->hosts_unknown = 0;
	pick->hosts_mixed = false;
	if (hosts == NULL || hosts[0] == '\0')
		return 0;
	if (nt_hosts_each(hosts, HOSTS_MAX, take_host, &hardware, &err) < 0) {
		note(pick, &err);
		return 0;
	}
	return pick->hosts_unknown > 0 || pick->hosts_mixed ? 0 : hardware.fingerprint;
}

static bool newer(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return b == NULL || a->when_s > b->when_s || (a->when_s == b->when_s && a->step > b->step);
}

/* Of the first memory that has one: the newest entry on this hardware that a step or a calibration
 * has left; with a known fabric if that is wanted. */
static const struct nt_memory_entry *newest_here(const struct nt_pick *pick, bool fabric)
{
	const struct nt_memory_entry *newest = NULL;

	for (int level = 0; level < NT_LEVELS && newest == NULL; level++) {
		const struct nt_memory *memory = &pick->memory[level];

		for (size_t i = 0; i < memory->entries; i++) {
			const struct nt_memory_entry *entry = &memory->entry[i];

			if (entry->where.fingerprint == pick->launch.where.fingerprint &&
			    entry->where.nccl != 0 && entry->origin != NT_ORIGIN_IMPORT &&
			    (!fabric || entry->where.fabric != NT_FABRIC_ANY) &&
			    newer(entry, newest))
				newest = entry;
		}
	}
	return newest;
}

static void find_where(struct nt_pick *pick)
{
	const struct nt_pick_ask *ask = &pick->ask;
	struct nt_where *where = &pick->launch.where;
	const struct nt_memory_entry *entry;

	where->fingerprint = nt_pick_fingerprint(pick, ask->hosts);
	where->nodes = ask->nodes;
	where->per_node = ask->nodes > 0 ? ask->tasks / ask->nodes : 0;
	where->own = ask->own != NULL ? nt_own_hash(ask->own) : 0;
	/* Ranks that are not spread evenly are a place of which nobody has an entry. */
	if (ask->nodes == 0 || ask->tasks % ask->nodes != 0)
		where->fingerprint = 0;
	if (where->fingerprint == 0)
		return;
	entry = newest_here(pick, false);
	if (entry != NULL) {
		where->nccl = entry->where.nccl;
		memcpy(where->driver, entry->where.driver, sizeof(where->driver));
	}
	entry = newest_here(pick, true);
	if (entry != NULL)
		where->fabric = entry->where.fabric;
}

/* ---- choosing */

static bool is_named(const struct nt_pick *pick)
{
	return strcmp(pick->ask.launch, NT_LAUNCH_AUTO) != 0 &&
	       strcmp(pick->ask.launch, NT_LAUNCH_OFF) != 0;
}

/* A profile by its name, whatever is known of it. */
static int take_named(struct nt_pick *pick, struct nt_error *err)
{
	struct nt_launch_choice *choice = &pick->choice;
	const char *name = is_named(pick) ? pick->ask.launch : NT_PROFILE_DEFAULT;
	bool is_default = strcmp(name, NT_PROFILE_DEFAULT) == 0;

	if (!is_default && nt_profiles_want(&pick->profiles, name, err) == NULL)
		return -1;
	choice->chosen = NULL;
	for (unsigned i = 0; i < choice->count; i++)
		if (strcmp(choice->weighed[i].profile->name, name) == 0)
			choice->chosen = &choice->weighed[i];
	snprintf(choice->profile, sizeof(choice->profile), "%s", name);
	choice->why = NT_WHY_ASKED;
	/* What a user wants to see is no failure of ours if it is slower. */
	choice->candidate = !is_default && !pick->ask.calibration;
	return 0;
}

int nt_pick_open(struct nt_pick *pick, const struct nt_pick_paths *paths,
		 const struct nt_pick_ask *ask, struct nt_error *err)
{
	memset(pick, 0, sizeof(*pick));
	pick->ask = *ask;
	pick->paths = *paths;
	for (int level = 0; level < NT_LEVELS; level++) {
		nt_memory_init(&pick->memory[level]);
		pick->launch.memory[level] = &pick->memory[level];
	}
	read_profiles(pick);
	keep_allowed(pick);
	read_memories(pick);
	find_job(pick);
	pick->launch.profiles = &pick->profiles;
	pick->launch.array_task = ask->array_task;
	pick->launch.now_s = ask->now_s;
	find_where(pick);
	nt_launch_limits_default(&pick->limits);
	pick->limits.feel.test = ask->test;
	if (nt_choose(&pick->launch, &pick->limits, &pick->choice) < 0)
		nt_error_set(&pick->trouble, "out of memory");
	return strcmp(ask->launch, NT_LAUNCH_AUTO) == 0 ? 0 : take_named(pick, err);
}

void nt_pick_fini(struct nt_pick *pick)
{
	for (int level = 0; level < NT_LEVELS; level++)
		nt_memory_fini(&pick->memory[level]);
}

/* ---- what comes of it */

static bool set_by_file(const char *name, void *context)
{
	const struct nt_own *own = context;

	for (unsigned i = 0; i < own->count; i++)
		if (own->variable[i].from_file && strcmp(own->variable[i].name, name) == 0)
			return true;
	return false;
}

static bool set_at_all(const char *name, void *context)
{
	return nt_own_has(context, name);
}

/* The chosen profile beside the user's own variables. */
static void resolve(const struct nt_pick *pick, nt_is_set *is_set, struct nt_resolved *out)
{
	static const struct nt_own none;
	const struct nt_own *own = pick->ask.own != NULL ? pick->ask.own : &none;
	const struct nt_profile *profile = nt_profiles_find(&pick->profiles, pick->choice.profile);
	struct nt_own copy = *own;

	memset(out, 0, sizeof(*out));
	if (profile != NULL)
		nt_profile_resolve(profile, is_set, &copy, out);
}

static void leave_all(struct nt_ticket *ticket, const struct nt_resolved *resolved)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		char name[NT_OWN_NAME];

		if (!resolved->left[i])
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(resolved->because[i], " "),
			 resolved->because[i]);
		nt_ticket_leave(ticket, name);
	}
}

static double expected_of(const struct nt_launch_choice *choice)
{
	const struct nt_weighed *chosen = choice->chosen;

	if (chosen == NULL)
		return 0;
	if (choice->why == NT_WHY_FELT)
		return 1 / (chosen->felt.felt == NT_FELT_FASTER ? chosen->felt.ratio
								: chosen->standing.last.ratio);
	return chosen->weight.known ? 1 / chosen->weight.ratio : 0;
}

void nt_pick_ticket(const struct nt_pick *pick, struct nt_ticket *ticket)
{
	struct nt_resolved resolved;

	memset(ticket, 0, sizeof(*ticket));
	snprintf(ticket->profile, sizeof(ticket->profile), "%s", pick->choice.profile);
	ticket->candidate = pick->choice.candidate;
	ticket->calibration = pick->ask.calibration;
	ticket->why = pick->choice.why;
	nt_choice_from(&pick->choice, &pick->launch, ticket->from, sizeof(ticket->from));
	ticket->expected = expected_of(&pick->choice);
	ticket->own = pick->launch.where.own;
	snprintf(ticket->memory, sizeof(ticket->memory), "%s", pick->paths.memory);
	resolve(pick, set_by_file, &resolved);
	ticket->settings = resolved.apply;
	leave_all(ticket, &resolved);
}

const char *nt_pick_text(const struct nt_pick *pick, char *out, size_t out_bytes)
{
	struct nt_ticket left = { .profile = "" };
	struct nt_resolved resolved;
	size_t used;

	nt_choice_text(&pick->choice, &pick->launch, out, out_bytes);
	resolve(pick, set_at_all, &resolved);
	leave_all(&left, &resolved);
	used = strlen(out);
	if (left.left[0] != '\0')
		snprintf(out + used, out_bytes - used, "; left alone: %s", left.left);
	return out;
}

/* ---- calibration */

bool nt_pick_may_calibrate(const struct nt_pick *pick)
{
	const struct nt_memory *job = &pick->memory[NT_LEVEL_JOB];

	if (strcmp(pick->ask.launch, NT_LAUNCH_AUTO) != 0 || pick->ask.calibration ||
	    pick->ask.nodes == 0 || pick->ask.tasks < 2 || pick->ask.tasks % pick->ask.nodes != 0 ||
	    pick->profiles.count == 0 || pick->hosts_mixed)
		return false;
	for (size_t i = 0; i < job->entries; i++)
		if (job->entry[i].origin == NT_ORIGIN_CALIBRATE)
			return false;
	for (unsigned i = 0; i < pick->choice.count; i++)
		if (pick->choice.weighed[i].standing.trust == NT_TRUST_TRUSTED)
			return false;
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = &pick->memory[level];

		for (size_t i = 0; i < memory->entries; i++)
			if (memory->entry[i].origin == NT_ORIGIN_CALIBRATE &&
			    memory->entry[i].keys > 0 &&
			    nt_where_same(&memory->entry[i].where, &pick->launch.where))
				return false;
	}
	return true;
}

int nt_pick_note_calibration(const struct nt_pick *pick, struct nt_error *err)
{
	struct nt_memory_entry entry;
	struct nt_memory memory;
	int rc = -1;

	nt_memory_init(&memory);
	nt_entry_init(&entry);
	entry.origin = NT_ORIGIN_CALIBRATE;
	entry.where = pick->launch.where;
	entry.job = pick->ask.job;
	entry.when_s = pick->ask.now_s;
	entry.added_us = pick->ask.now_s * 1000000;
	snprintf(entry.profile, sizeof(entry.profile), "%s", NT_PROFILE_DEFAULT);
	if (pick->paths.memory[0] == '\0')
		nt_error_set(err, "there is no memory to note it in");
	else if (nt_entry_name(&entry, err) == 0 && nt_memory_add_take(&memory, &entry, err) == 0)
		rc = nt_store_add(pick->paths.memory, &memory, pick->ask.now_s, err);
	nt_memory_fini(&memory);
	return rc;
}

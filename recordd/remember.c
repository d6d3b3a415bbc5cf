/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Add an entry to a memory, and compare a step with the memory. */
#include "recordd/remember.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "launch/claim.h"
#include "launch/due.h"
#include "spank/hosts.h"
#include "launch/memory-store.h"
#include "launch/step-before.h"
#include "launch/step-ratio.h"
#include "recordd/step-entry.h"

/* The step to store. */
struct case_of {
	const struct nt_arguments *arguments;
	const struct nt_ticket *ticket;
	struct nt_where where;
	int64_t now_us;
	uint64_t fingerprint; /* of all its hosts; 0: unknown, or they differ */
};

static void remark(struct nt_step_memory *out, const char *what, const char *why)
{
	snprintf(out->remark, sizeof(out->remark), "%s: %s", what, why);
}

/* Adds the step's hosts that are not known; known NULL: all. False, and nothing is added, if the
 * list does not have as many hosts as the step. */
static bool add_hosts(struct nt_memory *add, const struct case_of *step,
		      const struct nt_memory *known)
{
	char **names = nt_hosts_names(step->arguments->hosts, NT_MEMORY_HOSTS, NULL);
	const size_t before = add->hosts;
	size_t count = 0;
	bool good = names != NULL;

	for (; good && names[count]; count++)
		if (!known || nt_memory_host(known, names[count]) != step->fingerprint)
			good = nt_memory_add_host(add, names[count], step->fingerprint,
						  step->now_us / 1000000, NULL) == 0;
	nt_hosts_free(names);
	if (good && count == step->arguments->nodes)
		return true;
	add->hosts = before;
	return false;
}

/* Does the memory have the step's fingerprint for each of its hosts? */
static bool hosts_are_alike(const struct case_of *step)
{
	struct nt_memory memory, others;
	bool alike;

	nt_memory_init(&memory);
	nt_memory_init(&others);
	alike = step->fingerprint != 0 &&
		nt_store_read(step->ticket->memory, &memory, step->now_us / 1000000, NULL) == 0 &&
		add_hosts(&others, step, &memory) && others.hosts == 0;
	nt_memory_fini(&memory);
	nt_memory_fini(&others);
	return alike;
}

/* Store the entry, with the hosts if they are few. */
static int store_entry(struct case_of *step, struct nt_memory_entry *entry, bool evidence,
		       struct nt_error *err)
{
	struct nt_memory add;
	int rc;

	nt_memory_init(&add);
	rc = nt_entry_name(entry, err);
	step->where = entry->where;
	if (rc == 0)
		rc = nt_memory_add_take(&add, entry, err);
	if (rc == 0 && evidence && step->arguments->nodes <= NT_REMEMBER_HOSTS)
		add_hosts(&add, step, NULL);
	if (rc == 0)
		rc = nt_store_add(step->ticket->memory, &add, step->now_us / 1000000, err);
	nt_memory_fini(&add);
	return rc;
}

static void compare_steps(const struct case_of *step, const struct nt_memory *memory,
			  struct nt_step_memory *out)
{
	const char *profile = step->ticket->profile;
	const struct nt_step_ratio steps = nt_step_ratio(memory, &step->where, profile);

	if (!steps.known)
		return;
	out->measured = 1 / steps.ratio;
	if (steps.slower)
		snprintf(
			out->remark, sizeof(out->remark),
			"launch profile %s was %.0f %% slower than the default; not used before it is "
			"calibrated again",
			profile, 100 * (steps.ratio - 1));
}

/* "11:NCCL 2.27.5:2026-10-02:4711" (contract/findings.def) */
static void compare_software(const struct case_of *step, const struct nt_memory *memory,
			     struct nt_step_memory *out)
{
	struct nt_step_before before;
	char day[16];
	struct tm local;
	time_t when;

	if (!nt_step_slower(memory, &step->where, step->ticket->profile, &before))
		return;
	when = (time_t)before.when_s;
	strftime(day, sizeof(day), "%Y-%m-%d", localtime_r(&when, &local));
	snprintf(out->slower, sizeof(out->slower), "%.0f:%s:%s:%u", 100 * before.growth,
		 before.than, day, before.job);
}

/* Compare the step with the memory. Errors are ignored: the step has been stored. */
static void look_back(const struct case_of *step, bool evidence, struct nt_step_memory *out)
{
	int64_t now_s = step->now_us / 1000000;
	bool hosts = evidence && step->arguments->nodes > NT_REMEMBER_HOSTS;
	struct nt_memory memory, add;

	nt_memory_init(&memory);
	nt_memory_init(&add);
	if (nt_store_read(step->ticket->memory, &memory, now_s, NULL) == 0) {
		if (hosts)
			add_hosts(&add, step, &memory);
		if (add.hosts > 0)
			(void)nt_store_add(step->ticket->memory, &add, now_s, NULL);
		if (strcmp(step->ticket->profile, NT_PROFILE_DEFAULT) != 0)
			compare_steps(step, &memory, out);
		compare_software(step, &memory, out);
	}
	nt_memory_fini(&memory);
	nt_memory_fini(&add);
}

/* Has the memory reached the site's limit? */
static bool is_full(const char *dir, uint32_t most_mib)
{
	DIR *files = most_mib ? opendir(dir) : NULL;
	const struct dirent *entry;
	uint64_t bytes = 0;

	while (files && (entry = readdir(files)) != NULL) {
		struct stat status;

		if (fstatat(dirfd(files), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_size;
	}
	if (files)
		closedir(files);
	return most_mib && bytes >> 20 >= most_mib;
}

/* ---- the calibration before the program */

/* One of its profiles, as measured at the program's place, but on the ranks that measured. */
static int add_profile(struct nt_memory *add, const struct nt_memory_entry *measured,
		       const struct case_of *step, const struct nt_calibrated *calibration,
		       const struct nt_where *where, struct nt_error *err)
{
	struct nt_memory_entry entry;

	if (nt_entry_copy(&entry, measured, err) < 0 || nt_entry_name(&entry, err) < 0)
		return -1;
	entry.where = *where;
	entry.where.nodes = calibration->nodes;
	entry.where.per_node = calibration->per_node;
	entry.where.program[0] = '\0';
	entry.job = step->arguments->job;
	entry.step = step->arguments->step;
	entry.when_s = step->now_us / 1000000;
	entry.added_us = step->now_us;
	return nt_memory_add_take(add, &entry, err);
}

static const char *put_calibration(const struct case_of *step, const struct nt_sum *sum,
				   const struct nt_calibrated *calibration, bool hosts_alike)
{
	static struct nt_error err;
	struct nt_where where;
	const char *why = nt_step_entry_where(sum, step->arguments, step->ticket, hosts_alike,
					      &where);
	struct nt_memory add;

	if (!why && sum->comm_count == 0 && where.nodes > 1)
		why = "the program used no NCCL";
	if (!why && calibration->profiles.entries == 0)
		why = calibration->why[0] ? calibration->why : "it measured nothing";
	if (why)
		return why;
	nt_memory_init(&add);
	for (size_t i = 0; !why && i < calibration->profiles.entries; i++)
		if (add_profile(&add, &calibration->profiles.entry[i], step, calibration, &where,
				&err) < 0)
			why = err.text;
	/* The program itself may leave nothing: without its hosts no other step finds the place. */
	if (!why && !hosts_alike)
		add_hosts(&add, step, NULL);
	if (!why && nt_store_add(step->ticket->memory, &add, step->now_us / 1000000, &err) < 0)
		why = err.text;
	nt_memory_fini(&add);
	return why;
}

const char *nt_remember_calibration(const struct nt_sum *sum, const struct nt_arguments *arguments,
				    const struct nt_ticket *ticket,
				    const struct nt_calibrated *calibration, bool last)
{
	const struct case_of step = { .arguments = arguments,
				      .ticket = ticket,
				      .now_us = nt_store_now_us(),
				      .fingerprint = strtoull(arguments->fingerprint, NULL, 16) };
	const bool alike = !nt_ranks_alike(sum, arguments->nodes) && hosts_are_alike(&step);
	const char *why = put_calibration(&step, sum, calibration, alike);

	if (!why || last)
		(void)nt_claim_end(ticket->memory, arguments->job, !why, step.now_us / 1000000,
				   NULL);
	return why;
}

/* How long the program's next step that is started like this one will calibrate. */
static double next_calibration_s(const struct case_of *step)
{
	static struct nt_selection selection;
	const struct nt_ticket *ticket = step->ticket;
	const struct nt_selection_paths paths = { .memory = ticket->memory,
						  .site_memory = "",
						  .profiles = NT_SHIPPED_PROFILES,
						  .site_profiles = NT_SITE_PROFILES };
	struct nt_selection_request ask = {
		.launch = NT_LAUNCH_AUTO,
		.nodes = step->arguments->nodes,
		.tasks = step->arguments->tasks,
		.program = ticket->program,
		.now_s = step->now_us / 1000000,
	};
	struct nt_error err;
	char **hosts;
	bool due = false;

	/* The user's own variables are not known here. */
	if (ticket->why == NT_WHY_ASKED || ticket->calibrate_s == 0 || ticket->user_env != 0)
		return 0;
	ask.hosts = hosts = nt_hosts_names(step->arguments->hosts, NT_MEMORY_HOSTS, &err);
	if (nt_selection_open(&selection, &paths, &ask, &err) == 0)
		due = nt_due_next(&selection);
	nt_selection_fini(&selection);
	nt_hosts_free(hosts);
	return due ? ticket->calibrate_s : 0;
}

void nt_step_remember(const struct nt_sum *sum, const struct nt_arguments *arguments,
		      const struct nt_ticket *ticket, const struct nt_calibrated *calibration,
		      struct nt_step_memory *out)
{
	struct case_of step = { .arguments = arguments,
				.ticket = ticket,
				.now_us = nt_store_now_us() };
	struct nt_memory_entry entry;
	struct nt_error err = { "" };
	const char *lost = NULL;
	char why[NT_LEARN_WHY];
	bool evidence;
	int learned;

	memset(out, 0, sizeof(*out));
	step.fingerprint = strtoull(arguments->fingerprint, NULL, 16);
	out->hosts_alike = !nt_ranks_alike(sum, arguments->nodes) && hosts_are_alike(&step);
	if (calibration)
		lost = nt_remember_calibration(sum, arguments, ticket, calibration, true);
	learned = nt_step_entry_make(sum, arguments, ticket, out->hosts_alike, step.now_us, &entry,
				     why, &err);
	/* What the memory has said is not said again: it would never be too old. */
	evidence = why[0] == '\0' && !out->hosts_alike;
	if (learned > 0 && is_full(ticket->memory, arguments->memory_mib)) {
		learned = 0;
		snprintf(why, sizeof(why), "the memory has the size that the site allows");
	}
	if (learned > 0 && store_entry(&step, &entry, evidence, &err) < 0)
		learned = -1;
	nt_entry_fini(&entry);
	out->failed = learned < 0;
	if (learned < 0)
		remark(out, "its measurements could not be remembered", err.text);
	else if (why[0])
		remark(out, "its measurements are not remembered", why);
	else if (lost)
		remark(out, "its calibration is not remembered", lost);
	if (learned > 0)
		look_back(&step, evidence, out);
	if (learned > 0 && !out->remark[0])
		out->next_s = next_calibration_s(&step);
}

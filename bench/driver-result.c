/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/driver-result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/coll.h"
#include "lib/json-writer.h"
#include "launch/entry.h"
#include "record/tray.h"

#define HEAD_MAX (4096 + NT_RACERS * (NT_PROFILE_NAME + 2 * NT_CAL_WHY))
#define DEPTH 4

/* ---- shapes */

/* How many different nodes the members of rank 0's communicator of the calls have, and how many
 * members there are. */
static void shape_of_calls(struct nt_driver_result *result, const struct nt_driver *driver,
			   const unsigned *nodes)
{
	const char *split = driver->request.split, *colon = strchr(split, ':');
	const unsigned number = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 1;
	const bool block = split[0] == 'b', stride = split[0] == 's';
	const unsigned step = stride ? number : 1;

	for (unsigned r = 0; r < (block ? number : result->ranks) && r < result->ranks; r += step) {
		bool seen = false;

		for (unsigned before = 0; before < r && !seen; before += step)
			seen = nodes[before / driver->gpus] == nodes[r / driver->gpus];
		result->call_nodes += !seen;
		result->call_ranks++;
	}
}

void nt_driver_result_init(struct nt_driver_result *result, const struct nt_driver *driver,
			   const unsigned *nodes)
{
	memset(result, 0, sizeof(*result));
	result->ranks = driver->tasks * driver->gpus;
	for (unsigned t = 0; t < driver->tasks; t++) {
		unsigned here = 0, before = 0;

		for (unsigned u = 0; u < driver->tasks; u++) {
			here += nodes[u] == nodes[t];
			before += u < t && nodes[u] == nodes[t];
		}
		result->nodes += before == 0;
		if (here * driver->gpus > result->per_node)
			result->per_node = here * driver->gpus;
	}
	shape_of_calls(result, driver, nodes);
}

void nt_driver_result_add(struct nt_driver_times *times, double p25, double median, double p75,
			  uint64_t samples)
{
	times->p25 += log(p25);
	times->median += log(median);
	times->p75 += log(p75);
	times->samples += samples;
}

/* ---- the file */

/* What a profile's laps have measured: an entry of a memory, without the place's hardware. */
static void fill_entry(struct nt_memory_entry *entry, const struct nt_driver_result *result,
		       const struct nt_driver *driver, const struct nt_race *race, unsigned which)
{
	const struct nt_racer *racer = &race->racer[which];
	const double laps = racer->laps;

	nt_entry_init(entry);
	entry->origin = NT_ORIGIN_CALIBRATE;
	entry->where.nodes = result->nodes;
	entry->where.per_node = result->per_node;
	entry->where.nccl = (uint32_t)result->nccl;
	snprintf(entry->profile, sizeof(entry->profile), "%s",
		 nt_driver_profile(driver, which)->name);
	entry->wrong = racer->state == NT_RACER_WRONG;
	for (unsigned c = 0; c < race->calls && laps > 0 && !entry->wrong; c++) {
		const struct nt_cal_call *call = &driver->request.call[c];
		const struct nt_driver_times *times = &result->times[which][c];
		struct nt_known_key *key = nt_entry_add_key(entry);

		if (!key)
			return;
		*key = (struct nt_known_key){
			.ranks = result->call_ranks,
			.nodes = result->call_nodes,
			.coll = call->coll,
			.bytes = call->bytes,
			.arm = NT_ARM_BASELINE,
			.calls = call->calls,
			.untuned = { exp(times->p25 / laps), exp(times->median / laps),
				     exp(times->p75 / laps), (uint32_t)times->samples },
		};
		entry->laps = racer->laps;
		entry->deviation = racer->deviation;
	}
}

static int print_entry(FILE *out, const struct nt_driver_result *result,
		       const struct nt_driver *driver, const struct nt_race *race, unsigned which)
{
	struct nt_memory_entry entry;
	struct nt_error err;
	int rc;

	fill_entry(&entry, result, driver, race, which);
	rc = nt_entry_name(&entry, &err);
	if (rc == 0 && (entry.keys > 0 || entry.wrong)) {
		rc = nt_entry_print(&entry, out);
		fputc('\n', out);
	}
	nt_entry_fini(&entry);
	return rc;
}

static void put_failed(struct nt_json_writer *put, const struct nt_driver_result *result,
		       const struct nt_driver *driver, const struct nt_race *race)
{
	nt_json_put_open(put, "failed", '{');
	for (unsigned i = 0; i < race->count; i++)
		if (result->failed[i][0])
			nt_json_put_text(put, nt_driver_profile(driver, i)->name,
					 result->failed[i]);
	nt_json_put_close(put);
}

static void put_head(struct nt_json_writer *put, const struct nt_driver_result *result,
		     const struct nt_driver *driver, const struct nt_race *race)
{
	const struct nt_cal_profile *chosen = nt_driver_profile(driver, result->chosen);
	char settings[1024];

	nt_json_put_open(put, NULL, '{');
	nt_json_put_count(put, "v", 1);
	nt_json_put_value(put, "seconds", "%.1f", result->seconds);
	nt_json_put_count(put, "laps", race->laps);
	nt_json_put_count(put, "ranks", result->ranks);
	nt_json_put_count(put, "nodes", result->nodes);
	nt_json_put_count(put, "per_node", result->per_node);
	nt_json_put_count(put, "nccl", (uint64_t)result->nccl);
	nt_json_put_text(put, "library", result->library);
	nt_json_put_text(put, "split", driver->request.split);
	/* Without a result the step keeps what it was given. */
	nt_json_put_text(put, "chosen", result->why[0] ? "" : chosen->name);
	nt_json_put_text(put, "settings",
			 nt_settings_text(&chosen->settings, settings, sizeof(settings)));
	nt_json_put_value(put, "gain", "%.3f", exp(-race->racer[result->chosen].log_ratio));
	nt_json_put_value(put, "deviation", "%.4f", race->racer[result->chosen].error);
	nt_json_put_text(put, "why", result->why);
	nt_json_put_bool(put, "mix", nt_race_knows_mix(race));
	put_failed(put, result, driver, race);
	nt_json_put_close(put);
}

int nt_driver_result_write(const struct nt_driver_result *result, const struct nt_driver *driver,
			   const struct nt_race *race, struct nt_error *err)
{
	char head[HEAD_MAX], *text = NULL;
	struct nt_json_writer put;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc = 0;

	if (!out)
		return nt_error_set(err, "no memory");
	nt_json_put_begin(&put, head, sizeof(head), DEPTH);
	put_head(&put, result, driver, race);
	fprintf(out, "%.*s\n", (int)put.used, head);
	for (unsigned i = 0; rc == 0 && i < race->count; i++)
		rc = print_entry(out, result, driver, race, i);
	if (fclose(out) != 0 || rc < 0 || put.full)
		rc = nt_error_set(err, "no memory");
	if (rc == 0 && nt_tray_leave(NT_CALIBRATE_FD, NT_TRAY_CALIBRATION, "", (uint32_t)getpid(),
				     text, bytes) < 0)
		rc = nt_error_set(err, "the node's memory has no room for it");
	free(text);
	return rc;
}

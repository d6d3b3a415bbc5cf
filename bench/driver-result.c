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
#include "record/tray.h"

#define LINE_MAX (1024 + 256 * NT_CAL_CALLS)
#define TEXT_MAX ((1 + NT_RACERS) * LINE_MAX)
_Static_assert(TEXT_MAX <= NT_TRAY_TEXT, "a tray has room for it");
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

static void put_keys(struct nt_json_writer *put, const struct nt_driver_result *result,
		     const struct nt_driver *driver, const struct nt_race *race, unsigned which)
{
	const double turns = race->racer[which].turns;

	nt_json_put_open(put, "keys", '[');
	for (unsigned c = 0; c < race->calls && turns > 0; c++) {
		const struct nt_cal_call *call = &driver->request.call[c];
		const struct nt_driver_times *times = &result->times[which][c];

		nt_json_put_open(put, NULL, '{');
		nt_json_put_text(put, "coll", nt_coll_name(call->coll));
		nt_json_put_count(put, "bytes", call->bytes);
		nt_json_put_count(put, "ranks", result->call_ranks);
		nt_json_put_count(put, "nodes", result->call_nodes);
		nt_json_put_value(put, "calls", "%.3f", call->weight);
		nt_json_put_value(put, "p25", "%.2f", exp(times->p25 / turns));
		nt_json_put_value(put, "median", "%.2f", exp(times->median / turns));
		nt_json_put_value(put, "p75", "%.2f", exp(times->p75 / turns));
		nt_json_put_count(put, "samples", times->samples);
		nt_json_put_close(put);
	}
	nt_json_put_close(put);
}

static void put_profile(struct nt_json_writer *put, const struct nt_driver_result *result,
			const struct nt_driver *driver, const struct nt_race *race, unsigned which)
{
	const struct nt_cal_profile *profile = nt_driver_profile(driver, which);
	const struct nt_racer *racer = &race->racer[which];
	char settings[1024];

	nt_json_put_open(put, NULL, '{');
	nt_json_put_text(put, "profile", profile->name);
	nt_json_put_text(put, "settings",
			 nt_settings_text(&profile->settings, settings, sizeof(settings)));
	nt_json_put_count(put, "turns", racer->turns);
	nt_json_put_value(put, "deviation", "%.4f", racer->deviation);
	nt_json_put_bool(put, "wrong", racer->state == NT_RACER_WRONG);
	nt_json_put_text(put, "failed", result->failed[which]);
	put_keys(put, result, driver, race, which);
	nt_json_put_close(put);
}

static void put_head(struct nt_json_writer *put, const struct nt_driver_result *result,
		     const struct nt_driver *driver, const struct nt_race *race)
{
	nt_json_put_open(put, NULL, '{');
	nt_json_put_count(put, "v", 1);
	nt_json_put_value(put, "seconds", "%.1f", result->seconds);
	nt_json_put_count(put, "turns", race->turns);
	nt_json_put_count(put, "ranks", result->ranks);
	nt_json_put_count(put, "nodes", result->nodes);
	nt_json_put_count(put, "per_node", result->per_node);
	nt_json_put_count(put, "nccl", (uint64_t)result->nccl);
	nt_json_put_text(put, "library", result->library);
	nt_json_put_text(put, "split", driver->request.split);
	nt_json_put_text(put, "chosen", nt_driver_profile(driver, result->chosen)->name);
	nt_json_put_value(put, "gain", "%.3f", exp(-race->racer[result->chosen].log_ratio));
	nt_json_put_value(put, "deviation", "%.4f", race->racer[result->chosen].error);
	nt_json_put_text(put, "why", result->why);
	nt_json_put_bool(put, "mix", nt_race_knows_mix(race));
	nt_json_put_close(put);
}

/* Lines that are complete, or nothing of a line. */
static size_t end_line(struct nt_json_writer *put, char *at)
{
	if (put->full)
		return 0;
	at[put->used] = '\n';
	return put->used + 1;
}

int nt_driver_result_write(const struct nt_driver_result *result, const struct nt_driver *driver,
			   const struct nt_race *race, struct nt_error *err)
{
	char *text = malloc(TEXT_MAX + 1);
	struct nt_json_writer put;
	size_t used;
	int rc;

	if (!text)
		return nt_error_set(err, "no memory");
	nt_json_put_begin(&put, text, LINE_MAX, DEPTH);
	put_head(&put, result, driver, race);
	used = end_line(&put, text);
	for (unsigned i = 0; i < race->count; i++) {
		if (race->racer[i].turns == 0 && race->racer[i].state < NT_RACER_FAILED)
			continue;
		nt_json_put_begin(&put, text + used, LINE_MAX, DEPTH);
		put_profile(&put, result, driver, race, i);
		used += end_line(&put, text + used);
	}
	rc = nt_tray_leave(NT_CALIBRATE_FD, NT_TRAY_CALIBRATION, "", (uint32_t)getpid(), text,
			   used);
	if (rc < 0)
		nt_error_set(err, "the node's memory has no room for it");
	free(text);
	return rc;
}

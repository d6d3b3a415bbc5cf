/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/profile-worth.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "lib/hex.h"

#define PLACES_MAX 256
#define ITEMS_MAX 1024
#define FASTER_MAX 100.0 /* times; a larger speedup, or one below its inverse, is a mistake */
#define RANK_US_MAX 1e15 /* of a step: 30 years of rank time; a sum has room for thousands */
#define LOG_UNIT 1e9
#define DEFAULT_PROFILE "default"

void nt_speedup_init(struct nt_speedups *speedups)
{
	memset(speedups, 0, sizeof(*speedups));
	nt_names_init(&speedups->place_names, PLACES_MAX);
	nt_names_init(&speedups->item_names, ITEMS_MAX);
}

void nt_speedup_fini(struct nt_speedups *speedups)
{
	nt_names_fini(&speedups->place_names);
	nt_names_fini(&speedups->item_names);
	free(speedups->place);
	free(speedups->item);
	nt_speedup_init(speedups);
}

static struct nt_speedup_place *place_of(struct nt_speedups *speedups,
					 const struct nt_speedup_from *from,
					 const struct nt_step *step)
{
	struct nt_speedup_place *place;
	char name[NT_NAME_BYTES];
	int number;

	snprintf(name, sizeof(name), "%.63s %s %s %" PRId64 " %" PRId64, from->cluster,
		 step->fingerprint, step->fabric, step->nodes, step->per_node);
	number = nt_names_item(&speedups->place_names, name, &speedups->place, sizeof(*place));
	if (number < 0)
		return NULL;
	place = &speedups->place[number];
	snprintf(place->cluster, sizeof(place->cluster), "%s", from->cluster);
	snprintf(place->fingerprint, sizeof(place->fingerprint), "%s", step->fingerprint);
	snprintf(place->fabric, sizeof(place->fabric), "%s", step->fabric);
	place->nodes = step->nodes;
	place->per_node = step->per_node;
	return place;
}

/* Time of the program's own steps on all ranks; 0: not recorded, or more than the job had. */
static int64_t rank_time_of(const struct nt_step *step, int64_t elapsed_s)
{
	double us = step->step_us[1] * (double)step->steps;
	double rank_us = us * (double)(step->nodes * step->per_node);

	if (step->steps < 0 || isnan(us) || us > ((double)elapsed_s * 1.1 + 60) * 1e6 ||
	    rank_us > RANK_US_MAX)
		return 0;
	return (int64_t)rank_us;
}

static void add_voice(struct nt_speedup_item *item, int user, double measured)
{
	size_t i = 0;

	while (i < item->voices && item->voice[i].user != user)
		i++;
	if (i == NT_SPEEDUP_USERS)
		return;
	if (i == item->voices)
		item->voice[item->voices++].user = user;
	item->voice[i].steps++;
	item->voice[i].log_sum += llround(log(measured) * LOG_UNIT);
}

static void add_measured(struct nt_speedups *speedups, const struct nt_speedup_from *from,
			 const struct nt_step *step, size_t place)
{
	struct nt_speedup_item *item;
	char name[NT_NAME_BYTES];
	int number;

	snprintf(name, sizeof(name), "%zu %s", place, step->launch);
	number = nt_names_item(&speedups->item_names, name, &speedups->item, sizeof(*item));
	if (number < 0)
		return;
	item = &speedups->item[number];
	item->place = place;
	snprintf(item->profile, sizeof(item->profile), "%s", step->launch);
	item->least = item->jobs == 0 ? step->measured : fmin(item->least, step->measured);
	item->most = item->jobs == 0 ? step->measured : fmax(item->most, step->measured);
	item->jobs += item->newest_job != from->job;
	item->newest_job = from->job;
	add_voice(item, from->user, step->measured);
}

static bool says_its_place(const struct nt_step *step)
{
	return nt_hex_valid(step->fingerprint, NT_HEX_U64) && step->nodes >= 1 &&
	       step->nodes <= 1 << 20 && step->per_node >= 1 && step->per_node <= 4096;
}

void nt_speedup_add(struct nt_speedups *speedups, const struct nt_speedup_from *from,
		    const struct nt_step *step)
{
	bool is_default = strcmp(step->launch, DEFAULT_PROFILE) == 0;
	bool is_measured = step->measured >= 1 / FASTER_MAX && step->measured <= FASTER_MAX;
	struct nt_speedup_place *place;

	if (!step->launch[0] || !says_its_place(step) || (!is_default && !is_measured))
		return;
	place = place_of(speedups, from, step);
	if (!place)
		return;
	if (is_default) {
		place->default_jobs += place->newest_job != from->job;
		place->newest_job = from->job;
		place->default_us += rank_time_of(step, from->elapsed_s);
	} else {
		add_measured(speedups, from, step, (size_t)(place - speedups->place));
	}
}

double nt_speedup_of(const struct nt_speedup_item *item)
{
	double sum = 0;

	for (size_t i = 0; i < item->voices; i++)
		sum += (double)item->voice[i].log_sum / LOG_UNIT / item->voice[i].steps;
	return exp(sum / (double)item->voices);
}

double nt_speedup_worth_us(const struct nt_speedups *speedups, const struct nt_speedup_item *item)
{
	double speed = nt_speedup_of(item);

	if (item->jobs < NT_SPEEDUP_JOBS)
		return NAN;
	return speed <= 1 ? 0 : (double)speedups->place[item->place].default_us * (1 - 1 / speed);
}

struct ranked {
	double worth_us;
	const struct nt_speedups *speedups;
	const struct nt_speedup_item *item;
};

static int in_order(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	const struct nt_speedup_place *a_place = &a->speedups->place[a->item->place];
	const struct nt_speedup_place *b_place = &b->speedups->place[b->item->place];

	NT_COMPARE(b->worth_us, a->worth_us);
	NT_COMPARE(b->item->jobs, a->item->jobs);
	NT_COMPARE_TEXT(a->item->profile, b->item->profile);
	NT_COMPARE_TEXT(a_place->cluster, b_place->cluster);
	NT_COMPARE_TEXT(a_place->fingerprint, b_place->fingerprint);
	NT_COMPARE_TEXT(a_place->fabric, b_place->fabric);
	NT_COMPARE(a_place->nodes, b_place->nodes);
	NT_COMPARE(a_place->per_node, b_place->per_node);
	return 0;
}

const struct nt_speedup_item **nt_speedup_by_worth(const struct nt_speedups *speedups)
{
	size_t count = speedups->item_names.count;
	const struct nt_speedup_item **items = calloc(count + 1,
						      sizeof(const struct nt_speedup_item *));
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	for (size_t i = 0; items && ranked && i < count; i++) {
		const struct nt_speedup_item *item = &speedups->item[i];
		double worth_us = nt_speedup_worth_us(speedups, item);

		ranked[i] = (struct ranked){ isnan(worth_us) ? -1 : worth_us, speedups, item };
	}
	if (items && ranked && count > 1)
		qsort(ranked, count, sizeof(*ranked), in_order);
	for (size_t i = 0; items && ranked && i < count; i++)
		items[i] = ranked[i].item;
	if (!ranked) {
		free(items);
		items = NULL;
	}
	free(ranked);
	return items;
}

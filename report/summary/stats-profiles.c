/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The expected gain of launch profiles as text: over all places, then place by place. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "lib/table.h"
#include "report/summary/stats-cell.h"

#define PROFILES_MAX 32 /* a site has a dozen */
#define PLACES_SHOWN 10

/* Over all places where enough jobs have measured it. */
struct profile {
	const char *name;
	int64_t places, faster, jobs;
	double least, most; /* speedup at a place */
	double worth_us;
};

static struct profile *profile_of(struct profile *profiles, size_t *count, const char *name)
{
	size_t i = 0;

	while (i < *count && strcmp(profiles[i].name, name) != 0)
		i++;
	if (i == PROFILES_MAX)
		return NULL;
	if (i == *count) {
		memset(&profiles[i], 0, sizeof(profiles[i]));
		profiles[(*count)++].name = name;
	}
	return &profiles[i];
}

static int by_worth(const void *left, const void *right)
{
	const struct profile *a = left, *b = right;

	NT_COMPARE(b->worth_us, a->worth_us);
	return strcmp(a->name, b->name);
}

static size_t add_up(const struct nt_speedups *speedups, const struct nt_speedup_item **items,
		     struct profile *profiles)
{
	size_t count = 0;

	for (size_t i = 0; i < speedups->item_names.count; i++) {
		double worth_us = nt_speedup_worth_us(speedups, items[i]);
		double speed = nt_speedup_of(items[i]);
		struct profile *profile;

		if (isnan(worth_us))
			continue;
		profile = profile_of(profiles, &count, items[i]->profile);
		if (!profile)
			continue;
		profile->least = profile->places ? fmin(profile->least, speed) : speed;
		profile->most = profile->places ? fmax(profile->most, speed) : speed;
		profile->places++;
		profile->faster += speed > 1;
		profile->jobs += items[i]->jobs;
		profile->worth_us += worth_us;
	}
	if (count > 1)
		qsort(profiles, count, sizeof(*profiles), by_worth);
	return count;
}

static void add_worth(struct nt_table *table, double us)
{
	char text[NT_CELL_MAX];

	nt_cell(table, "%s",
		isnan(us) ? "too few" : nt_site_stats_time_text((int64_t)us, text, sizeof(text)));
}

static int print_profiles(FILE *out, const struct profile *profiles, size_t count,
			  struct nt_error *err)
{
	static const char *const columns[] = { "-LAUNCH\nPROFILE", "MEASURED\nBY JOBS", "PLACES",
					       "FASTER\nAT",	   "TIMES\nAS FAST",	"WORTH" };
	struct nt_table table = NT_TABLE(columns, 0);

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct profile *profile = &profiles[i];

		nt_site_stats_name_cell(&table, "", profile->name, 20);
		nt_cell_count(&table, profile->jobs);
		nt_cell_count(&table, profile->places);
		nt_cell_count(&table, profile->faster);
		nt_cell(&table, "%.2f to %.2f", profile->least, profile->most);
		add_worth(&table, profile->worth_us);
	}
	fputc('\n', out);
	return nt_table_print(out, &table, err);
}

static void add_item(struct nt_table *table, const struct nt_speedups *speedups,
		     const struct nt_speedup_item *item)
{
	const struct nt_speedup_place *place = &speedups->place[item->place];

	nt_site_stats_name_cell(table, "", item->profile, 16);
	nt_site_stats_name_cell(table, "", place->fingerprint, 16);
	nt_cell(table, "%" PRId64 "x%" PRId64 " %s", place->nodes, place->per_node, place->fabric);
	nt_cell(table, "%" PRId64 "/%zu%s", item->jobs, item->voices,
		item->voices == NT_SPEEDUP_USERS ? "+" : "");
	nt_cell_decimal(table, nt_speedup_of(item), 2);
	add_worth(table, nt_speedup_worth_us(speedups, item));
}

static int print_by_place(FILE *out, const struct nt_speedups *speedups,
			  const struct nt_speedup_item **items, struct nt_error *err)
{
	static const char *const columns[] = {
		"-LAUNCH\nPROFILE",	   "-FINGERPRINT",   "-NODES x RANKS,\nNETWORK",
		"MEASURED BY\nJOBS/USERS", "TIMES\nAS FAST", "WORTH"
	};
	struct nt_table table = NT_TABLE(columns, 0);
	size_t count = speedups->item_names.count;

	fputc('\n', out);
	for (size_t i = 0; i < count && i < PLACES_SHOWN; i++)
		add_item(&table, speedups, items[i]);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	if (count > PLACES_SHOWN)
		fprintf(out, "... and %zu more (--json or --csv has all)\n", count - PLACES_SHOWN);
	return 0;
}

int nt_site_stats_profiles_text(FILE *out, const struct nt_speedups *speedups, struct nt_error *err)
{
	const struct nt_speedup_item **items = nt_speedup_by_worth(speedups);
	struct profile profiles[PROFILES_MAX];
	int rc = 0;

	if (!items)
		return nt_error_set(err, "no memory for the summary");
	if (speedups->item_names.count == 0) {
		fputs("\nNo job has measured a launch profile (--nccl-tune=bandit,launch=auto does).\n",
		      out);
	} else {
		fprintf(out,
			"\nLaunch profiles, by programs whose own steps were timed with and without one.\n"
			"Worth: time that jobs without it would have saved there, shown if at least %d\n"
			"jobs have measured it. A place is a cluster, fingerprint, network, number of\n"
			"nodes and ranks per node.\n",
			NT_SPEEDUP_JOBS);
		rc = print_profiles(out, profiles, add_up(speedups, items, profiles), err);
		if (rc == 0)
			rc = print_by_place(out, speedups, items, err);
	}
	free(items);
	return rc;
}

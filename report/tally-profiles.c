/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What launch profiles would be worth, as text: each over all places, then place by place. */
#include "report/tally-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/table.h"
#include "report/tally-cell.h"

#define PROFILES_MAX 32 /* a site has a dozen */
#define PLACES_SHOWN 10

/* One over all places where enough jobs have measured it. */
struct profile {
	const char *name;
	int64_t places, faster, jobs;
	double least, most; /* times as fast, of places */
	double worth_us;
};

/* One at a place. */
struct line {
	const struct nt_speedups *speedups;
	const struct nt_speedup_item *item;
};

/* ---- cells */

#define PROFILE(row) ((const struct profile *)(row))
#define LINE(row) ((const struct line *)(row))

static const struct nt_speedup_place *place_of(const void *line)
{
	return &LINE(line)->speedups->place[LINE(line)->item->place];
}

static void print_name(char *cell, const void *row)
{
	nt_tally_name_cell(cell, "", PROFILE(row)->name, 20);
}

static void print_places(char *cell, const void *row)
{
	nt_cell_count(cell, PROFILE(row)->places);
}

static void print_faster(char *cell, const void *row)
{
	nt_cell_count(cell, PROFILE(row)->faster);
}

static void print_jobs(char *cell, const void *row)
{
	nt_cell_count(cell, PROFILE(row)->jobs);
}

static void print_range(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%.2f to %.2f", PROFILE(row)->least, PROFILE(row)->most);
}

static void print_worth(char *cell, const void *row)
{
	nt_tally_time_cell(cell, (int64_t)PROFILE(row)->worth_us);
}

static void print_line_name(char *cell, const void *line)
{
	nt_tally_name_cell(cell, "", LINE(line)->item->profile, 16);
}

static void print_fingerprint(char *cell, const void *line)
{
	nt_tally_name_cell(cell, "", place_of(line)->fingerprint, 16);
}

static void print_place(char *cell, const void *line)
{
	const struct nt_speedup_place *place = place_of(line);

	snprintf(cell, NT_CELL_MAX, "%" PRId64 "x%" PRId64 " %s", place->nodes, place->per_node,
		 place->fabric);
}

static void print_measured(char *cell, const void *line)
{
	const struct nt_speedup_item *item = LINE(line)->item;

	snprintf(cell, NT_CELL_MAX, "%" PRId64 "/%zu%s", item->jobs, item->voices,
		 item->voices == NT_SPEEDUP_USERS ? "+" : "");
}

static void print_speed(char *cell, const void *line)
{
	nt_cell_decimal(cell, nt_speedup_of(LINE(line)->item), 2);
}

static void print_line_worth(char *cell, const void *line)
{
	double us = nt_speedup_worth_us(LINE(line)->speedups, LINE(line)->item);

	if (isnan(us))
		snprintf(cell, NT_CELL_MAX, "too few");
	else
		nt_tally_time_cell(cell, (int64_t)us);
}

/* ---- tables */

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
	int order = (a->worth_us < b->worth_us) - (a->worth_us > b->worth_us);

	return order ? order : strcmp(a->name, b->name);
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

static int print_profiles(FILE *out, const struct profile *profiles, size_t count,
			  struct nt_error *err)
{
	static const struct nt_column columns[] = {
		{ { "LAUNCH", "PROFILE" }, true, print_name },
		{ { "MEASURED", "BY JOBS" }, false, print_jobs },
		{ { "", "PLACES" }, false, print_places },
		{ { "FASTER", "AT" }, false, print_faster },
		{ { "TIMES", "AS FAST" }, false, print_range },
		{ { "", "WORTH" }, false, print_worth },
	};
	const struct nt_table table = { columns, sizeof(columns) / sizeof(columns[0]),
					sizeof(struct profile), 0 };

	if (count == 0)
		return 0;
	fputc('\n', out);
	return nt_table_print(out, &table, profiles, count, err);
}

static int print_by_place(FILE *out, const struct nt_speedups *speedups,
			  const struct nt_speedup_item **items, struct nt_error *err)
{
	static const struct nt_column columns[] = {
		{ { "LAUNCH", "PROFILE" }, true, print_line_name },
		{ { "", "FINGERPRINT" }, true, print_fingerprint },
		{ { "NODES x RANKS,", "NETWORK" }, true, print_place },
		{ { "MEASURED BY", "JOBS/USERS" }, false, print_measured },
		{ { "TIMES", "AS FAST" }, false, print_speed },
		{ { "", "WORTH" }, false, print_line_worth },
	};
	const struct nt_table table = { columns, sizeof(columns) / sizeof(columns[0]),
					sizeof(struct line), 0 };
	size_t count = speedups->item_names.count;
	struct line lines[PLACES_SHOWN];

	fputc('\n', out);
	for (size_t i = 0; i < count && i < PLACES_SHOWN; i++)
		lines[i] = (struct line){ speedups, items[i] };
	if (nt_table_print(out, &table, lines, count < PLACES_SHOWN ? count : PLACES_SHOWN, err) <
	    0)
		return -1;
	if (count > PLACES_SHOWN)
		fprintf(out, "... and %zu more (--json or --csv has all)\n", count - PLACES_SHOWN);
	return 0;
}

int nt_tally_profiles_text(FILE *out, const struct nt_speedups *speedups, struct nt_error *err)
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
			"\nLaunch profiles, by jobs whose own steps were timed with and without one.\n"
			"Worth: what jobs without it took there, less what they would have taken; said\n"
			"where %d jobs or more have measured. A place is a cluster, fingerprint, network,\n"
			"number of nodes and of ranks on each.\n",
			NT_SPEEDUP_JOBS);
		rc = print_profiles(out, profiles, add_up(speedups, items, profiles), err);
		if (rc == 0)
			rc = print_by_place(out, speedups, items, err);
	}
	free(items);
	return rc;
}

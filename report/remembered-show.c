/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered, place by place. */
#include "report/remembered.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/compare.h"
#include "launch/choose.h"
#include "launch/store.h"
#include "launch/why.h"
#include "record/printable.h"
#include "report/table.h"

/* A profile at a place. */
struct row {
	const char *profile;
	unsigned entries, jobs;
	const struct nt_memory_entry *newest;
	const struct nt_weighed *weighed; /* NULL: the default, or no such profile any more */
	int64_t now_s;
};

struct showing {
	const struct nt_remembered_ask *ask;
	FILE *out;
	struct nt_memory user, site;
	struct nt_profiles profiles;
	struct nt_launch_choice choice;
};

static double test(const float *base, const float *arm, unsigned count)
{
	return nt_compare_p(base, arm, count);
}

/* ---- cells */

static void print_profile(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", ((const struct row *)row)->profile);
}

static void print_entries(char *cell, const void *row)
{
	nt_cell_count(cell, ((const struct row *)row)->entries);
}

static void print_origin(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s%s",
		 nt_origin_name((int)((const struct row *)row)->newest->origin),
		 ((const struct row *)row)->newest->candidate ? " (tried)" : "");
}

static void print_step(char *cell, const void *row)
{
	const struct nt_memory_entry *newest = ((const struct row *)row)->newest;

	if (newest->origin == NT_ORIGIN_IMPORT)
		snprintf(cell, NT_CELL_MAX, "-");
	else
		snprintf(cell, NT_CELL_MAX, "%" PRIu32 ".%" PRIu32, newest->job, newest->step);
}

static void print_age(char *cell, const void *row)
{
	const struct row *r = row;
	int64_t age_s = r->now_s - r->newest->when_s;

	if (age_s < 2 * 3600)
		snprintf(cell, NT_CELL_MAX, "%" PRId64 " min", age_s < 0 ? 0 : age_s / 60);
	else if (age_s < 2 * 86400)
		snprintf(cell, NT_CELL_MAX, "%" PRId64 " h", age_s / 3600);
	else
		snprintf(cell, NT_CELL_MAX, "%" PRId64 " d", age_s / 86400);
}

static void print_keys(char *cell, const void *row)
{
	nt_cell_count(cell, ((const struct row *)row)->newest->keys);
}

static int by_value(const void *left, const void *right)
{
	const float *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The median period of the step marker. */
static void print_marker(char *cell, const void *row)
{
	const struct nt_memory_entry *newest = ((const struct row *)row)->newest;
	float periods[NT_ENTRY_PERIODS];

	snprintf(cell, NT_CELL_MAX, "-");
	if (newest->marker_coll < 0 || newest->periods == 0)
		return;
	memcpy(periods, newest->period_us, newest->periods * sizeof(periods[0]));
	qsort(periods, newest->periods, sizeof(periods[0]), by_value);
	nt_duration_text((double)periods[newest->periods / 2] / 1000, cell, NT_CELL_MAX);
}

static void print_ratio(char *cell, const void *row)
{
	const struct nt_weighed *weighed = ((const struct row *)row)->weighed;

	nt_cell_decimal(cell, weighed && weighed->weight.known ? 1 / weighed->weight.ratio : NAN,
			2);
}

static void print_p(char *cell, const void *row)
{
	const struct nt_weighed *weighed = ((const struct row *)row)->weighed;

	nt_cell_share(cell, weighed && weighed->weight.known ? weighed->weight.p : NAN);
}

static void print_trust(char *cell, const void *row)
{
	const struct nt_weighed *weighed = ((const struct row *)row)->weighed;

	snprintf(cell, NT_CELL_MAX, "%s",
		 weighed ? nt_trust_name((int)weighed->standing.trust) : "-");
}

static const struct nt_column columns[] = {
	{ { "", "profile" }, true, print_profile },
	{ { "", "entries" }, false, print_entries },
	{ { "the", "newest" }, true, print_origin },
	{ { "", "step" }, true, print_step },
	{ { "", "age" }, false, print_age },
	{ { "", "sizes" }, false, print_keys },
	{ { "step", "marker" }, false, print_marker },
	{ { "times", "as fast" }, false, print_ratio },
	{ { "", "p" }, false, print_p },
	{ { "", "trust" }, true, print_trust },
};

/* ---- places */

static bool equal_places(const struct nt_where *a, const struct nt_where *b)
{
	return a->fingerprint == b->fingerprint && a->nodes == b->nodes &&
	       a->per_node == b->per_node && a->nccl == b->nccl && a->fabric == b->fabric &&
	       a->own == b->own && strcmp(a->driver, b->driver) == 0;
}

static bool is_asked_for(const struct nt_remembered_ask *ask, const struct nt_memory_entry *entry)
{
	return (ask->fingerprint == 0 || ask->fingerprint == entry->where.fingerprint) &&
	       (!ask->profile || strcmp(ask->profile, entry->profile) == 0);
}

static const struct nt_weighed *weighed_of(const struct nt_launch_choice *choice,
					   const char *profile)
{
	for (unsigned i = 0; i < choice->count; i++)
		if (strcmp(choice->weighed[i].profile->name, profile) == 0)
			return &choice->weighed[i];
	return NULL;
}

static void add_row(const struct showing *s, struct row *rows, size_t *count,
		    const struct nt_memory_entry *entry)
{
	size_t at = 0;

	while (at < *count && strcmp(rows[at].profile, entry->profile) != 0)
		at++;
	if (at == *count)
		rows[(*count)++] = (struct row){
			.profile = entry->profile,
			.weighed = weighed_of(&s->choice, entry->profile),
			.now_s = s->ask->now_s,
		};
	rows[at].entries++;
	if (!rows[at].newest || entry->when_s >= rows[at].newest->when_s)
		rows[at].newest = entry;
}

static void print_place(FILE *out, const struct nt_where *where)
{
	fprintf(out, "%016" PRIx64 ": %" PRIu32 " x %" PRIu32 ", network %s, NCCL ",
		where->fingerprint, where->nodes, where->per_node,
		where->fabric == NT_FABRIC_ANY ? "unknown" : nt_fabric_name((int)where->fabric));
	if (where->nccl > 0)
		fprintf(out, "%u.%u.%u", where->nccl / 10000, where->nccl / 100 % 100,
			where->nccl % 100);
	else
		fputs("unknown", out);
	fprintf(out, ", driver %s%s\n", where->driver[0] ? where->driver : "unknown",
		where->own ? ", with NCCL variables of the user's" : "");
}

/* What the first step of a new job there gets. */
static int choose_at(struct showing *s, const struct nt_where *where, struct nt_launch_case *launch,
		     struct nt_error *err)
{
	struct nt_launch_limits limits;

	*launch = (struct nt_launch_case){
		.memory = { NULL, &s->user, &s->site },
		.profiles = &s->profiles,
		.where = *where,
		.array_task = -1,
		.now_s = s->ask->now_s,
	};
	nt_launch_limits_default(&limits);
	limits.feel.test = test;
	if (nt_choose(launch, &limits, &s->choice) < 0)
		return nt_error_set(err, "no memory");
	return 0;
}

static void print_reasons(const struct showing *s, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nt_weighed *weighed = rows[i].weighed;

		if (weighed && weighed != s->choice.chosen)
			fprintf(s->out, "  not %s: %s\n", rows[i].profile,
				nt_why_text((int)weighed->why));
		else if (!weighed && strcmp(rows[i].profile, NT_PROFILE_DEFAULT) != 0)
			fprintf(s->out, "  not %s: there is no such profile for this network\n",
				rows[i].profile);
	}
}

static int show_place(struct showing *s, const struct nt_where *where, struct nt_error *err)
{
	const struct nt_table table = { columns, sizeof(columns) / sizeof(columns[0]),
					sizeof(struct row), 2 };
	struct row *rows = calloc(s->user.entries, sizeof(rows[0]));
	struct nt_launch_case launch;
	char text[256];
	size_t count = 0;
	int rc = -1;

	if (!rows)
		return nt_error_set(err, "no memory");
	if (choose_at(s, where, &launch, err) < 0)
		goto out;
	for (size_t i = 0; i < s->user.entries; i++)
		if (equal_places(&s->user.entry[i].where, where) &&
		    is_asked_for(s->ask, &s->user.entry[i]))
			add_row(s, rows, &count, &s->user.entry[i]);
	print_place(s->out, where);
	rc = nt_table_print(s->out, &table, rows, count, err);
	if (rc == 0) {
		fprintf(s->out, "  A new job: %s\n",
			nt_choice_text(&s->choice, &launch, text, sizeof(text)));
		print_reasons(s, rows, count);
	}
out:
	free(rows);
	return rc;
}

static bool seen_before(const struct showing *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_asked_for(s->ask, &s->user.entry[i]) &&
		    equal_places(&s->user.entry[i].where, &s->user.entry[at].where))
			return true;
	return false;
}

static int show_places(struct showing *s, struct nt_error *err)
{
	struct nt_shown shown;
	unsigned places = 0;

	fprintf(s->out, "%s: %zu entries in %u files, %zu hosts\n",
		nt_shown(&shown, s->ask->directory), s->user.entries, s->user.files, s->user.hosts);
	if (s->user.skipped_lines + s->user.skipped_files > 0)
		fprintf(s->out, "left out: %u lines and %u files that were not understood\n",
			s->user.skipped_lines, s->user.skipped_files);
	for (size_t i = 0; i < s->user.entries; i++) {
		if (!is_asked_for(s->ask, &s->user.entry[i]) || seen_before(s, i))
			continue;
		fputc('\n', s->out);
		if (show_place(s, &s->user.entry[i].where, err) < 0)
			return -1;
		places++;
	}
	if (places == 0)
		fputs("nothing is remembered\n", s->out);
	return 0;
}

int nt_remembered_show(const struct nt_remembered_ask *ask, FILE *out, struct nt_error *err)
{
	struct showing *s = calloc(1, sizeof(*s));
	int rc = -1;

	if (!s)
		return nt_error_set(err, "no memory");
	s->ask = ask;
	s->out = out;
	if (nt_places_profiles(&ask->places, &s->profiles, err) == 0 &&
	    nt_places_read_site(&ask->places, &s->site, ask->now_s, err) == 0 &&
	    nt_store_read(ask->directory, &s->user, ask->now_s, err) == 0)
		rc = show_places(s, err);
	nt_memory_fini(&s->user);
	nt_memory_fini(&s->site);
	free(s);
	return rc;
}

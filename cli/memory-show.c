/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune memory show: what is remembered, place by place. */
#include "cli/memory-forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"
#include "launch/select.h"
#include "launch/memory-store.h"
#include "launch/select-text.h"
#include "lib/printable.h"
#include "lib/table.h"

/* A profile at a place. */
struct profile_row {
	const char *profile;
	unsigned entries, laps;
	const struct nt_memory_entry *newest;
	const struct nt_candidate *candidate; /* NULL: the default, or the profile is gone */
};

struct showing {
	const struct nt_remembered_ask *ask;
	FILE *out;
	struct nt_memory user, site;
	struct nt_profiles profiles;
	struct nt_launch_choice choice;
};

static const char *const columns[] = { "-profile",     "entries",	"-the\nnewest", "-step",
				       "age",	       "sizes",		"step\nmarker", "laps",
				       "deviation\n%", "times\nas fast" };

static void add_age(struct nt_table *table, int64_t age_s)
{
	if (age_s < 2 * 3600)
		nt_cell(table, "%" PRId64 " min", age_s < 0 ? 0 : age_s / 60);
	else if (age_s < 2 * 86400)
		nt_cell(table, "%" PRId64 " h", age_s / 3600);
	else
		nt_cell(table, "%" PRId64 " d", age_s / 86400);
}

/* The median period of the step marker. */
static void add_marker(struct nt_table *table, const struct nt_memory_entry *entry)
{
	char text[NT_CELL_MAX] = "-";

	if (entry->marker_coll >= 0 && entry->periods > 0)
		nt_duration_text(nt_entry_period_us(entry) / 1000, text, sizeof(text));
	nt_cell(table, "%s", text);
}

static void add_cells(struct nt_table *table, const struct profile_row *row, int64_t now_s)
{
	const struct nt_memory_entry *newest = row->newest;
	const struct nt_candidate *candidate = row->candidate;
	const bool known = candidate && candidate->known;

	nt_cell(table, "%s", row->profile);
	nt_cell_count(table, row->entries);
	nt_cell(table, "%s%s", nt_origin_name((int)newest->origin),
		newest->asked ? " (asked for)" : "");
	nt_cell(table, "%" PRIu32 ".%" PRIu32, newest->job, newest->step);
	add_age(table, now_s - newest->when_s);
	nt_cell_count(table, newest->keys);
	add_marker(table, newest);
	nt_cell_count(table, row->laps);
	nt_cell_decimal(table, newest->laps > 1 ? 100 * newest->deviation : NAN, 1);
	nt_cell_decimal(table, known ? 1 / candidate->ratio : NAN, 2);
}

/* ---- places */

static bool equal_places(const struct nt_where *a, const struct nt_where *b)
{
	return a->fingerprint == b->fingerprint && a->nodes == b->nodes &&
	       a->per_node == b->per_node && a->nccl == b->nccl && a->fabric == b->fabric &&
	       a->user_env == b->user_env && strcmp(a->driver, b->driver) == 0;
}

static void add_row(const struct showing *s, struct profile_row *rows, size_t *count,
		    const struct nt_memory_entry *entry)
{
	size_t at = 0;

	while (at < *count && strcmp(rows[at].profile, entry->profile) != 0)
		at++;
	if (at == *count)
		rows[(*count)++] = (struct profile_row){
			.profile = entry->profile,
			.candidate = nt_choice_find(&s->choice, entry->profile),
		};
	rows[at].entries++;
	rows[at].laps += entry->laps;
	if (!rows[at].newest || entry->when_s >= rows[at].newest->when_s)
		rows[at].newest = entry;
}

static void print_place(FILE *out, const struct nt_where *where)
{
	fprintf(out, "%016" PRIx64 ": %" PRIu32 " x %" PRIu32 ", network %s, NCCL ",
		where->fingerprint, where->nodes, where->per_node,
		where->fabric == NT_FABRIC_ANY ? "unknown" : nt_fabric_name((int)where->fabric));
	if (where->nccl > 0)
		fprintf(out, NT_NCCL_TEXT, NT_NCCL_PARTS(where->nccl));
	else
		fputs("unknown", out);
	fprintf(out, ", driver %s%s\n", where->driver[0] ? where->driver : "unknown",
		where->user_env ? ", with NCCL variables set by the user" : "");
}

static void print_reasons(const struct showing *s, const struct profile_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nt_candidate *candidate = rows[i].candidate;

		if (candidate && candidate != s->choice.chosen)
			fprintf(s->out, "  not %s: %s\n", rows[i].profile,
				nt_why_text((int)candidate->why));
		else if (!candidate && strcmp(rows[i].profile, NT_PROFILE_DEFAULT) != 0)
			fprintf(s->out, "  not %s: there is no such profile for this network\n",
				rows[i].profile);
	}
}

static int show_place(struct showing *s, const struct nt_where *where, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 2);
	struct profile_row *rows = calloc(s->user.entries, sizeof(rows[0]));
	/* The first step of a new job there. */
	const struct nt_launch_case launch = { .memory = { &s->user, &s->site },
					       .profiles = &s->profiles,
					       .where = *where };
	char text[256];
	size_t count = 0;
	int rc;

	if (!rows)
		return nt_error_set(err, "no memory");
	nt_profile_select(&launch, &s->choice);
	for (size_t i = 0; i < s->user.entries; i++)
		if (equal_places(&s->user.entry[i].where, where) &&
		    nt_remembered_takes(s->ask, &s->user.entry[i]))
			add_row(s, rows, &count, &s->user.entry[i]);
	print_place(s->out, where);
	for (size_t i = 0; i < count; i++)
		add_cells(&table, &rows[i], s->ask->now_s);
	rc = nt_table_print(s->out, &table, err);
	if (rc == 0) {
		fprintf(s->out, "  A new job: %s\n",
			nt_choice_text(&s->choice, &launch, text, sizeof(text)));
		print_reasons(s, rows, count);
	}
	free(rows);
	return rc;
}

static bool seen_before(const struct showing *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (nt_remembered_takes(s->ask, &s->user.entry[i]) &&
		    equal_places(&s->user.entry[i].where, &s->user.entry[at].where))
			return true;
	return false;
}

/* All entries, whatever the request. */
static size_t count_entries(const struct nt_memory *memory)
{
	const struct nt_remembered_ask all = { .file = NULL };
	size_t count = 0;

	for (size_t i = 0; i < memory->entries; i++)
		count += nt_remembered_takes(&all, &memory->entry[i]);
	return count;
}

static int show_places(struct showing *s, struct nt_error *err)
{
	struct nt_shown shown;
	const size_t entries = count_entries(&s->user);
	const unsigned lines = s->user.skipped_lines, files = s->user.skipped_files;
	unsigned places = 0;

	fprintf(s->out, "%s: %zu entr%s in %u file%s, %zu host%s\n",
		nt_shown(&shown, s->ask->directory), entries, entries == 1 ? "y" : "ies",
		s->user.files, nt_plural(s->user.files), s->user.hosts, nt_plural(s->user.hosts));
	if (lines + files > 0)
		fprintf(s->out, "ignored: %u line%s and %u file%s that cannot be parsed\n", lines,
			nt_plural(lines), files, nt_plural(files));
	for (size_t i = 0; i < s->user.entries; i++) {
		if (!nt_remembered_takes(s->ask, &s->user.entry[i]) || seen_before(s, i))
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
	if (nt_launch_paths_profiles(&ask->paths, &s->profiles, err) == 0 &&
	    nt_launch_paths_read_site(&ask->paths, &s->site, ask->now_s, err) == 0 &&
	    nt_store_read(ask->directory, &s->user, ask->now_s, err) == 0)
		rc = show_places(s, err);
	nt_memory_fini(&s->user);
	nt_memory_fini(&s->site);
	free(s);
	return rc;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/two-jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/array.h"
#include "lib/table.h"
#include "lib/wrap.h"
#include "record/row-time.h"
#include "report/text/words.h"

#define NO_COLL -1 /* the step itself */

/* A step or a collective of one size; members of two are for the two jobs. */
struct nt_two_row {
	size_t step; /* its order in the job */
	int coll;
	int64_t bytes, ranks, nodes;
	char family[160];
	bool has[2];
	double us[2], own_us[2]; /* to the next call, the call's own; NAN: not known */
	char used[2][128];
};

static const char *const columns[] = { "-STEP OR CALL", "SIZE", "TIME us\nA", "TIME us\nB",
				       "CHANGE\n%" };

static bool same(const struct nt_two_row *a, const struct nt_two_row *b)
{
	return a->step == b->step && a->coll == b->coll && a->bytes == b->bytes &&
	       a->ranks == b->ranks && a->nodes == b->nodes && strcmp(a->family, b->family) == 0;
}

/* Behind the last row of its step, unless the other job has it. */
static int add_row(struct nt_two_jobs *two, int side, const struct nt_two_row *row,
		   struct nt_error *err)
{
	struct nt_two_row *rows;
	size_t at;

	for (size_t i = 0; i < two->count; i++) {
		struct nt_two_row *other = &two->rows[i];

		if (other->has[side] || !same(other, row))
			continue;
		other->has[side] = true;
		other->us[side] = row->us[side];
		other->own_us[side] = row->own_us[side];
		memcpy(other->used[side], row->used[side], sizeof(other->used[side]));
		return 0;
	}
	if (!nt_array_add(&two->rows, &two->count, SIZE_MAX, sizeof(*two->rows)))
		return nt_error_set(err, "no memory to compare the jobs");
	rows = two->rows;
	for (at = two->count - 1; at > 0 && rows[at - 1].step > row->step; at--)
		rows[at] = rows[at - 1];
	rows[at] = *row;
	return 0;
}

static int add_step(struct nt_two_jobs *two, int side, size_t order, const struct nt_step *step,
		    struct nt_error *err)
{
	struct nt_two_row row = { .step = order, .coll = NO_COLL };

	row.has[side] = true;
	row.us[side] = row.own_us[side] = step->step_us[1];
	snprintf(row.used[side], sizeof(row.used[side]), "step %.20s, launch profile %.64s",
		 step->name, step->launch[0] ? step->launch : "none");
	return add_row(two, side, &row, err);
}

static int add_call(struct nt_two_jobs *two, int side, size_t order,
		    const struct nt_summary *summary, const struct nt_key *key,
		    struct nt_error *err)
{
	const enum nt_which which = nt_row_in_force(key);
	const int arm = key->arm != NT_ARM_BASELINE ? key->arm : key->auto_arm;
	struct nt_two_row row = { .step = order,
				  .coll = key->coll,
				  .bytes = key->bytes,
				  .ranks = key->ranks,
				  .nodes = key->nodes };
	char words[96];

	nt_family_words(&summary->families[key->family], row.family, sizeof(row.family));
	row.has[side] = true;
	row.us[side] = key->us[which];
	row.own_us[side] = key->own_us[which];
	if (arm == NT_ARM_BASELINE)
		snprintf(row.used[side], sizeof(row.used[side]), "NCCL's choice");
	else
		snprintf(row.used[side], sizeof(row.used[side]), "%s%s",
			 nt_arm_words(arm, words, sizeof(words)),
			 nt_row_is_tuned(key) ? "" : " (NCCL's choice)");
	return add_row(two, side, &row, err);
}

int nt_two_jobs_add(struct nt_two_jobs *two, int side, const struct nt_summary *summary,
		    struct nt_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < summary->step_count; i++) {
		rc = add_step(two, side, i, &summary->steps[i], err);
		for (size_t k = 0; rc == 0 && k < summary->row_count; k++) {
			if (summary->rows[k].step == i)
				rc = add_call(two, side, i, summary, &summary->rows[k], err);
		}
	}
	return rc;
}

/* ---- print */

static void add_times(struct nt_table *table, const struct nt_two_row *row)
{
	const bool own = !(row->has[0] && isnan(row->own_us[0])) &&
			 !(row->has[1] && isnan(row->own_us[1]));
	const double *us = own ? row->own_us : row->us;

	for (int i = 0; i < 2; i++)
		nt_cell_us(table, row->has[i] ? us[i] : NAN, own ? "" : "*");
	if (row->has[0] && row->has[1] && us[0] > 0 && !isnan(us[1]))
		nt_cell(table, "%+.1f", 100 * (us[1] / us[0] - 1));
	else
		nt_cell(table, "-");
}

static void add_used(struct nt_table *table, const struct nt_two_row *row)
{
	const char *none = row->coll == NO_COLL ? "no such step" : "not called";
	const char *a = row->has[0] ? row->used[0] : none, *b = row->has[1] ? row->used[1] : none;
	char text[280];

	if (strcmp(a, b) == 0)
		snprintf(text, sizeof(text), "both: %s", a);
	else
		snprintf(text, sizeof(text), "A: %s; B: %s", a, b);
	nt_table_note(table, "    ", 4, text);
}

int nt_two_jobs_print(FILE *out, const struct nt_two_jobs *two, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 0);
	const char *family = "";
	char text[168], size[24];

	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < two->count; i++) {
		const struct nt_two_row *row = &two->rows[i];

		if (row->coll == NO_COLL) {
			nt_cell(&table, "Program's own step");
			nt_cell(&table, "%s", "");
		} else {
			snprintf(text, sizeof(text), "%s:", row->family);
			if (strcmp(row->family, family) != 0)
				nt_table_note(&table, "", 2, text);
			nt_cell(&table, "%s", nt_coll_name(row->coll));
			nt_cell(&table, "%s", nt_size_text((size_t)row->bytes, size, sizeof(size)));
		}
		family = row->family;
		add_times(&table, row);
		add_used(&table, row);
	}
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	nt_wrap(out, "", 0,
		"TIME: median of the program's own step, or of a call with the choice in use; *: from "
		"its start to the start of the next call. Jobs with the same settings can differ, too.");
	return 0;
}

void nt_two_jobs_fini(struct nt_two_jobs *two)
{
	free(two->rows);
	*two = (struct nt_two_jobs){ NULL, 0 };
}

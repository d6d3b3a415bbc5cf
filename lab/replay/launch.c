/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - compare cells that were measured with several sets of launch variables */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include "lab/replay/replay.h"

static bool is_default(const struct nt_replay_row *row)
{
	return !row->launch[0] || strcmp(row->launch, "none") == 0;
}

static bool same_cell(const struct nt_replay_row *a, const struct nt_replay_row *b)
{
	return a->bytes == b->bytes && strcmp(a->collective, b->collective) == 0 &&
	       strcmp(a->topology, b->topology) == 0 && strcmp(a->mode, b->mode) == 0;
}

/* The same cell without launch variables; NULL: not measured. */
static const struct nt_replay_row *default_of(const struct nt_replay_rows *rows,
					      const struct nt_replay_row *row)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (is_default(&rows->row[i]) && same_cell(&rows->row[i], row))
			return &rows->row[i];
	}
	return NULL;
}

static bool is_first_of_set(const struct nt_replay_rows *rows, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (strcmp(rows->row[i].launch, rows->row[at].launch) == 0)
			return false;
	}
	return true;
}

static void print_set(FILE *out, const struct nt_replay_rows *rows, const char *launch)
{
	fprintf(out, "  %s:", *launch ? launch : "none");
	for (size_t i = 0; i < rows->count; i++) {
		const struct nt_replay_row *row = &rows->row[i], *without;
		char size[24];

		without = strcmp(row->launch, launch) == 0 ? default_of(rows, row) : NULL;
		if (without)
			fprintf(out, " %s %s %.2f", row->topology,
				nt_size_text(row->bytes, size, sizeof(size)),
				without->auto_us / row->chosen_us);
	}
	fprintf(out, "\n");
}

void nt_replay_print_launch(FILE *out, const struct nt_replay_rows *rows)
{
	bool several = false;

	for (size_t i = 1; i < rows->count; i++)
		several |= strcmp(rows->row[i].launch, rows->row[0].launch) != 0;
	if (!several)
		return;
	fprintf(out,
		"launch variables, and times as fast as NCCL's default with the chosen arms:\n");
	for (size_t i = 0; i < rows->count; i++) {
		if (is_first_of_set(rows, i))
			print_set(out, rows, rows->row[i].launch);
	}
}

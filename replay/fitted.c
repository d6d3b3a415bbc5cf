/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/fitted.h"

#include <json.h>
#include <string.h>
#include "engine/fit.h"

struct fits {
	struct nt_fit arm[NT_SOURCE_ARMS];
};

static void take(const struct fits *fits, uint64_t bytes, double us[NT_SOURCE_ARMS])
{
	for (unsigned arm = 0; arm < NT_SOURCE_ARMS; arm++)
		us[arm] = nt_fit_us(&fits->arm[arm], bytes);
}

/* Equal except for the size. */
static bool is_neighbour(const struct nt_trace_row *a, const struct nt_trace_row *b)
{
	struct nt_trace_row moved = *a;

	moved.bytes = b->bytes;
	return a->bytes != b->bytes && nt_trace_same_cell(&moved, b);
}

void nt_fitted_trace(const struct nt_trace *trace, unsigned at, double us[NT_SOURCE_ARMS])
{
	const struct nt_trace_row *cell = &trace->row[at];
	struct fits fits = { .arm = { { .count = 0 } } };
	struct nt_source source;

	for (unsigned i = 0; i < trace->rows; i++) {
		if (!is_neighbour(cell, &trace->row[i]) || !nt_source_starts(trace, i))
			continue;
		nt_source_init(&source, trace, NULL, i);
		for (unsigned arm = 0; arm < NT_SOURCE_ARMS; arm++)
			nt_fit_add(&fits.arm[arm], cell->bytes, trace->row[i].bytes,
				   source.median_us[arm]);
	}
	take(&fits, cell->bytes, us);
}

static void add_arm(struct fits *fits, uint64_t bytes, const struct nt_explored *explored,
		    json_object *object)
{
	struct nt_explored_arm arm;
	int pair;

	nt_fields_clear(&nt_explored_arm_fields, &arm);
	if (nt_fields_read(&nt_explored_arm_fields, object, &arm, NT_READ_TO_SHOW, NULL) < 0)
		return;
	pair = arm.arm == NT_ARM_BASELINE ? explored->auto_arm : arm.arm;
	if (pair >= 0 && pair < NT_PAIRS)
		nt_fit_add(&fits->arm[pair], bytes, (uint64_t)explored->bytes, arm.us);
}

void nt_fitted_record(const struct nt_rank *rank, const struct nt_comm_seen *comm,
		      const struct nt_key *key, double us[NT_SOURCE_ARMS])
{
	const size_t count = rank->explored ? json_object_array_length(rank->explored) : 0;
	struct fits fits = { .arm = { { .count = 0 } } };

	for (size_t i = 0; i < count; i++) {
		struct nt_explored e = { .coll = -1 };

		if (nt_fields_read(&nt_explored_fields,
				   json_object_array_get_idx(rank->explored, i), &e,
				   NT_READ_TO_SHOW, NULL) < 0 ||
		    strcmp(e.id, comm->id) != 0 || e.coll != key->coll || e.bytes == key->bytes)
			continue;
		for (size_t a = 0; a < json_object_array_length(e.arm_array); a++)
			add_arm(&fits, (uint64_t)key->bytes, &e,
				json_object_array_get_idx(e.arm_array, a));
	}
	take(&fits, (uint64_t)key->bytes, us);
	if (key->auto_arm >= 0 && key->auto_arm < NT_PAIRS)
		us[NT_PAIRS] = us[key->auto_arm];
}

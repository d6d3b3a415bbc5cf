/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/explored.h"

#include <inttypes.h>
#include "contract/coll.h"
#include "lib/plural.h"
#include "record/rank.h"
#include "record/read.h"
#include "lib/table.h"

#define MOST_ARMS 64

static const char *const columns[] = { "-CHOICE", "TO NEXT\nCALL us", "TO NEXT\np25 us",
				       "SAM-\nPLES" };

static int print_table(FILE *out, const struct nt_explored_arm *m, size_t count,
		       struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 4);

	for (size_t i = 0; i < count; i++) {
		nt_cell(&table, "%s", nt_arm_name(m[i].arm));
		nt_cell_decimal(&table, m[i].us, 1);
		nt_cell_decimal(&table, m[i].p25_us, 1);
		nt_cell_count(&table, m[i].samples);
	}
	return nt_table_print(out, &table, err);
}

static int read_arms(const struct nt_explored *e, struct nt_explored_arm *m, size_t *count,
		     struct nt_error *err)
{
	*count = json_object_array_length(e->arm_array);
	if (*count > MOST_ARMS)
		return nt_error_set(err, "%zu arms (want at most %d)", *count, MOST_ARMS);
	for (size_t i = 0; i < *count; i++) {
		if (nt_fields_read_item(&nt_explored_arm_fields, e->arm_array, i, &m[i],
					NT_READ_TO_SHOW, err) < 0)
			return -1;
	}
	return 0;
}

static int print_one(FILE *out, json_object *object, struct nt_error *err)
{
	struct nt_explored e = { .coll = -1 };
	struct nt_explored_arm m[MOST_ARMS];
	char size[24];
	size_t count;

	if (nt_fields_read(&nt_explored_fields, object, &e, NT_READ_TO_SHOW, err) < 0 ||
	    read_arms(&e, m, &count, err) < 0)
		return -1;
	fprintf(out,
		"  explored on %s (%" PRId64 " rank%s, %" PRId64
		" node%s): %s %s, NCCL's choice is %s, used is %s\n",
		e.id, e.ranks, nt_plural(e.ranks), e.nodes, nt_plural(e.nodes),
		nt_coll_name(e.coll), nt_size_text((size_t)e.bytes, size, sizeof(size)),
		nt_arm_name(e.auto_arm), nt_arm_name(e.arm));
	return count == 0 ? 0 : print_table(out, m, count, err);
}

int nt_explored_print(FILE *out, json_object *array, struct nt_error *err)
{
	size_t count = array ? json_object_array_length(array) : 0;
	struct nt_error inner;

	for (size_t i = 0; i < count; i++) {
		if (print_one(out, json_object_array_get_idx(array, i), &inner) < 0)
			return nt_error_set(err, "explored %zu: %.120s", i, inner.text);
	}
	return 0;
}

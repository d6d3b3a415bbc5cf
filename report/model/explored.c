/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* explored.c - see explored.h */
#include "report/model/explored.h"

#include <inttypes.h>
#include <math.h>
#include "contract/coll.h"
#include "record/rank.h"
#include "record/read.h"
#include "lib/table.h"

#define MOST_ARMS 64
#define CLEARLY 1.03 /* more than two medians of a few calls differ by chance */

static const char *const columns[] = {
	"-ARM",	     "PREDICTED\nus", "MEASURED\nus", "MEASURED/\nPREDICTED", "MEASURED\np25 us",
	"SAM-\nPLES"
};

static int print_table(FILE *out, const struct nt_explored_arm *m, size_t count,
		       struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 4);

	for (size_t i = 0; i < count; i++) {
		nt_cell(&table, "%s", nt_arm_name(m[i].arm));
		nt_cell_decimal(&table, m[i].predicted_us, 1);
		nt_cell_decimal(&table, m[i].us, 1);
		nt_cell_decimal(&table, m[i].predicted_us > 0 ? m[i].us / m[i].predicted_us : NAN,
				2);
		nt_cell_decimal(&table, m[i].p25_us, 1);
		nt_cell_count(&table, m[i].samples);
	}
	return nt_table_print(out, &table, err);
}

/* "1.8 times slower", "1.2 times faster", "as fast" */
static const char *ratio_text(double ratio, char *out, size_t out_bytes)
{
	if (ratio >= CLEARLY)
		snprintf(out, out_bytes, "%.2f times slower", ratio);
	else if (ratio <= 1 / CLEARLY)
		snprintf(out, out_bytes, "%.2f times faster", 1 / ratio);
	else
		snprintf(out, out_bytes, "as fast");
	return out;
}

/* Predictions of two arms against their times: costs need not be times for NCCL's pick to be right,
 * so only their ratios count. Returns how far apart the two ratios are; at least 1. */
static double error_of(const struct nt_explored_arm *m, const struct nt_explored_arm *base,
		       double *predicted, double *us)
{
	*predicted = m->predicted_us / base->predicted_us;
	*us = m->us / base->us;
	return *us > *predicted ? *us / *predicted : *predicted / *us;
}

static void print_model(FILE *out, const struct nt_explored *e, const struct nt_explored_arm *m,
			size_t count)
{
	const struct nt_explored_arm *worst = NULL;
	double predicted, us, least = CLEARLY;
	char said[40], was[40];
	bool inverted = false;

	for (size_t i = 1; i < count; i++) {
		double error = m[i].predicted_us > 0 && m[i].us > 0
				       ? error_of(&m[i], &m[0], &predicted, &us)
				       : 0;
		bool wrong_way = error > 0 && us * CLEARLY < 1 && predicted >= 1;

		/* That a faster arm was called slower is what costs time; other errors only
		 * where there is none. */
		if (error < CLEARLY || (inverted && !wrong_way) ||
		    (inverted == wrong_way && error < least))
			continue;
		inverted = wrong_way;
		least = error;
		worst = &m[i];
	}
	if (!worst) {
		fprintf(out, "    NCCL's model is right about these arms\n");
		return;
	}
	least = error_of(worst, &m[0], &predicted, &us);
	fprintf(out,
		"    NCCL's model: %s predicted %s than %s, measured %s: wrong by a factor of %.2f\n",
		nt_arm_name(worst->arm), ratio_text(predicted, said, sizeof(said)),
		nt_arm_name(e->auto_arm), ratio_text(us, was, sizeof(was)), least);
}

static int read_arms(const struct nt_explored *e, struct nt_explored_arm *m, size_t *count,
		     struct nt_error *err)
{
	*count = json_object_array_length(e->arm_array);
	if (*count > MOST_ARMS)
		return nt_error_set(err, "%zu arms (want at most %d)", *count, MOST_ARMS);
	for (size_t i = 0; i < *count; i++) {
		nt_fields_clear(&nt_explored_arm_fields, &m[i]);
		if (nt_fields_read(&nt_explored_arm_fields,
				   json_object_array_get_idx(e->arm_array, i), &m[i],
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
		" node%s): %s %s, NCCL picks %s, used is %s\n",
		e.id, e.ranks, e.ranks == 1 ? "" : "s", e.nodes, e.nodes == 1 ? "" : "s",
		nt_coll_name(e.coll), nt_size_text((size_t)e.bytes, size, sizeof(size)),
		nt_arm_name(e.auto_arm), nt_arm_name(e.arm));
	if (count == 0)
		return 0;
	if (print_table(out, m, count, err) < 0)
		return -1;
	if (m[0].arm == NT_ARM_BASELINE && m[0].predicted_us > 0 && m[0].us > 0)
		print_model(out, &e, m, count);
	return 0;
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

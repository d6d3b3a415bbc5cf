/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate-table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/compare.h"
#include "lib/table.h"

#define LABEL "                    " /* as wide as "AllReduce 256K 16r2n" */
#define CELL_LEAST 7

struct cells {
	struct nt_table *table;
	const struct nt_calibration *calibration;
	struct nt_scope scope; /* all entries of the calibration */
};

static bool same_key(const struct nt_mix_key *a, const struct nt_mix_key *b)
{
	return a->coll == b->coll && nt_band(a->bytes) == nt_band(b->bytes) &&
	       a->shape.ranks == b->shape.ranks && a->shape.nodes == b->shape.nodes;
}

static int by_shape(const void *left, const void *right)
{
	const struct nt_mix_key *a = left, *b = right;

	NT_COMPARE(a->shape.ranks, b->shape.ranks);
	NT_COMPARE(a->shape.nodes, b->shape.nodes);
	NT_COMPARE(a->coll, b->coll);
	NT_COMPARE(a->bytes, b->bytes);
	return 0;
}

/* All keys that were measured with any profile, in order. */
static void list_keys(const struct nt_memory *run, struct nt_mix *keys)
{
	struct nt_mix mix;

	keys->count = 0;
	for (size_t i = 0; i < run->entries; i++) {
		nt_mix_of(&run->entry[i], &mix);
		for (unsigned j = 0; j < mix.count; j++) {
			unsigned k = 0;

			while (k < keys->count && !same_key(&keys->key[k], &mix.key[j]))
				k++;
			if (k == keys->count && k < NT_ENTRY_KEYS)
				keys->key[keys->count++] = mix.key[j];
		}
	}
	qsort(keys->key, keys->count, sizeof(keys->key[0]), by_shape);
}

/* The median of the default's best arm, from the newest entry that has it; NAN if none has. */
static double default_us(const struct cells *cells, const struct nt_mix_key *key)
{
	double us = NAN;

	for (size_t i = 0; i < cells->scope.memory->entries; i++) {
		const struct nt_memory_entry *entry = &cells->scope.memory->entry[i];

		if (strcmp(entry->profile, NT_PROFILE_DEFAULT) != 0)
			continue;
		for (unsigned j = 0; j < entry->keys; j++) {
			const struct nt_known_key *known = &entry->key[j];
			const struct nt_quantiles *of = nt_key_times(known);
			struct nt_mix_key same = { .shape = nt_key_shape(known, &entry->where),
						   .coll = known->coll,
						   .bytes = known->bytes };

			if (of->samples > 0 && same_key(&same, key))
				us = of->median_us;
		}
	}
	return us;
}

/* How many times as fast at this key, "-" where it was not measured. */
static int add_ratio(const struct cells *cells, unsigned which, const struct nt_mix_key *key)
{
	const struct nt_mix one = { .count = 1, .key = { *key } };
	struct nt_mix_cost cost;

	if (nt_mix_cost(&cells->scope, cells->calibration->contender[which].name, &one, &cost) < 0)
		return -1;
	nt_cell_decimal(cells->table, cost.known && cost.measured > 0 ? 1 / cost.ratio : NAN, 2);
	return 0;
}

static int add_key(const struct cells *cells, const struct nt_mix_key *key)
{
	char size[32], shape[32] = "";
	double us = default_us(cells, key);

	/* The benchmark's own messages between ranks are not measured. */
	if (isnan(us))
		return 0;
	if (key->shape.ranks > 0)
		snprintf(shape, sizeof(shape), " %" PRIu32 "r%" PRIu32 "n", key->shape.ranks,
			 key->shape.nodes);
	nt_cell(cells->table, "%s %s%s", nt_coll_name(key->coll),
		nt_size_text(key->bytes, size, sizeof(size)), shape);
	nt_cell_decimal(cells->table, us, 1);
	for (unsigned i = 1; i < cells->calibration->count; i++)
		if (add_ratio(cells, i, key) < 0)
			return -1;
	return 0;
}

static void add_sums(const struct cells *cells, bool mix_known)
{
	const struct nt_calibration *calibration = cells->calibration;
	struct nt_table *table = cells->table;

	nt_cell(table, "%s", mix_known ? "this job's mix" : "all sizes alike");
	nt_cell(table, "%s", "");
	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_mix_cost *cost = &calibration->contender[i].cost;

		nt_cell_decimal(table, cost->known ? 1 / cost->ratio : NAN, 2);
	}
	nt_cell(table, "p");
	nt_cell(table, "%s", "");
	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_mix_cost *cost = &calibration->contender[i].cost;

		nt_cell_share(table, cost->known ? cost->p : NAN);
	}
	nt_cell(table, "steps");
	for (unsigned i = 0; i < calibration->count; i++)
		nt_cell_count(table, calibration->contender[i].runs);
}

static const char *fate_of(const struct nt_contender *contender)
{
	if (contender->state == NT_CONTENDER_WRONG)
		return "wrong";
	if (contender->state == NT_CONTENDER_FAILED)
		return "failed";
	if (contender->state == NT_CONTENDER_BEATEN)
		return "gave up";
	return contender->runs > 0 ? "" : "no time";
}

static void add_fates(const struct cells *cells)
{
	const struct nt_calibration *calibration = cells->calibration;
	bool any = false;

	for (unsigned i = 1; i < calibration->count; i++)
		any = any || fate_of(&calibration->contender[i])[0] != '\0';
	if (!any)
		return;
	nt_cell(cells->table, "%s", "");
	for (unsigned i = 0; i < calibration->count; i++)
		nt_cell(cells->table, "%s", i > 0 ? fate_of(&calibration->contender[i]) : "");
}

static int add_keys(const struct cells *cells)
{
	struct nt_mix *keys = calloc(1, sizeof(*keys));
	int rc = keys ? 0 : -1;

	if (rc == 0)
		list_keys(cells->scope.memory, keys);
	for (unsigned i = 0; rc == 0 && i < keys->count; i++)
		rc = add_key(cells, &keys->key[i]);
	free(keys);
	return rc;
}

int nt_caltable_print(FILE *out, const struct nt_calibration *calibration,
		      const struct nt_memory *run, const struct nt_where *where,
		      const struct nt_mix *mix, int64_t now_s)
{
	char heads[NT_CALIBRATION_MAX][NT_PROFILE_NAME + 16];
	const char *columns[1 + NT_CALIBRATION_MAX] = { "-" LABEL };
	struct nt_table table = NT_TABLE(columns, 0);
	const struct cells cells = { &table,
				     calibration,
				     { .memory = run, .where = where, .now_s = now_s } };

	table.column_count = 1 + calibration->count;
	for (unsigned i = 0; i < calibration->count; i++) {
		snprintf(heads[i], sizeof(heads[i]), "%*s\n%s", CELL_LEAST,
			 calibration->contender[i].name, i == 0 ? "us" : "x");
		columns[1 + i] = heads[i];
	}
	if (add_keys(&cells) < 0) {
		nt_table_fini(&table);
		return -1;
	}
	add_sums(&cells, mix != NULL);
	add_fates(&cells);
	return nt_table_print(out, &table, NULL);
}

void nt_caltable_cost(FILE *out, const struct nt_calibration *calibration, unsigned chosen,
		      double spent_s)
{
	const struct nt_mix_cost *cost = &calibration->contender[chosen].cost;
	char spent[32], pays[32];

	nt_duration_text(spent_s * 1000, spent, sizeof(spent));
	if (chosen == 0 || !cost->known || cost->ratio >= 1) {
		fprintf(out, "It took %s%s.\n", spent,
			chosen == 0 ? "; later steps start with NCCL's own settings" : "");
		return;
	}
	nt_duration_text(1000 * spent_s / (1 - cost->ratio), pays, sizeof(pays));
	fprintf(out,
		"It took %s. It pays off in steps that spend %s or more in collectives with "
		"NCCL's default settings.\n",
		spent, pays);
}

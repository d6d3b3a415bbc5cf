/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The table at the end of a calibration. */
#include "report/caltable.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "report/table.h"

#define LABEL 20
#define WIDTH_LEAST 9

struct cells {
	FILE *out;
	const struct nt_calibration *calibration;
	const struct nt_memory *run;
	const struct nt_where *where;
	int64_t now_s;
};

static int width_of(const struct nt_contender *contender)
{
	int width = (int)strlen(contender->name) + 2;

	return width > WIDTH_LEAST ? width : WIDTH_LEAST;
}

static bool same_key(const struct nt_mix_key *a, const struct nt_mix_key *b)
{
	return a->coll == b->coll && nt_band(a->bytes) == nt_band(b->bytes) &&
	       a->shape.ranks == b->shape.ranks && a->shape.nodes == b->shape.nodes;
}

static int by_shape(const void *left, const void *right)
{
	const struct nt_mix_key *a = left, *b = right;

	if (a->shape.ranks != b->shape.ranks)
		return a->shape.ranks < b->shape.ranks ? -1 : 1;
	if (a->shape.nodes != b->shape.nodes)
		return a->shape.nodes < b->shape.nodes ? -1 : 1;
	if (a->coll != b->coll)
		return a->coll < b->coll ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* All that was called under any profile, in order. */
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

/* The median of the default's best arm in its newest entry that has one; NAN without. */
static double default_us(const struct cells *cells, const struct nt_mix_key *key)
{
	double us = NAN;

	for (size_t i = 0; i < cells->run->entries; i++) {
		const struct nt_memory_entry *entry = &cells->run->entry[i];

		if (strcmp(entry->profile, NT_PROFILE_DEFAULT) != 0)
			continue;
		for (unsigned j = 0; j < entry->keys; j++) {
			const struct nt_known_key *known = &entry->key[j];
			const struct nt_quantiles *of = known->best.samples > 0 ? &known->best
										: &known->untuned;
			struct nt_mix_key same = { .shape = nt_key_shape(known, &entry->where),
						   .coll = known->coll,
						   .bytes = known->bytes };

			if (of->samples > 0 && same_key(&same, key))
				us = of->median_us;
		}
	}
	return us;
}

static void print_cell(const struct cells *cells, unsigned which, const char *text)
{
	fprintf(cells->out, "%*s", width_of(&cells->calibration->contender[which]), text);
}

static void print_head(const struct cells *cells)
{
	fprintf(cells->out, "%-*s", LABEL, "");
	for (unsigned i = 0; i < cells->calibration->count; i++)
		print_cell(cells, i, cells->calibration->contender[i].name);
	fprintf(cells->out, "\n%-*s", LABEL, "");
	for (unsigned i = 0; i < cells->calibration->count; i++)
		print_cell(cells, i, i == 0 ? "us" : "x");
	fputc('\n', cells->out);
}

/* How many times as fast at this key, "-" where it was not measured. */
static int print_ratio(const struct cells *cells, unsigned which, const struct nt_mix_key *key)
{
	const struct nt_mix one = { .count = 1, .key = { *key } };
	char cell[NT_CELL_MAX];
	struct nt_weight weight;

	if (nt_weigh(cells->run, cells->where, NT_NEAR_SAME, false,
		     cells->calibration->contender[which].name, &one, cells->now_s, &weight) < 0)
		return -1;
	nt_cell_decimal(cell, weight.known && weight.measured > 0 ? 1 / weight.ratio : NAN, 2);
	print_cell(cells, which, cell);
	return 0;
}

static int print_key(const struct cells *cells, const struct nt_mix_key *key)
{
	char size[32], label[80], cell[NT_CELL_MAX];
	double us = default_us(cells, key);

	/* What the benchmark tells its ranks now and then was not to be measured. */
	if (isnan(us))
		return 0;
	nt_size_text(key->bytes, size, sizeof(size));
	if (key->shape.ranks > 0)
		snprintf(label, sizeof(label), "%s %s %" PRIu32 "r%" PRIu32 "n",
			 nt_coll_name(key->coll), size, key->shape.ranks, key->shape.nodes);
	else
		snprintf(label, sizeof(label), "%s %s", nt_coll_name(key->coll), size);
	fprintf(cells->out, "%-*s", LABEL, label);
	nt_cell_decimal(cell, us, 1);
	print_cell(cells, 0, cell);
	for (unsigned i = 1; i < cells->calibration->count; i++)
		if (print_ratio(cells, i, key) < 0)
			return -1;
	fputc('\n', cells->out);
	return 0;
}

static void print_sums(const struct cells *cells, bool mix_known)
{
	const struct nt_calibration *calibration = cells->calibration;
	char cell[NT_CELL_MAX];

	fprintf(cells->out, "%-*s", LABEL, mix_known ? "this job's mix" : "all sizes alike");
	print_cell(cells, 0, "");
	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_weight *weight = &calibration->contender[i].weight;

		nt_cell_decimal(cell, weight->known ? 1 / weight->ratio : NAN, 2);
		print_cell(cells, i, cell);
	}
	fprintf(cells->out, "\n%-*s", LABEL, "p");
	print_cell(cells, 0, "");
	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_weight *weight = &calibration->contender[i].weight;

		nt_cell_share(cell, weight->known ? weight->p : NAN);
		print_cell(cells, i, cell);
	}
	fprintf(cells->out, "\n%-*s", LABEL, "steps");
	for (unsigned i = 0; i < calibration->count; i++) {
		nt_cell_count(cell, calibration->contender[i].runs);
		print_cell(cells, i, cell);
	}
	fputc('\n', cells->out);
}

static const char *fate_of(const struct nt_contender *contender)
{
	if (contender->state == NT_CONTENDER_FAILED)
		return "failed";
	if (contender->state == NT_CONTENDER_BEATEN)
		return "given up";
	return contender->runs > 0 ? "" : "no time";
}

static void print_fates(const struct cells *cells)
{
	const struct nt_calibration *calibration = cells->calibration;
	bool any = false;

	for (unsigned i = 1; i < calibration->count; i++)
		any = any || fate_of(&calibration->contender[i])[0] != '\0';
	if (!any)
		return;
	fprintf(cells->out, "%-*s", LABEL, "");
	for (unsigned i = 0; i < calibration->count; i++)
		print_cell(cells, i, i > 0 ? fate_of(&calibration->contender[i]) : "");
	fputc('\n', cells->out);
}

int nt_caltable_print(FILE *out, const struct nt_calibration *calibration,
		      const struct nt_memory *run, const struct nt_where *where,
		      const struct nt_mix *mix, int64_t now_s)
{
	const struct cells cells = { out, calibration, run, where, now_s };
	struct nt_mix *keys = calloc(1, sizeof(*keys));
	int rc = keys ? 0 : -1;

	if (rc == 0) {
		list_keys(run, keys);
		print_head(&cells);
	}
	for (unsigned i = 0; rc == 0 && i < keys->count; i++)
		rc = print_key(&cells, &keys->key[i]);
	if (rc == 0) {
		print_sums(&cells, mix != NULL);
		print_fates(&cells);
	}
	free(keys);
	return rc;
}

void nt_caltable_cost(FILE *out, const struct nt_calibration *calibration, unsigned chosen,
		      double spent_s)
{
	const struct nt_weight *weight = &calibration->contender[chosen].weight;
	char spent[32], pays[32];

	nt_duration_text(spent_s * 1000, spent, sizeof(spent));
	if (chosen == 0 || !weight->known || weight->ratio >= 1) {
		fprintf(out, "It took %s%s.\n", spent,
			chosen == 0 ? ", and later steps go on as without it" : "");
		return;
	}
	nt_duration_text(1000 * spent_s / (1 - weight->ratio), pays, sizeof(pays));
	fprintf(out,
		"It took %s. That is won back by steps that would spend %s in collectives with "
		"NCCL's default.\n",
		spent, pays);
}

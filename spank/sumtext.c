/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a step's communicators, written as the step's record. */
#include "spank/sumtext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/policy.h"
#include "record/rank.h"
#include "record/step.h"

#define ROWS_MAX 64 /* more never fit */
#define WHYS_MAX 8

/* A key of all communicators of one shape. */
struct row {
	int64_t ranks, nodes;
	struct nt_sum_key key;
	int64_t calls; /* of the communicator whose word key is */
};

struct why {
	char text[176];
	int64_t ranks, nodes;
	size_t count;
};

struct table {
	struct row *rows;
	size_t row_count, row_total;
	struct why whys[WHYS_MAX];
	size_t why_count, why_total;
};

/* NAN stands for nothing: what is known is kept. */
static double add(double left, double right)
{
	if (isnan(left))
		return right;
	return isnan(right) ? left : left + right;
}

static int64_t add_count(int64_t left, int64_t right)
{
	if (left < 0)
		return right;
	return right < 0 ? left : left + right;
}

static bool firmer(const struct nt_sum_key *key, const struct row *row)
{
	if (key->state != row->key.state)
		return key->state > row->key.state;
	return key->calls > row->calls;
}

static void merge_row(struct row *row, const struct nt_sum_key *key)
{
	struct nt_sum_key sum = firmer(key, row) ? *key : row->key;

	if (firmer(key, row))
		row->calls = key->calls;
	sum.calls = add_count(row->key.calls, key->calls);
	sum.spent_calls = add_count(row->key.spent_calls, key->spent_calls);
	sum.spent_ms = add(row->key.spent_ms, key->spent_ms);
	sum.rechecks = add_count(row->key.rechecks, key->rechecks);
	sum.rollbacks = add_count(row->key.rollbacks, key->rollbacks);
	sum.saved_ms = add(row->key.saved_ms, key->saved_ms);
	row->key = sum;
}

static void add_row(struct table *table, const struct nt_sum_comm *comm,
		    const struct nt_sum_key *key)
{
	struct row *row;

	if (key->state == NT_SUM_COUNTED)
		return;
	for (size_t i = 0; i < table->row_count; i++) {
		row = &table->rows[i];
		if (row->ranks == comm->ranks && row->nodes == comm->nodes &&
		    row->key.coll == key->coll && row->key.bytes == key->bytes) {
			merge_row(row, key);
			return;
		}
	}
	row = &table->rows[table->row_count++];
	row->ranks = comm->ranks;
	row->nodes = comm->nodes;
	row->key = *key;
	row->calls = key->calls;
}

static void add_why(struct table *table, int64_t ranks, int64_t nodes, const char *text)
{
	struct why *why;

	for (size_t i = 0; i < table->why_count; i++) {
		why = &table->whys[i];
		if (why->ranks == ranks && why->nodes == nodes && strcmp(why->text, text) == 0) {
			why->count++;
			return;
		}
	}
	table->why_total++;
	if (table->why_count == WHYS_MAX)
		return;
	why = &table->whys[table->why_count++];
	snprintf(why->text, sizeof(why->text), "%s", text);
	why->ranks = ranks;
	why->nodes = nodes;
	why->count = 1;
}

/* Braces are counted by who checks a record: nt_step_check(). */
static void without_braces(char *text)
{
	for (; *text; text++) {
		if (*text == '{' || *text == '}')
			*text = *text == '{' ? '(' : ')';
	}
}

static void add_step_whys(struct table *table, const struct nt_sum *sum,
			  const struct nt_sum_head *head)
{
	char text[176];

	for (size_t i = 0; i < NT_STEP_WHYS; i++) {
		if (head->flags & nt_step_whys[i].flag)
			add_why(table, 0, 0, nt_step_whys[i].text);
	}
	if (sum->unusable == 1)
		add_why(table, 0, 0, sum->unusable_why);
	if (sum->unusable > 1) {
		snprintf(text, sizeof(text), "%zu rank records, %.120s", sum->unusable,
			 sum->unusable_why);
		add_why(table, 0, 0, text);
	}
}

static void add_comm_why(struct table *table, const struct nt_sum_comm *comm, bool final)
{
	if (comm->why[0])
		add_why(table, comm->ranks, comm->nodes, comm->why);
	else if (comm->rejected)
		add_why(table, comm->ranks, comm->nodes, "its ranks do not match");
	else if (comm->joining && final)
		add_why(table, comm->ranks, comm->nodes, "its ranks were not all seen");
}

/* The keys that nothing was tried of, since they take too little of the time. */
static void add_unworthy(struct table *table, const struct nt_sum_comm *comm)
{
	const struct nt_sum_key *first = NULL;
	char text[176], size[24], more[32] = "";
	size_t count = 0;

	for (size_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].reason == NT_REASON_UNWORTHY && count++ == 0)
			first = &comm->keys[k];
	}
	if (!first)
		return;
	if (count > 1)
		snprintf(more, sizeof(more), " and %zu more", count - 1);
	snprintf(text, sizeof(text), "%s %s%s: %s", nt_coll_name(first->coll),
		 nt_size_text((size_t)first->bytes, size, sizeof(size)), more, NT_KEYWHY_UNWORTHY);
	add_why(table, comm->ranks, comm->nodes, text);
}

static double at_stake(const struct row *row)
{
	return isnan(row->key.saved_ms) ? 0 : fabs(row->key.saved_ms);
}

/* What must not be left out comes first: decisions, then the time that is at stake, then the
 * calls. */
static int compare_worth(const void *left, const void *right)
{
	const struct row *a = left;
	const struct row *b = right;

	if (a->key.state != b->key.state)
		return a->key.state > b->key.state ? -1 : 1;
	if (at_stake(a) < at_stake(b) || at_stake(a) > at_stake(b))
		return at_stake(a) > at_stake(b) ? -1 : 1;
	if (a->key.calls != b->key.calls)
		return a->key.calls > b->key.calls ? -1 : 1;
	return 0;
}

static int order(int64_t left, int64_t right)
{
	return (left > right) - (left < right);
}

static int compare_place(const void *left, const void *right)
{
	const struct row *a = left;
	const struct row *b = right;
	int rc = -order(a->ranks, b->ranks);

	if (rc == 0)
		rc = order(a->nodes, b->nodes);
	if (rc == 0)
		rc = order(a->key.coll, b->key.coll);
	return rc ? rc : order(a->key.bytes, b->key.bytes);
}

static int compare_all(const void *left, const void *right)
{
	int rc = compare_worth(left, right);

	return rc ? rc : compare_place(left, right);
}

/* In percent of AUTO's median. */
static double gain_of(const struct nt_sum_key *key)
{
	return key->auto_us > 0 ? 100 * (key->auto_us - key->arm_us) / key->auto_us : NAN;
}

static void put_row(struct nt_put *put, const struct row *row)
{
	const struct nt_sum_key *key = &row->key;
	bool committed = key->state == NT_SUM_COMMITTED && key->arm >= 0;
	bool compared = !isnan(key->auto_us) && !isnan(key->arm_us) &&
			key->state != NT_SUM_EXPLORING;
	struct nt_row entry;

	nt_fields_clear(&nt_row_fields, &entry);
	entry.coll = key->coll;
	entry.bytes = (size_t)key->bytes;
	entry.auto_arm = key->auto_arm >= 0 ? key->auto_arm : NT_ARM_AUTO;
	entry.arm = committed ? key->arm : NT_ARM_AUTO;
	entry.auto_us = key->auto_us;
	entry.arm_us = compared ? key->arm_us : NAN;
	entry.gain_percent = compared ? gain_of(key) : NAN;
	entry.auto_own_us = key->own_us[0];
	entry.arm_own_us = compared ? key->own_us[1] : NAN;
	entry.auto_period_us = key->period_us[0];
	entry.arm_period_us = compared ? key->period_us[1] : NAN;
	entry.p = key->p;
	entry.samples = key->samples;
	entry.calls = key->calls;
	entry.spent_calls = key->spent_calls;
	entry.rechecks = key->rechecks;
	entry.rollbacks = key->rollbacks;
	entry.spent_ms = key->spent_ms;
	entry.saved_ms = key->saved_ms;
	nt_step_put_row(put, &entry);
}

/* rows are in the order of their places. */
static void put_rows(struct nt_put *put, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool first = i == 0 || rows[i].ranks != rows[i - 1].ranks ||
			     rows[i].nodes != rows[i - 1].nodes;

		if (first && i > 0)
			nt_put_close(put);
		if (first)
			nt_step_open_shape(put, rows[i].ranks, rows[i].nodes);
		put_row(put, &rows[i]);
	}
	if (count > 0)
		nt_put_close(put);
}

static void put_why(struct nt_put *put, const struct why *why)
{
	char shape[96], text[sizeof(why->text) + sizeof(shape)];

	snprintf(text, sizeof(text), "%s%s",
		 nt_step_why_shape(why->ranks, why->nodes, (int64_t)why->count, shape,
				   sizeof(shape)),
		 why->text);
	nt_put_text(put, NULL, text);
}

static void put_whys(struct nt_put *put, const struct table *table)
{
	if (table->why_count == 0)
		return;
	nt_put_open(put, NT_STEP_WHY, '[');
	for (size_t i = 0; i < table->why_count; i++)
		put_why(put, &table->whys[i]);
	nt_put_close(put);
}

static void note_ticket(struct nt_step *step, const struct nt_ticket *ticket)
{
	snprintf(step->launch, sizeof(step->launch), "%s", ticket->profile);
	nt_settings_text(&ticket->settings, step->set, sizeof(step->set));
	snprintf(step->left, sizeof(step->left), "%s", ticket->left);
	snprintf(step->from, sizeof(step->from), "%s%s",
		 ticket->calibration ? "part of a calibration: " : "",
		 ticket->from[0] ? ticket->from : nt_why_text((int)ticket->why));
	without_braces(step->from);
	if (ticket->expected > 0)
		step->expected = ticket->expected;
}

static void note_place(struct nt_step *step, const struct nt_where *where,
		       const struct nt_ticket *ticket)
{
	snprintf(step->fingerprint, sizeof(step->fingerprint), "%016" PRIx64, where->fingerprint);
	if (where->fabric != NT_FABRIC_ANY)
		snprintf(step->fabric, sizeof(step->fabric), "%s",
			 nt_fabric_name((int)where->fabric));
	snprintf(step->driver, sizeof(step->driver), "%s", where->driver);
	if (where->own != 0)
		step->own = where->own;
	step->per_node = where->per_node;
	if (ticket->calibration)
		step->calibration = 1;
}

static int by_length(const void *left, const void *right)
{
	float a = *(const float *)left, b = *(const float *)right;

	return (a > b) - (a < b);
}

static void note_marker(struct nt_step *step, const struct nt_sum_marker *marker)
{
	float us[NT_SUM_PERIODS];

	if (marker->coll < 0 || marker->periods == 0)
		return;
	memcpy(us, marker->period_us, marker->periods * sizeof(us[0]));
	qsort(us, marker->periods, sizeof(us[0]), by_length);
	for (unsigned i = 0; i < 3; i++)
		step->step_us[i] = (double)us[(marker->periods - 1) * (i + 1) / 4];
	step->steps = marker->calls;
}

void nt_sum_step(const struct nt_sum *sum, const struct nt_sum_head *head, struct nt_step *step)
{
	nt_fields_clear(&nt_step_fields, step);
	step->ranks = head->tasks;
	step->nodes = head->nodes;
	for (size_t i = 0; i < sum->comm_count; i++) {
		if (sum->comms[i].ranks > step->ranks)
			step->ranks = sum->comms[i].ranks;
	}
	snprintf(step->mode, sizeof(step->mode), "%s", head->mode);
	if (sum->nccl >= 10000) /* 22809; up to 2.8 it was 2804 */
		snprintf(step->nccl, sizeof(step->nccl), "%d.%d.%d", (int)(sum->nccl / 10000),
			 (int)(sum->nccl / 100 % 100), (int)(sum->nccl % 100));
	if (head->ticket) {
		note_ticket(step, head->ticket);
		note_marker(step, &sum->marker);
	}
	if (head->ticket && head->where)
		note_place(step, head->where, head->ticket);
	if (head->measured > 0)
		step->measured = head->measured;
	if (head->remark)
		snprintf(step->remark, sizeof(step->remark), "%s", head->remark);
	without_braces(step->remark);
}

/* Own times and periods of rows go before rows do. Returns whether there were any. */
static bool drop_periods(struct table *table)
{
	bool any = false;

	for (size_t i = 0; i < table->row_count; i++) {
		struct nt_sum_key *key = &table->rows[i].key;

		any = any || !isnan(key->own_us[0]) || !isnan(key->period_us[0]);
		key->own_us[0] = NAN;
		key->period_us[0] = NAN;
	}
	return any;
}

/* The best rows that fit; how many were left out is said. */
static size_t write_table(struct table *table, const struct nt_sum *sum,
			  const struct nt_sum_head *head, char *text, size_t text_bytes)
{
	struct row shown[ROWS_MAX];
	size_t count = table->row_count < ROWS_MAX ? table->row_count : ROWS_MAX;
	struct nt_step step;

	if (text_bytes > NT_STEP_RECORD_MAX + 1)
		text_bytes = NT_STEP_RECORD_MAX + 1;
	nt_sum_step(sum, head, &step);
	for (;;) {
		size_t more = table->row_count - count + table->why_total - table->why_count;
		struct nt_put put;

		if (count > 0)
			memcpy(shown, table->rows, count * sizeof(shown[0]));
		qsort(shown, count, sizeof(shown[0]), compare_place);
		nt_put_begin(&put, text, text_bytes, NT_STEP_DEPTH);
		nt_put_open(&put, NULL, '{');
		nt_fields_put(&put, &nt_step_fields, &step);
		put_rows(&put, shown, count);
		put_whys(&put, table);
		if (more > 0)
			nt_put_count(&put, NT_STEP_MORE, more);
		nt_put_close(&put);
		if (!put.full)
			return put.used;
		if (drop_periods(table))
			continue;
		if (count > 0)
			count--;
		else if (table->why_count > 0)
			table->why_count--;
		else
			return 0;
	}
}

static int compare_comms(const void *left, const void *right)
{
	return strcmp(((const struct nt_sum_comm *)left)->id,
		      ((const struct nt_sum_comm *)right)->id);
}

size_t nt_sum_format(struct nt_sum *sum, const struct nt_sum_head *head, char *out,
		     size_t out_bytes)
{
	struct table table = { 0 };
	size_t keys = 0;
	size_t used;

	if (sum->records == 0 && sum->unusable == 0)
		return 0;
	for (size_t i = 0; i < sum->comm_count; i++)
		keys += sum->comms[i].key_count;
	table.rows = calloc(keys + 1, sizeof(table.rows[0]));
	if (!table.rows)
		return 0;
	if (sum->comm_count > 0)
		qsort(sum->comms, sum->comm_count, sizeof(sum->comms[0]), compare_comms);
	add_step_whys(&table, sum, head);
	for (size_t i = 0; i < sum->comm_count; i++) {
		add_comm_why(&table, &sum->comms[i], head->final);
		for (size_t k = 0; k < sum->comms[i].key_count; k++)
			add_row(&table, &sum->comms[i], &sum->comms[i].keys[k]);
	}
	for (size_t i = 0; i < sum->comm_count; i++)
		add_unworthy(&table, &sum->comms[i]);
	qsort(table.rows, table.row_count, sizeof(table.rows[0]), compare_all);
	used = write_table(&table, sum, head, out, out_bytes);
	free(table.rows);
	return used;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a step's communicators, written as the step's record. */
#include "spank/sum.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/policy.h"

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

/* Text that grows at the end of a buffer; used counts on where it no longer fits. */
struct out {
	char *at;
	size_t bytes, used;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *out, const char *format, ...)
{
	size_t left = out->used < out->bytes ? out->bytes - out->used : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(left ? out->at + out->used : NULL, left, format, args);
	va_end(args);
	out->used += n > 0 ? (size_t)n : 0;
}

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

static void add_step_whys(struct table *table, const struct nt_sum *sum,
			  const struct nt_sum_head *head)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} reasons[] = {
		{ NT_PLACE_NO_TUNER, "the user's own NCCL_TUNER_PLUGIN was kept" },
		{ NT_PLACE_NO_PROFILER, "the user's own NCCL_PROFILER_PLUGIN was kept" },
		{ NT_PLACE_USER_ALGO, "the user's own NCCL_ALGO was kept" },
		{ NT_PLACE_USER_PROTO, "the user's own NCCL_PROTO was kept" },
	};
	char text[176];

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (head->flags & reasons[i].flag)
			add_why(table, 0, 0, reasons[i].text);
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

static double worth(const struct row *row)
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
	if (worth(a) < worth(b) || worth(a) > worth(b))
		return worth(a) > worth(b) ? -1 : 1;
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

static void put_times(struct out *out, const struct nt_sum_key *key, bool chosen)
{
	if (isnan(key->auto_us))
		return;
	if (isnan(key->arm_us) || !chosen) {
		put(out, ",\"us\":[%.1f]", key->auto_us);
		return;
	}
	put(out, ",\"us\":[%.1f,%.1f]", key->auto_us, key->arm_us);
	if (key->auto_us > 0)
		put(out, ",\"gain\":%.1f", 100 * (key->auto_us - key->arm_us) / key->auto_us);
}

static void put_count(struct out *out, const char *name, int64_t count)
{
	if (count >= 0)
		put(out, ",\"%s\":%" PRId64, name, count);
}

static void put_ms(struct out *out, const char *name, double ms)
{
	if (!isnan(ms))
		put(out, ",\"%s\":%.1f", name, ms);
}

static void put_row(struct out *out, const struct row *row)
{
	const struct nt_sum_key *key = &row->key;
	bool committed = key->state == NT_SUM_COMMITTED && key->arm >= 0;
	char size[32];

	put(out, "\"%s %s\":{", nt_coll_name(key->coll),
	    nt_size_text((size_t)key->bytes, size, sizeof(size)));
	put(out, "\"auto\":\"%s\"", nt_arm_name(key->auto_arm >= 0 ? key->auto_arm : NT_ARM_AUTO));
	put(out, ",\"arm\":\"%s\"", nt_arm_name(committed ? key->arm : NT_ARM_AUTO));
	put_times(out, key, key->state != NT_SUM_EXPLORING);
	if (!isnan(key->p))
		put(out, ",\"p\":%.3g", key->p);
	put_count(out, "n", key->samples);
	put_count(out, "calls", key->calls);
	put_count(out, "spent", key->spent_calls);
	put_ms(out, "spent_ms", key->spent_ms);
	put_ms(out, "saved_ms", key->saved_ms);
	if (key->rechecks > 0)
		put_count(out, "rechecks", key->rechecks);
	if (key->rollbacks > 0)
		put_count(out, "rollbacks", key->rollbacks);
	put(out, "}");
}

/* rows are in the order of their places. */
static void put_rows(struct out *out, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool first = i == 0 || rows[i].ranks != rows[i - 1].ranks ||
			     rows[i].nodes != rows[i - 1].nodes;

		if (first)
			put(out, "%s,\"%" PRId64 "r%" PRId64 "n\":{", i > 0 ? "}" : "",
			    rows[i].ranks, rows[i].nodes);
		else
			put(out, ",");
		put_row(out, &rows[i]);
	}
	if (count > 0)
		put(out, "}");
}

static void put_whys(struct out *out, const struct table *table)
{
	for (size_t i = 0; i < table->why_count; i++) {
		const struct why *why = &table->whys[i];

		put(out, "%s\"", i > 0 ? "," : ",\"why\":[");
		if (why->ranks > 0)
			put(out, "%" PRId64 "r%" PRId64 "n", why->ranks, why->nodes);
		if (why->count > 1)
			put(out, ", %zu communicators", why->count);
		put(out, "%s%s\"", why->ranks > 0 ? ": " : "", why->text);
	}
	if (table->why_count > 0)
		put(out, "]");
}

static void put_head(struct out *out, const struct nt_sum *sum, const struct nt_sum_head *head)
{
	int64_t ranks = 0;
	int64_t nodes = head->nodes;

	for (size_t i = 0; i < sum->comm_count; i++) {
		if (sum->comms[i].ranks > ranks)
			ranks = sum->comms[i].ranks;
	}
	if (ranks < head->tasks)
		ranks = head->tasks;
	put(out, "{\"mode\":\"%s\"", head->mode);
	if (sum->nccl >= 10000) /* 22809; up to 2.8 it was 2804 */
		put(out, ",\"nccl\":\"%" PRId64 ".%" PRId64 ".%" PRId64 "\"", sum->nccl / 10000,
		    sum->nccl / 100 % 100, sum->nccl % 100);
	put(out, ",\"ranks\":%" PRId64 ",\"nodes\":%" PRId64, ranks, nodes);
}

/* The best rows that fit; how many were left out is said. */
static size_t write_table(struct table *table, const struct nt_sum *sum,
			  const struct nt_sum_head *head, char *text, size_t text_bytes)
{
	struct row shown[ROWS_MAX];
	size_t count = table->row_count < ROWS_MAX ? table->row_count : ROWS_MAX;
	size_t room = text_bytes - 1 < NT_STEP_RECORD_MAX ? text_bytes - 1 : NT_STEP_RECORD_MAX;

	for (;;) {
		struct out out = { text, text_bytes, 0 };
		size_t more = table->row_count - count + table->why_total - table->why_count;

		if (count > 0)
			memcpy(shown, table->rows, count * sizeof(shown[0]));
		qsort(shown, count, sizeof(shown[0]), compare_place);
		put_head(&out, sum, head);
		put_rows(&out, shown, count);
		put_whys(&out, table);
		if (more > 0)
			put(&out, ",\"more\":%zu", more);
		put(&out, "}");
		if (out.used <= room)
			return out.used;
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
	const uint32_t nothing_loaded = NT_PLACE_NO_TUNER | NT_PLACE_NO_PROFILER;
	struct table table = { 0 };
	size_t keys = 0;
	size_t used;

	if (sum->records == 0 && sum->unusable == 0 &&
	    (head->flags & nothing_loaded) != nothing_loaded)
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
	qsort(table.rows, table.row_count, sizeof(table.rows[0]), compare_all);
	used = write_table(&table, sum, head, out, out_bytes);
	free(table.rows);
	return used;
}

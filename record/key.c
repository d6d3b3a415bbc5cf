/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/key.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"

#define TIME_LEAST_US 1e-6

#define LEFT_OUT(...)
#define KEY_ROW(...) NT_FIELD_MERGED(struct nt_key, __VA_ARGS__)

const struct nt_fields nt_rank_key_fields = NT_FIELDS(
	NT_KEY_FIELDS(KEY_ROW, KEY_ROW, LEFT_OUT, KEY_ROW));

const struct nt_fields nt_report_key_fields = NT_FIELDS(
	NT_KEY_FIELDS(LEFT_OUT, KEY_ROW, KEY_ROW, KEY_ROW));

const struct nt_fields nt_key_fields = NT_FIELDS(NT_KEY_FIELDS(KEY_ROW, KEY_ROW, KEY_ROW, KEY_ROW));

/* clang-format off */
/* Room is short: numbers have one decimal, shares three digits. */
#define IS_NUMBER(kind) \
	(NT_FIELD_##kind == NT_FIELD_NUMBER || NT_FIELD_##kind == NT_FIELD_TIME || \
	 NT_FIELD_##kind == NT_FIELD_TIMES)
#define AT_MOST(most, size) ((size) > (most) ? (most) : (size))
#define SHORT_SIZE(kind, size) \
	(NT_FIELD_##kind == NT_FIELD_SHARE ? AT_MOST(3, size) : \
	 IS_NUMBER(kind) ? AT_MOST(1, size) : (size))
#define SHORT_NEED(need) ((need) == NT_MUST_SHORT ? NT_MUST : (need))
#define SHORT_ROW(kind, name, member, size, need, merge, unit, meaning) \
	NT_FIELD_MERGED(struct nt_key, kind, name, member, SHORT_SIZE(kind, size), \
			SHORT_NEED(need), merge, unit, meaning)
/* clang-format on */

const struct nt_fields nt_short_key_fields = NT_FIELDS(
	NT_KEY_FIELDS(LEFT_OUT, LEFT_OUT, SHORT_ROW, SHORT_ROW));

void nt_key_clear(struct nt_key *key)
{
	memset(key, 0, sizeof(*key));
	nt_fields_clear(&nt_key_fields, key);
}

void nt_key_compare(struct nt_key *key)
{
	if (key->auto_us >= TIME_LEAST_US && !isnan(key->arm_us))
		key->gain_percent = 100 * (key->auto_us - key->arm_us) / key->auto_us;
}

static void *member_of(const struct nt_field *field, struct nt_key *key)
{
	return (char *)key + field->offset;
}

static const void *seen_of(const struct nt_field *field, const struct nt_key *key)
{
	return (const char *)key + field->offset;
}

void nt_key_forget_arm(struct nt_key *key)
{
	for (size_t i = 0; i < nt_key_fields.count; i++) {
		const struct nt_field *field = &nt_key_fields.field[i];

		if (field->kind == NT_FIELD_TIMES)
			((double *)member_of(field, key))[1] = NAN;
	}
}

static void copy_field(const struct nt_field *field, struct nt_key *to, const struct nt_key *from)
{
	memcpy(member_of(field, to), seen_of(field, from), field->bytes);
}

static void add_field(const struct nt_field *field, struct nt_key *to, const struct nt_key *from)
{
	if (field->kind == NT_FIELD_COUNT || field->kind == NT_FIELD_TALLY) {
		int64_t *sum = member_of(field, to);
		int64_t more = *(const int64_t *)seen_of(field, from);

		if (more >= 0)
			*sum = *sum < 0 ? more : *sum + more;
	} else {
		double *sum = member_of(field, to);
		double more = *(const double *)seen_of(field, from);

		if (!isnan(more))
			*sum = isnan(*sum) ? more : *sum + more;
	}
}

static int knowledge(const struct nt_key *key)
{
	return 4 * key->state + 2 * !isnan(key->p) + !isnan(key->auto_us);
}

static bool knows_more(const struct nt_key *left, const struct nt_key *right)
{
	int difference = knowledge(left) - knowledge(right);

	return difference > 0 || (difference == 0 && left->rank < right->rank);
}

/* Every rank counts the same calls; the last to write has counted the most. */
void nt_key_merge_rank(struct nt_key *known, const struct nt_key *key)
{
	const bool more = knows_more(key, known), later = key->calls > known->calls;
	const double slowest_us = known->auto_own_us;

	for (size_t i = 0; i < nt_key_fields.count; i++) {
		const struct nt_field *field = &nt_key_fields.field[i];
		const bool counted = field->merge == NT_MERGE_CALLS ||
				     field->merge == NT_MERGE_LATEST;

		if (field->merge == NT_MERGE_RANKS)
			add_field(field, known, key);
		else if (counted ? later : more)
			copy_field(field, known, key);
	}
	/* Sends and receives differ between ranks. The slowest is right: some ranks stamp the end
	 * too early. */
	if (!nt_kind_tunable(known->coll))
		known->auto_own_us = fmax(slowest_us, key->auto_own_us);
	if (more)
		known->rank = key->rank;
}

void nt_key_merge_comm(struct nt_key *row, const struct nt_key *key, bool firmer)
{
	for (size_t i = 0; i < nt_key_fields.count; i++) {
		const struct nt_field *field = &nt_key_fields.field[i];

		if (field->merge == NT_MERGE_TOTAL || field->merge == NT_MERGE_RANKS ||
		    field->merge == NT_MERGE_CALLS)
			add_field(field, row, key);
		else if (firmer)
			copy_field(field, row, key);
	}
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/field.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/names.h"

static const char *const key_states[NT_KEYSTATES] = {
	[NT_KEYSTATE_COUNTED] = "counted",     [NT_KEYSTATE_EXPLORING] = "exploring",
	[NT_KEYSTATE_OBSERVED] = "observed",   [NT_KEYSTATE_KEPT] = "kept",
	[NT_KEYSTATE_COMMITTED] = "committed",
};

static const char *const comm_states[NT_COMM_STATES] = {
	[NT_COMM_JOINING] = "joining",
	[NT_COMM_AGREED] = "agreed",
	[NT_COMM_REJECTED] = "rejected",
};

static int find(const char *const *words, int count, const char *word)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

const char *nt_keystate_name(int state)
{
	return state >= 0 && state < NT_KEYSTATES ? key_states[state] : "";
}

const char *nt_comm_state_name(int state)
{
	return state >= 0 && state < NT_COMM_STATES ? comm_states[state] : "";
}

const char *nt_field_word(const struct nt_field *field, const void *member)
{
	const int value = *(const int *)member;

	switch (field->kind) {
	case NT_FIELD_COLL:
	case NT_FIELD_KIND: return value >= 0 && value < NT_KINDS ? nt_coll_name(value) : "";
	case NT_FIELD_ARM: return nt_arm_valid(value) ? nt_arm_name(value) : "";
	case NT_FIELD_STATE: return nt_keystate_name(value);
	case NT_FIELD_COMM_STATE: return nt_comm_state_name(value);
	case NT_FIELD_REASON: return nt_reason_code(value);
	default: return "";
	}
}

int nt_field_parse(enum nt_field_kind kind, const char *word)
{
	switch (kind) {
	case NT_FIELD_COLL: return nt_coll_parse(word);
	case NT_FIELD_KIND: return nt_kind_parse(word);
	case NT_FIELD_ARM: return nt_arm_parse(word);
	case NT_FIELD_STATE: return find(key_states, NT_KEYSTATES, word);
	case NT_FIELD_COMM_STATE: return find(comm_states, NT_COMM_STATES, word);
	case NT_FIELD_REASON: return nt_reason_parse(word);
	default: return -1;
	}
}

static void *member_of(const struct nt_field *field, void *target)
{
	return (char *)target + field->offset;
}

static void clear(const struct nt_field *field, void *member)
{
	switch (field->kind) {
	case NT_FIELD_COUNT: *(int64_t *)member = -1; break;
	case NT_FIELD_TALLY: *(int64_t *)member = 0; break;
	case NT_FIELD_QUARTILES: ((double *)member)[2] = NAN; /* fall through */
	case NT_FIELD_TIMES: ((double *)member)[1] = NAN; /* fall through */
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
	case NT_FIELD_SHARE: *(double *)member = NAN; break;
	case NT_FIELD_BOOL: *(bool *)member = false; break;
	case NT_FIELD_QUOTED:
	case NT_FIELD_TEXT: *(char *)member = '\0'; break;
	case NT_FIELD_COLL:
	case NT_FIELD_KIND:
	case NT_FIELD_STATE:
	case NT_FIELD_COMM_STATE:
	case NT_FIELD_ARM: *(int *)member = -1; break;
	case NT_FIELD_REASON: *(int *)member = NT_REASON_NONE; break;
	case NT_FIELD_WHY: nt_reason_set(member, NT_REASON_NONE); break;
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: *(struct json_object **)member = NULL; break;
	}
}

void nt_fields_clear(const struct nt_fields *fields, void *target)
{
	for (size_t i = 0; i < fields->count; i++)
		clear(&fields->field[i], member_of(&fields->field[i], target));
}

bool nt_number_fits(enum nt_field_kind kind, double value)
{
	double least = kind == NT_FIELD_NUMBER ? -NT_NUMBER_MAX : 0;

	return isfinite(value) && value >= least &&
	       value <= (kind == NT_FIELD_SHARE ? 1 : NT_NUMBER_MAX);
}

/* The first `least` times must be known. */
static void put_times(struct nt_json_writer *put, const struct nt_field *field, const double *us,
		      int least, int most)
{
	int count = 0;

	while (count < most && nt_number_fits(NT_FIELD_TIME, us[count]))
		count++;
	if (count < least)
		return;
	nt_json_put_open(put, field->name, '[');
	for (int i = 0; i < count; i++)
		nt_json_put_value(put, NULL, "%.*f", field->size, us[i]);
	nt_json_put_close(put);
}

/* What must be there is brought into its bounds; anything else that is not in them is left out. */
static void put_number(struct nt_json_writer *put, const struct nt_field *field, double value)
{
	if (!nt_number_fits(field->kind, value) && field->need != NT_MUST)
		return;
	if (!nt_number_fits(field->kind, value))
		value = value > 0 ? (field->kind == NT_FIELD_SHARE ? 1 : NT_NUMBER_MAX) : 0;
	if (field->kind == NT_FIELD_SHARE)
		nt_json_put_value(put, field->name, "%.*g", field->size, value);
	else
		nt_json_put_value(put, field->name, "%.*f", field->size, value);
}

static void put_text(struct nt_json_writer *put, const struct nt_field *field, const char *text)
{
	if (text[0] || field->need != NT_MAY)
		nt_json_put_text(put, field->name, text);
}

static void put_count(struct nt_json_writer *put, const struct nt_field *field, int64_t count)
{
	int64_t least = field->kind == NT_FIELD_TALLY && field->need == NT_MAY ? 1 : 0;

	if (field->need == NT_MUST && count < 0)
		count = 0;
	if (field->need == NT_MUST && count > NT_COUNT_MAX)
		count = NT_COUNT_MAX;

	if (count >= least && count <= NT_COUNT_MAX)
		nt_json_put_value(put, field->name, "%" PRId64, count);
}

static void put_field(struct nt_json_writer *put, const struct nt_field *field, const void *member)
{
	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: put_count(put, field, *(const int64_t *)member); break;
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
	case NT_FIELD_SHARE: put_number(put, field, *(const double *)member); break;
	case NT_FIELD_BOOL: nt_json_put_bool(put, field->name, *(const bool *)member); break;
	case NT_FIELD_TEXT: put_text(put, field, member); break;
	case NT_FIELD_QUOTED: nt_json_put_quoted(put, field->name, member); break;
	case NT_FIELD_COLL:
	case NT_FIELD_KIND:
	case NT_FIELD_ARM:
	case NT_FIELD_STATE:
	case NT_FIELD_COMM_STATE:
	case NT_FIELD_REASON:
		if (nt_field_word(field, member)[0])
			nt_json_put_text(put, field->name, nt_field_word(field, member));
		break;
	case NT_FIELD_WHY: put_text(put, field, ((const struct nt_reason *)member)->text); break;
	case NT_FIELD_TIMES: put_times(put, field, member, 1, 2); break;
	case NT_FIELD_QUARTILES: put_times(put, field, member, 3, 3); break;
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: break;
	}
}

void nt_fields_put(struct nt_json_writer *put, const struct nt_fields *fields, const void *source)
{
	for (size_t i = 0; i < fields->count; i++)
		put_field(put, &fields->field[i], (const char *)source + fields->field[i].offset);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* field.h - the members of a JSON object as a table, for writer and reader
 *
 * A format is a macro with one field a line, in the order of writing:
 *
 *	#define NT_THING_FIELDS(X) \
 *		X(COUNT, "calls", calls, 0, NT_MAY, "calls", "calls of the thing")
 *
 * kind, JSON name, struct member, size (text: room; number: decimals; share: digits), need, unit
 * and meaning. NT_FIELD_MEMBER makes the struct's members, NT_FIELD_ROW the table. Records' lists
 * are in record.def.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 * Units:    NAN, -1 and "" mean unknown: left out of a record.
 */
#ifndef NT_FIELD_H
#define NT_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/reason.h"
#include "lib/json-writer.h"

struct json_object;

enum nt_field_kind {
	NT_FIELD_COUNT, /* int64_t: a whole number from 0; -1 unknown */
	NT_FIELD_TALLY, /* int64_t: the same; 0 where it is left out */
	NT_FIELD_NUMBER, /* double; NAN unknown, as for the next two */
	NT_FIELD_TIME, /* double: from 0 */
	NT_FIELD_SHARE, /* double: 0 to 1 */
	NT_FIELD_BOOL, /* bool */
	NT_FIELD_TEXT, /* char[size]; "" where it is left out */
	NT_FIELD_QUOTED, /* char[size]: the same, and quotes are kept, each behind a backslash */
	NT_FIELD_COLL, /* int: enum nt_coll; -1 unknown */
	NT_FIELD_KIND, /* int: the same, or enum nt_p2p_kind */
	NT_FIELD_ARM, /* int: as nt_arm_parse has it; -1 unknown */
	NT_FIELD_STATE, /* int: NT_KEYSTATE_*, written as its word; -1 unknown */
	NT_FIELD_COMM_STATE, /* int: enum nt_comm_state, written as its word; -1 unknown */
	NT_FIELD_REASON, /* int: enum nt_reason_id, written as its code; NT_REASON_NONE left out */
	NT_FIELD_WHY, /* struct nt_reason, with its arguments */
	NT_FIELD_TIMES, /* double[2]: an array of one or two times */
	NT_FIELD_QUARTILES, /* double[3]: an array of three times, the median in the middle */
	/* Parts that their owner writes and reads: */
	NT_FIELD_OBJECT, /* borrowed from the parsed text; NULL: absent */
	NT_FIELD_ARRAY,
};

#define NT_COMM_NAME 64 /* with its NUL, of a communicator as the framework calls it */
#define NT_COUNT_MAX INT64_C(1000000000000000) /* so that sums do not overflow */
#define NT_NUMBER_MAX 1e15

/* In increasing order of firmness. */
enum nt_keystate {
	NT_KEYSTATE_COUNTED, /* never tried */
	NT_KEYSTATE_EXPLORING,
	NT_KEYSTATE_OBSERVED, /* mode observe */
	NT_KEYSTATE_KEPT, /* AUTO stays */
	NT_KEYSTATE_COMMITTED, /* arm is not AUTO */
	NT_KEYSTATES
};

/* How the fields of two keys become one (record.def). */
enum nt_merge { NT_MERGE_FIRMEST, NT_MERGE_TOTAL, NT_MERGE_RANKS, NT_MERGE_CALLS, NT_MERGE_LATEST };

struct nt_field {
	const char *name;
	enum nt_field_kind kind;
	size_t offset, bytes; /* of the member in the struct */
	int size;
	int need; /* NT_MAY, ... */
	enum nt_merge merge;
	const char *unit, *meaning; /* NULL: nobody says */
};

struct nt_fields {
	const struct nt_field *field;
	size_t count;
};

enum {
	NT_MAY, /* left out if unknown */
	NT_MUST, /* a record without it is damaged */
	NT_MUST_SHORT, /* the same of a short form; elsewhere NT_MAY */
	NT_EMPTY, /* a text, written even if empty; may be missing */
};

#define NT_MEMBER_COUNT(member, size) int64_t member;
#define NT_MEMBER_TALLY(member, size) int64_t member;
#define NT_MEMBER_NUMBER(member, size) double member;
#define NT_MEMBER_TIME(member, size) double member;
#define NT_MEMBER_SHARE(member, size) double member;
#define NT_MEMBER_BOOL(member, size) bool member;
#define NT_MEMBER_TEXT(member, size) char member[size];
#define NT_MEMBER_QUOTED(member, size) char member[size];
#define NT_MEMBER_COLL(member, size) int member;
#define NT_MEMBER_KIND(member, size) int member;
#define NT_MEMBER_ARM(member, size) int member;
#define NT_MEMBER_STATE(member, size) int member;
#define NT_MEMBER_COMM_STATE(member, size) int member;
#define NT_MEMBER_REASON(member, size) int member;
#define NT_MEMBER_WHY(member, size) struct nt_reason member;
/* NCCL's pick, and the arm that is compared with it */
#define NT_MEMBER_TIMES(member, size)                       \
	union {                                             \
		double member[2];                           \
		struct {                                    \
			double auto_##member, arm_##member; \
		};                                          \
	};
#define NT_MEMBER_QUARTILES(member, size) double member[3];
#define NT_MEMBER_OBJECT(member, size) struct json_object *member;
#define NT_MEMBER_ARRAY(member, size) struct json_object *member;

#define NT_FIELD_MEMBER(kind, name, member, size, need, unit, meaning) \
	NT_MEMBER_##kind(member, size)

/* #define ROW(...) NT_FIELD_ROW(struct nt_thing, __VA_ARGS__)
 * const struct nt_fields nt_thing_fields = NT_FIELDS(NT_THING_FIELDS(ROW)); */
#define NT_FIELD_ROW(type, kind, name, member, size, need, unit, meaning) \
	NT_FIELD_MERGED(type, kind, name, member, size, need, FIRMEST, unit, meaning)
#define NT_FIELD_MERGED(type, kind, name, member, size, need, merge, unit, meaning) \
	{ name,                                                                     \
	  NT_FIELD_##kind,                                                          \
	  offsetof(type, member),                                                   \
	  sizeof(((type *)NULL)->member),                                           \
	  size,                                                                     \
	  need,                                                                     \
	  NT_MERGE_##merge,                                                         \
	  unit,                                                                     \
	  meaning },
#define NT_FIELDS(...)                                                                             \
	{                                                                                          \
		(const struct nt_field[]){ __VA_ARGS__ },                                          \
			sizeof((const struct nt_field[]){ __VA_ARGS__ }) / sizeof(struct nt_field) \
	}

/* Sets all fields to unknown. */
void nt_fields_clear(const struct nt_fields *fields, void *target);

/* Writes all fields that are known and within limits into the open object, except parts. */
void nt_fields_put(struct nt_json_writer *put, const struct nt_fields *fields, const void *source);

/* "counted", ...; "joining", ...; "": no state. */
const char *nt_keystate_name(int state);
const char *nt_comm_state_name(int state);

/* The word of a field that is an int; "" if unknown. And back; -1 if there is no such word. */
const char *nt_field_word(const struct nt_field *field, const void *member);
int nt_field_parse(enum nt_field_kind kind, const char *word);

static inline double nt_or_zero(double value)
{
	return isnan(value) ? 0 : value;
}

/* Is it within the limits of writer and reader? */
bool nt_number_fits(enum nt_field_kind kind, double value);

#endif

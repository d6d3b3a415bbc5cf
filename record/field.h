/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* field.h - the members of a record's object, as a table from which it is written and read
 *
 * A format is a macro that lists its fields, one a line, in the order in which they are written:
 *
 *	#define NT_THING_FIELDS(X) \
 *		X(COUNT, "calls", calls, 0, NT_MAY)
 *
 * kind, name in JSON, member of the struct, size (of a text: its room; of a number: its decimals;
 * of a share: its digits), and whether it may be left out. NT_FIELD_MEMBER makes the struct's
 * members of it, NT_FIELD_ROWS the table. So a new field is one line; nothing is written that its
 * reader refuses, since both look at the same bounds.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 * Units:    NAN, -1 and "" stand for what a record leaves out.
 */
#ifndef NT_FIELD_H
#define NT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/put.h"

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
	NT_FIELD_ARM, /* int: as nt_arm_parse has it; -1 unknown */
	NT_FIELD_REASON, /* int: enum nt_reason, written as its code; NT_REASON_NONE left out */
	NT_FIELD_TIMES, /* double[2]: an array of one or two times */
	NT_FIELD_QUARTILES, /* double[3]: an array of three times, the median in the middle */
	/* Parts with fields of their own: read as they are, written by who has them. */
	NT_FIELD_OBJECT, /* borrowed from the parsed text; NULL: not there */
	NT_FIELD_ARRAY,
};

#define NT_COUNT_MAX INT64_C(1000000000000000) /* so that sums stay whole and printable */
#define NT_NUMBER_MAX 1e15

struct nt_field {
	const char *name;
	enum nt_field_kind kind;
	size_t offset; /* of the member in the struct */
	int size;
	int need; /* NT_MAY, ... */
};

struct nt_fields {
	const struct nt_field *field;
	size_t count;
};

enum {
	NT_MAY, /* left out where it is not known */
	NT_MUST, /* a record without it is damaged */
	NT_EMPTY, /* a text that is written even where it is empty; a reader does not miss it */
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
#define NT_MEMBER_ARM(member, size) int member;
#define NT_MEMBER_REASON(member, size) int member;
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

#define NT_FIELD_MEMBER(kind, name, member, size, need) NT_MEMBER_##kind(member, size)

/* #define ROW(...) NT_FIELD_ROW(struct nt_thing, __VA_ARGS__)
 * static const struct nt_field thing_rows[] = { NT_THING_FIELDS(ROW) };
 * const struct nt_fields nt_thing_fields = NT_FIELDS(thing_rows); */
#define NT_FIELD_ROW(type, kind, name, member, size, need) \
	{ name, NT_FIELD_##kind, offsetof(type, member), size, need },
#define NT_FIELDS(rows)                                \
	{                                              \
		rows, sizeof(rows) / sizeof((rows)[0]) \
	}

/* Nothing is known yet. */
void nt_fields_clear(const struct nt_fields *fields, void *target);

/* All that is known and within its bounds, into the object that is open. Not the parts. */
void nt_fields_put(struct nt_put *put, const struct nt_fields *fields, const void *source);

/* May it be written, and read? */
bool nt_number_fits(enum nt_field_kind kind, double value);

#endif

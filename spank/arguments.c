/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Format and parse what nt-recordd is told, by one table. */
#include "spank/arguments.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "lib/list.h"
#include "lib/number.h"

struct argument_member {
	const char *key;
	size_t offset;
	size_t room; /* of a text; 0: a number */
};

#define NUMBER(member)                                            \
	{                                                         \
#member, offsetof(struct nt_arguments, member), 0 \
	}
#define TEXT(member)                                               \
	{                                                          \
#member, offsetof(struct nt_arguments, member),    \
			sizeof(((struct nt_arguments *)0)->member) \
	}

static const struct argument_member members[] = {
	NUMBER(job),	      NUMBER(step),	    NUMBER(component),	NUMBER(uid),
	NUMBER(gid),	      NUMBER(flags),	    NUMBER(tasks),	NUMBER(nodes),
	NUMBER(here),	      NUMBER(record_bytes), NUMBER(memory_mib), NUMBER(long_mib),
	NUMBER(long_parents), NUMBER(run),	    NUMBER(first),	TEXT(mode),
	TEXT(rundir),	      TEXT(spool),	    TEXT(record),	TEXT(cluster),
	TEXT(node),	      TEXT(long_dir),	    TEXT(fingerprint),	TEXT(ticket),
	TEXT(groups),	      TEXT(hosts),
};

_Static_assert(sizeof(members) / sizeof(members[0]) == NT_ARGUMENTS_MEMBERS, "count them");

static uint32_t *number_of(struct nt_arguments *arguments, const struct argument_member *member)
{
	return (uint32_t *)(void *)((char *)arguments + member->offset);
}

size_t nt_arguments_format(const struct nt_arguments *arguments, char text[NT_ARGUMENTS_TEXT])
{
	struct nt_arguments copy = *arguments;
	size_t used = 0;

	for (size_t i = 0; i < NT_ARGUMENTS_MEMBERS; i++) {
		const struct argument_member *member = &members[i];
		const size_t room = member->room + NT_ARGUMENTS_KEY;

		if (member->room)
			snprintf(text + used, room, "%s=%s", member->key,
				 (const char *)&copy + member->offset);
		else
			snprintf(text + used, room, "%s=%" PRIu32, member->key,
				 *number_of(&copy, member));
		used += strlen(text + used) + 1;
	}
	return used;
}

static int parse_value(struct nt_arguments *arguments, const struct argument_member *member,
		       const char *value)
{
	uint64_t number;

	if (member->room) {
		if (!value[0] || strlen(value) >= member->room)
			return -1;
		memcpy((char *)arguments + member->offset, value, strlen(value) + 1);
		return 0;
	}
	if (nt_number_parse(value, 0, UINT32_MAX, &number) < 0)
		return -1;
	*number_of(arguments, member) = (uint32_t)number;
	return 0;
}

static int parse_member(struct nt_arguments *arguments, const char *text, unsigned *seen)
{
	for (size_t m = 0; m < NT_ARGUMENTS_MEMBERS; m++) {
		const char *value = nt_value_of(text, members[m].key);

		if (!value)
			continue;
		if ((*seen & (1u << m)) || parse_value(arguments, &members[m], value) < 0)
			return -1;
		*seen |= 1u << m;
		return 0;
	}
	return -1;
}

int nt_arguments_parse(struct nt_arguments *arguments, const char *text, size_t text_bytes,
		       struct nt_error *err)
{
	const char *end = text + text_bytes;
	unsigned seen = 0;

	memset(arguments, 0, sizeof(*arguments));
	if (text_bytes == 0 || end[-1] != '\0')
		return nt_error_set(err, "it is truncated");
	for (const char *at = text; at < end; at += strlen(at) + 1) {
		if (parse_member(arguments, at, &seen) < 0)
			return nt_error_set(err, "member '%.100s'", at);
	}
	if (seen != (1u << NT_ARGUMENTS_MEMBERS) - 1)
		return nt_error_set(err, "a member is missing");
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of nt-recordd, written and read from one table. */
#include "spank/errand.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
	const char *key;
	size_t offset;
	size_t room; /* of a text; 0: a number */
};

#define NUMBER(member)                                         \
	{                                                      \
#member, offsetof(struct nt_errand, member), 0 \
	}
#define TEXT(member)                                            \
	{                                                       \
#member, offsetof(struct nt_errand, member),    \
			sizeof(((struct nt_errand *)0)->member) \
	}

static const struct member members[] = {
	NUMBER(job),	      NUMBER(step),	  NUMBER(component),
	NUMBER(uid),	      NUMBER(gid),	  NUMBER(flags),
	NUMBER(tasks),	      NUMBER(nodes),	  NUMBER(here),
	NUMBER(record_bytes), NUMBER(memory_mib), NUMBER(long_mib),
	NUMBER(long_parents), NUMBER(run),	  NUMBER(first),
	TEXT(mode),	      TEXT(dir),	  TEXT(rundir),
	TEXT(spool),	      TEXT(record),	  TEXT(cluster),
	TEXT(node),	      TEXT(long_dir),	  TEXT(fingerprint),
	TEXT(ticket),	      TEXT(groups),	  TEXT(hosts),
};

_Static_assert(sizeof(members) / sizeof(members[0]) == NT_ERRAND_ARGS, "one argument a member");

static uint32_t *number_of(struct nt_errand *errand, const struct member *member)
{
	return (uint32_t *)(void *)((char *)errand + member->offset);
}

void nt_errand_format(const struct nt_errand *errand, char *program, struct nt_errand_argv *argv)
{
	static char word[] = "record";
	struct nt_errand copy = *errand;
	char *text = argv->text;

	argv->argv[0] = program;
	argv->argv[1] = word;
	for (size_t i = 0; i < NT_ERRAND_ARGS; i++) {
		const struct member *member = &members[i];
		size_t room = member->room + NT_ERRAND_KEY;

		if (member->room)
			snprintf(text, room, "%s=%s", member->key,
				 (const char *)&copy + member->offset);
		else
			snprintf(text, room, "%s=%" PRIu32, member->key, *number_of(&copy, member));
		argv->argv[i + 2] = text;
		text += room;
	}
	argv->argv[NT_ERRAND_ARGS + 2] = NULL;
}

static int parse_value(struct nt_errand *errand, const struct member *member, const char *value)
{
	unsigned long long number;
	char *end;

	if (member->room) {
		if (!value[0] || strlen(value) >= member->room)
			return -1;
		memcpy((char *)errand + member->offset, value, strlen(value) + 1);
		return 0;
	}
	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || end == value || *end || value[0] < '0' || value[0] > '9' ||
	    number > UINT32_MAX)
		return -1;
	*number_of(errand, member) = (uint32_t)number;
	return 0;
}

int nt_errand_parse(struct nt_errand *errand, int argc, char *const argv[], struct nt_error *err)
{
	unsigned seen = 0;

	memset(errand, 0, sizeof(*errand));
	for (int i = 0; i < argc; i++) {
		size_t key_bytes = strcspn(argv[i], "=");
		size_t m = 0;

		while (m < NT_ERRAND_ARGS && (strlen(members[m].key) != key_bytes ||
					      memcmp(members[m].key, argv[i], key_bytes) != 0))
			m++;
		if (m == NT_ERRAND_ARGS || argv[i][key_bytes] != '=' || (seen & (1u << m)) ||
		    parse_value(errand, &members[m], argv[i] + key_bytes + 1) < 0)
			return nt_error_set(err, "argument '%.100s'", argv[i]);
		seen |= 1u << m;
	}
	if (seen != (1u << NT_ERRAND_ARGS) - 1)
		return nt_error_set(err, "an argument is missing");
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One NAME=VALUE of a set, as lengths in its text. */
struct part {
	const char *name;
	int name_length;
	const char *value;
	int value_length;
};

static bool is_none(const char *set)
{
	return !*set || strcmp(set, "none") == 0;
}

/* The next variable of *set; false at the end. One without '=' has no value. */
static bool next_part(const char **set, struct part *p)
{
	int length = (int)strcspn(*set, "+");
	int name = (int)strcspn(*set, "=+");

	if (!length)
		return false;
	*p = (struct part){ .name = *set, .name_length = name };
	if (name < length)
		p->value = *set + name + 1;
	p->value_length = length - name - 1;
	*set += length + ((*set)[length] == '+');
	return true;
}

static int find(const struct nt_launch_names *names, const struct part *p)
{
	for (unsigned i = 0; i < names->count; i++) {
		if ((int)strlen(names->name[i]) == p->name_length &&
		    strncmp(names->name[i], p->name, (size_t)p->name_length) == 0)
			return (int)i;
	}
	return -1;
}

int nt_launch_names_add(struct nt_launch_names *names, const char *set, struct nt_error *err)
{
	const char *rest = set;
	struct part p;

	if (is_none(set))
		return 0;
	while (next_part(&rest, &p)) {
		if (!p.value || !p.name_length || p.name_length >= NT_LAUNCH_NAME)
			return nt_error_set(err,
					    "launch variables '%.60s' (want none or "
					    "NAME=VALUE+NAME=VALUE...)",
					    set);
		if (find(names, &p) >= 0)
			continue;
		if (names->count == NT_MAX_LAUNCH_NAMES)
			return nt_error_set(err, "more than %d launch variables",
					    NT_MAX_LAUNCH_NAMES);
		snprintf(names->name[names->count++], NT_LAUNCH_NAME, "%.*s", p.name_length,
			 p.name);
	}
	return *rest ? nt_error_set(err, "launch variables '%.60s': an empty one", set) : 0;
}

/* Does the set have that variable, with that value? */
static bool has(const char *set, const char *name, const char *value)
{
	size_t length = strlen(name);
	struct part p;

	while (!is_none(set) && next_part(&set, &p)) {
		if ((size_t)p.name_length == length && strncmp(p.name, name, length) == 0)
			return p.value && (size_t)p.value_length == strlen(value) &&
			       strncmp(p.value, value, strlen(value)) == 0;
	}
	return false;
}

static unsigned size_of(const char *set)
{
	unsigned n = 0;
	struct part p;

	while (!is_none(set) && next_part(&set, &p))
		n++;
	return n;
}

bool nt_launch_in_force(const struct nt_launch_names *names, const char *set)
{
	unsigned there = 0;

	for (unsigned i = 0; i < names->count; i++) {
		const char *value = getenv(names->name[i]);

		if (value && !has(set, names->name[i], value))
			return false;
		there += value != NULL;
	}
	return there == size_of(set);
}

bool nt_launch_same(const char *a, const char *b)
{
	unsigned n = size_of(a);
	struct part p;

	if (n != size_of(b))
		return false;
	while (n && next_part(&a, &p)) {
		char name[NT_LAUNCH_NAME], value[256];

		snprintf(name, sizeof(name), "%.*s", p.name_length, p.name);
		snprintf(value, sizeof(value), "%.*s", p.value ? p.value_length : 0,
			 p.value ? p.value : "");
		if (!has(b, name, value))
			return false;
	}
	return true;
}

void nt_launch_text(const struct nt_launch_names *names, char *out, size_t out_bytes)
{
	size_t used = 0;

	snprintf(out, out_bytes, "none");
	for (unsigned i = 0; i < names->count && used < out_bytes; i++) {
		const char *value = getenv(names->name[i]);

		if (value)
			used += (size_t)snprintf(out + used, out_bytes - used, "%s%s=%s",
						 used ? "+" : "", names->name[i], value);
	}
}

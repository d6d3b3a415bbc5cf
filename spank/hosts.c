/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256
#define DIGITS_MAX 9

struct expansion {
	unsigned left; /* names still allowed */
	nt_host_take *take;
	void *context;
	struct nt_error *err;
};

static int expand(struct expansion *e, const char *done, const char *item);

/* Reads a number of at most nine digits; returns the number of digits, 0 for none. */
static size_t take_number(const char *text, unsigned long *value)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > DIGITS_MAX)
		return 0;
	*value = strtoul(text, NULL, 10);
	return digits;
}

/* "07" or "1-12", up to a comma or a bracket: every name with one of these numbers. */
static int expand_range(struct expansion *e, const char *done, const char *range, const char *rest,
			size_t *used)
{
	char name[NAME_BYTES];
	unsigned long first, last;
	size_t width = take_number(range, &first), end = width;

	last = first;
	if (width > 0 && range[width] == '-') {
		end = take_number(range + width + 1, &last);
		end = end > 0 ? width + 1 + end : 0;
	}
	if (end == 0 || last < first || (range[end] != ',' && range[end] != ']'))
		return nt_error_set(e->err, "'%.40s' is not a range of hosts", range);
	*used = end;
	for (unsigned long number = first; number <= last; number++) {
		int length = snprintf(name, sizeof(name), "%s%0*lu", done, (int)width, number);

		if (length < 0 || (size_t)length >= sizeof(name))
			return nt_error_set(e->err, "host name too long");
		if (expand(e, name, rest) < 0)
			return -1;
	}
	return 0;
}

/* done: the name so far; item: the rest of it, without commas outside of brackets. */
static int expand(struct expansion *e, const char *done, const char *item)
{
	char name[NAME_BYTES];
	size_t plain = strcspn(item, "[]");
	int length = snprintf(name, sizeof(name), "%s%.*s", done, (int)plain, item);
	const char *end = strchr(item + plain, ']');

	if (length < 0 || (size_t)length >= sizeof(name))
		return nt_error_set(e->err, "host name too long");
	if (item[plain] == '\0') {
		if (name[0] == '\0')
			return nt_error_set(e->err, "an empty host name");
		if (e->left == 0)
			return nt_error_set(e->err, "too many hosts");
		e->left--;
		return e->take(e->context, name);
	}
	if (item[plain] == ']' || end == NULL)
		return nt_error_set(e->err, "brackets in '%.60s'", item);
	for (const char *range = item + plain + 1;; range++) {
		size_t used = 0;

		if (expand_range(e, name, range, end + 1, &used) < 0)
			return -1;
		range += used;
		if (*range == ']')
			return 0;
	}
}

/* Bytes up to the comma after an item, or to the end. */
static size_t item_length(const char *list)
{
	int depth = 0;
	size_t i;

	for (i = 0; list[i] != '\0'; i++) {
		if (list[i] == ',' && depth == 0)
			break;
		depth += (list[i] == '[') - (list[i] == ']');
	}
	return i;
}

int nt_hosts_each(const char *list, unsigned most, nt_host_take *take, void *context,
		  struct nt_error *err)
{
	struct expansion e = { .left = most, .take = take, .context = context, .err = err };

	for (;;) {
		size_t length = item_length(list);
		char *item = strndup(list, length);
		int rc;

		if (item == NULL)
			return nt_error_set(err, "out of memory");
		rc = expand(&e, "", item);
		free(item);
		if (rc < 0)
			return -1;
		if (list[length] == '\0')
			return 0;
		list += length + 1;
	}
}

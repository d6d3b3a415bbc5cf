/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own start-up variables. */
#include "launch/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/file.h"
#include "launch/variable.h"

void nt_own_init(struct nt_own *own)
{
	memset(own, 0, sizeof(*own));
}

bool nt_own_has(const struct nt_own *own, const char *name)
{
	for (unsigned i = 0; i < own->count; i++)
		if (strcmp(own->variable[i].name, name) == 0)
			return true;
	return false;
}

bool nt_launched(const char *launched, const char *name, const char *value)
{
	size_t name_bytes = strlen(name), value_bytes = strlen(value);

	for (const char *word = launched; word != NULL && word[0] != '\0';) {
		size_t length = strcspn(word, " ");

		if (length == name_bytes + 1 + value_bytes && word[name_bytes] == '=' &&
		    memcmp(word, name, name_bytes) == 0 &&
		    memcmp(word + name_bytes + 1, value, value_bytes) == 0)
			return true;
		word += length + (word[length] == ' ');
	}
	return false;
}

/* The first that says something of a variable wins, as in NCCL. */
static void add(struct nt_own *own, const char *name, const char *value, bool from_file)
{
	struct nt_own_variable *variable;

	if (value[0] == '\0' || strlen(name) >= NT_OWN_NAME || !nt_variable_concerns(name) ||
	    nt_own_has(own, name) || own->count == NT_OWN_MAX)
		return;
	variable = &own->variable[own->count++];
	snprintf(variable->name, sizeof(variable->name), "%s", name);
	snprintf(variable->value, sizeof(variable->value), "%.63s", value);
	variable->from_file = from_file;
}

void nt_own_environment(struct nt_own *own, char *const variables[], const char *launched)
{
	for (; *variables != NULL; variables++) {
		const char *equals = strchr(*variables, '=');
		char name[NT_OWN_NAME];

		if (equals == NULL || (size_t)(equals - *variables) >= sizeof(name))
			continue;
		memcpy(name, *variables, (size_t)(equals - *variables));
		name[equals - *variables] = '\0';
		if (!nt_launched(launched, name, equals + 1))
			add(own, name, equals + 1, false);
	}
}

/* The text of a line between blanks; ends it there. */
static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

static void add_line(struct nt_own *own, char *line)
{
	char *equals = strchr(line, '=');

	line = trimmed(line);
	if (equals == NULL || line[0] == '#')
		return;
	*equals = '\0';
	add(own, trimmed(line), trimmed(equals + 1), true);
}

int nt_own_file(struct nt_own *own, const char *path, unsigned flags, struct nt_error *err)
{
	char *text, *line, *end;
	struct nt_error why;
	size_t bytes;

	if (nt_launch_file_read(AT_FDCWD, path, flags, NT_OWN_FILE_MAX, &text, &bytes, &why) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : nt_error_set(err, "%s", why.text);
	for (line = text; line != NULL; line = end) {
		end = strchr(line, '\n');
		if (end != NULL)
			*end++ = '\0';
		add_line(own, line);
	}
	free(text);
	return 0;
}

void nt_own_user_file(char *out, size_t out_bytes)
{
	const char *own = getenv("NCCL_CONF_FILE"), *home = getenv("HOME");
	int length = 0;

	out[0] = '\0';
	if (own != NULL && own[0] != '\0')
		length = snprintf(out, out_bytes, "%s", own);
	else if (home != NULL && home[0] == '/')
		length = snprintf(out, out_bytes, "%s/.nccl.conf", home);
	if (length < 0 || (size_t)length >= out_bytes)
		out[0] = '\0';
}

static int by_name(const void *left, const void *right)
{
	const struct nt_own_variable *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* FNV-1a of NAME=VALUE in the names' order. */
uint32_t nt_own_hash(const struct nt_own *own)
{
	struct nt_own sorted = *own;
	uint32_t hash = 2166136261u;

	if (own->count == 0)
		return 0;
	qsort(sorted.variable, sorted.count, sizeof(sorted.variable[0]), by_name);
	for (unsigned i = 0; i < sorted.count; i++) {
		char text[NT_OWN_NAME + NT_OWN_VALUE + 2];

		snprintf(text, sizeof(text), "%s=%s\n", sorted.variable[i].name,
			 sorted.variable[i].value);
		for (const char *c = text; *c != '\0'; c++)
			hash = (hash ^ (unsigned char)*c) * 16777619u;
	}
	return hash != 0 ? hash : 1;
}

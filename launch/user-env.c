/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/user-env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/list.h"
#include "lib/trim.h"
#include "launch/variable.h"

void nt_user_env_init(struct nt_user_env *env)
{
	memset(env, 0, sizeof(*env));
}

bool nt_user_env_has(const struct nt_user_env *env, const char *name)
{
	for (unsigned i = 0; i < env->count; i++)
		if (strcmp(env->variable[i].name, name) == 0)
			return true;
	return false;
}

bool nt_variable_launched(const char *launched, const char *name, const char *value)
{
	char word[NT_USER_ENV_NAME + NT_USER_ENV_VALUE];
	const int bytes = snprintf(word, sizeof(word), "%s=%s", name, value);

	/* A profile sets nothing longer. */
	return launched != NULL && bytes > 0 && (size_t)bytes < sizeof(word) &&
	       nt_list_has(launched, ' ', word, (size_t)bytes);
}

/* The first source that sets a variable wins, as in NCCL. */
static void add(struct nt_user_env *env, const char *name, const char *value, bool from_file)
{
	struct nt_user_env_variable *variable;

	if (value[0] == '\0' || strlen(name) >= NT_USER_ENV_NAME || !nt_variable_concerns(name) ||
	    nt_user_env_has(env, name) || env->count == NT_USER_ENV_MAX)
		return;
	variable = &env->variable[env->count++];
	snprintf(variable->name, sizeof(variable->name), "%s", name);
	snprintf(variable->value, sizeof(variable->value), "%.63s", value);
	variable->from_file = from_file;
}

void nt_user_env_environment(struct nt_user_env *env, char *const variables[], const char *launched)
{
	for (; *variables != NULL; variables++) {
		const char *equals = strchr(*variables, '=');
		char name[NT_USER_ENV_NAME];

		if (equals == NULL || (size_t)(equals - *variables) >= sizeof(name))
			continue;
		memcpy(name, *variables, (size_t)(equals - *variables));
		name[equals - *variables] = '\0';
		if (!nt_variable_launched(launched, name, equals + 1))
			add(env, name, equals + 1, false);
	}
}

static void add_line(struct nt_user_env *env, char *line)
{
	char *equals = strchr(line, '=');

	line = nt_trim(line);
	if (equals == NULL || line[0] == '#')
		return;
	*equals = '\0';
	add(env, nt_trim(line), nt_trim(equals + 1), true);
}

int nt_user_env_file(struct nt_user_env *env, const char *path, unsigned flags,
		     struct nt_error *err)
{
	char *text, *line, *end;
	struct nt_error why;
	size_t bytes;

	if (nt_file_read_at(AT_FDCWD, path, flags, NT_USER_ENV_FILE_MAX, &text, &bytes, &why) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : nt_error_set(err, "%s", why.text);
	for (line = text; line != NULL; line = end) {
		end = strchr(line, '\n');
		if (end != NULL)
			*end++ = '\0';
		add_line(env, line);
	}
	free(text);
	return 0;
}

void nt_user_env_user_file(char *out, size_t out_bytes)
{
	const char *file = getenv("NCCL_CONF_FILE"), *home = getenv("HOME");
	int length = 0;

	out[0] = '\0';
	if (file != NULL && file[0] != '\0')
		length = snprintf(out, out_bytes, "%s", file);
	else if (home != NULL && home[0] == '/')
		length = snprintf(out, out_bytes, "%s/.nccl.conf", home);
	if (length < 0 || (size_t)length >= out_bytes)
		out[0] = '\0';
}

static int by_name(const void *left, const void *right)
{
	const struct nt_user_env_variable *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* FNV-1a of NAME=VALUE, sorted by name. */
uint32_t nt_user_env_hash(const struct nt_user_env *env)
{
	struct nt_user_env sorted = *env;
	uint32_t hash = NT_HASH32;

	if (env->count == 0)
		return 0;
	qsort(sorted.variable, sorted.count, sizeof(sorted.variable[0]), by_name);
	for (unsigned i = 0; i < sorted.count; i++) {
		char text[NT_USER_ENV_NAME + NT_USER_ENV_VALUE + 2];

		snprintf(text, sizeof(text), "%s=%s\n", sorted.variable[i].name,
			 sorted.variable[i].value);
		hash = nt_hash32(hash, text, strlen(text));
	}
	return hash != 0 ? hash : 1;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Find -p, -A and -q of a command line. */
#include "spank/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "spank/slurm_compat.h"

#define TWIN_END "NCCL_TUNE" /* SLURM_NCCL_TUNE without its prefix */
#define LEAST_LETTERS 4 /* of an abbreviated long option; shorter ones are ambiguous */

static const struct {
	char letter;
	const char *name, *variable;
} options[] = {
	{ 'p', "partition", "PARTITION" },
	{ 'A', "account", "ACCOUNT" },
	{ 'q', "qos", "QOS" },
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

struct words {
	const char *at, *end;
};

static const char *next(struct words *words)
{
	const char *word = words->at;
	const char *nul = word < words->end ? memchr(word, '\0', (size_t)(words->end - word))
					    : NULL;

	if (!nul)
		return NULL;
	words->at = nul + 1;
	return word;
}

/* The index of the option; OPTIONS: none of these. *value: its value in the same word, or NULL. */
static size_t option_of(const char *word, const char **value)
{
	const bool is_long = word[1] == '-';
	const char *name = word + 2;
	const size_t length = strcspn(name, "=");

	*value = NULL;
	for (size_t i = 0; i < OPTIONS; i++) {
		if (!is_long && word[1] == options[i].letter) {
			*value = word[2] ? word + 2 : NULL;
			return i;
		}
		if (is_long && strncmp(name, options[i].name, length) == 0 &&
		    (length >= LEAST_LETTERS || options[i].name[length] == '\0')) {
			*value = name[length] ? name + length + 1 : NULL;
			return i;
		}
	}
	return OPTIONS;
}

/* May the next word be the value of this option? */
static bool may_have_value(const char *word)
{
	return word[1] == '-' ? !strchr(word, '=') : word[2] == '\0';
}

/* The next option before the program's name. */
static const char *next_option(struct words *words, bool value_may_follow)
{
	const char *word;

	while ((word = next(words)) != NULL && strcmp(word, "--") != 0) {
		if (word[0] == '-' && word[1] != '\0')
			return word;
		if (!value_may_follow)
			break;
		value_may_follow = false;
	}
	return NULL;
}

struct nt_step_where nt_where_words(const char *args, size_t bytes)
{
	struct words words = { args, args + bytes };
	const char *value[OPTIONS] = { NULL, NULL, NULL };
	const char *word = next(&words);
	bool value_may_follow = false;

	while ((word = next_option(&words, value_may_follow)) != NULL) {
		const char *behind;
		size_t i = option_of(word, &behind);

		if (i < OPTIONS)
			value[i] = behind ? behind : next(&words);
		value_may_follow = i == OPTIONS && may_have_value(word);
	}
	return (struct nt_step_where){ value[0], value[1], value[2] };
}

bool nt_where_is_async(const char *args, size_t bytes)
{
	static const char async[] = "--async";
	struct words words = { args, args + bytes };
	const char *word = next(&words);

	while (word && (word = next_option(&words, may_have_value(word))) != NULL) {
		if (strlen(word) >= LEAST_LETTERS && strncmp(async, word, strlen(word)) == 0)
			return true;
	}
	return false;
}

/* srun takes ":" for the end of a component wherever it stands. */
bool nt_where_is_het(const char *args, size_t bytes)
{
	static const char group[] = "--het-group";
	struct words words = { args, args + bytes };
	const char *word;
	bool value_may_follow = false;

	while ((word = next(&words)) != NULL) {
		if (strcmp(word, ":") == 0)
			return true;
	}
	words.at = args;
	next(&words);
	while ((word = next_option(&words, value_may_follow)) != NULL) {
		const size_t length = strcspn(word, "=");

		value_may_follow = may_have_value(word);
		if (length < LEAST_LETTERS || length >= sizeof(group) ||
		    strncmp(group, word, length) != 0)
			continue;
		value_may_follow = false;
		word = word[length] ? word + length : next(&words);
		if (word && strpbrk(word, ",-"))
			return true;
	}
	return false;
}

struct nt_step_where nt_where_told(const char *args, size_t bytes, const char *variable)
{
	struct nt_step_where where = nt_where_words(args, bytes);
	const char **const value[OPTIONS] = { &where.partition, &where.account, &where.qos };
	const int prefix = variable ? (int)(strlen(variable) - strlen(TWIN_END)) : 0;
	char name[32];

	for (size_t i = 0; i < OPTIONS; i++) {
		if (!*value[i] && prefix > 0) {
			snprintf(name, sizeof(name), "%.*s%s", prefix, variable,
				 options[i].variable);
			*value[i] = getenv(name);
		}
		if (*value[i] && (!(*value[i])[0] || strchr(*value[i], ',')))
			*value[i] = NULL;
	}
	return where;
}

size_t nt_where_command_line(char *out, size_t out_bytes)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t bytes = file ? fread(out, 1, out_bytes - 1, file) : 0;

	if (file)
		fclose(file);
	out[bytes] = '\0';
	return bytes;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* If the partition is set, a job without an account or a QOS has none. */
struct nt_step_where nt_where_environment(void)
{
	struct nt_step_where where = {
		.partition = variable("SLURM_JOB_PARTITION"),
		.account = variable("SLURM_JOB_ACCOUNT"),
		.qos = variable("SLURM_JOB_QOS"),
	};

	if (where.partition && !where.account)
		where.account = "";
	if (where.partition && !where.qos)
		where.qos = "";
	if (!NT_SLURM_TELLS_QOS)
		where.qos = NULL;
	return where;
}

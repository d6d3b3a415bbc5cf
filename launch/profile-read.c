/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The files of profiles: read as root perhaps, so bounded, line by line, and nothing guessed. */
#include "launch/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/file.h"

/* Where the reader is in a file. */
struct reader {
	struct nt_profiles *profiles;
	const char *file;
	unsigned line;
	struct nt_profile *open; /* the section being read */
	unsigned opened_at; /* its line */
	bool seen_here[NT_PROFILES_MAX]; /* named in this file already */
	bool summary, fabric, measured, disabled; /* keys seen in the section */
	struct nt_error *err;
};

static int fail_at(const struct reader *reader, unsigned line, const char *what)
{
	return nt_error_set(reader->err, "%.80s:%u: %s", reader->file, line, what);
}

static int fail(const struct reader *reader, const char *what)
{
	return fail_at(reader, reader->line, what);
}

static bool any_set(const struct nt_settings *settings)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		if (settings->set[i])
			return true;
	return false;
}

/* A variable of another fabric is a mistake: it would do nothing there. */
static int check_fabric(const struct nt_profile *profile, struct nt_error *err)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const struct nt_variable *variable = nt_variable_get(i);

		if (profile->settings.set[i] && variable->fabric != NT_FABRIC_ANY &&
		    variable->fabric != profile->fabric)
			return nt_error_set(err, "%s concerns fabric = %s only", variable->name,
					    nt_fabric_name(variable->fabric));
	}
	return 0;
}

static int close_section(struct reader *reader)
{
	struct nt_profile *profile = reader->open;
	struct nt_error why;

	reader->open = NULL;
	if (profile == NULL || profile->disabled)
		return 0;
	if (!any_set(&profile->settings))
		return fail_at(reader, reader->opened_at, "profile sets no variable");
	if (nt_settings_check(&profile->settings, &why) < 0 || check_fabric(profile, &why) < 0)
		return fail_at(reader, reader->opened_at, why.text);
	return 0;
}

/* The place of a profile by name, new or to be given anew; NT_PROFILES_MAX if there is no room. */
static unsigned place_of(struct nt_profiles *profiles, const char *name)
{
	unsigned i = 0;

	while (i < profiles->count && strcmp(profiles->profile[i].name, name) != 0)
		i++;
	if (i == profiles->count && i < NT_PROFILES_MAX)
		profiles->count++;
	return i;
}

static int open_section(struct reader *reader, char *text)
{
	char *end = strchr(text, ']');
	unsigned place;

	if (close_section(reader) < 0)
		return -1;
	if (end == NULL || end[1] != '\0')
		return fail(reader, "want [name] and nothing after it");
	*end = '\0';
	if (!nt_profile_name_valid(text + 1))
		return fail(reader, "bad name of a profile (want a-z, 0-9 and '-', at most 32)");
	if (strcmp(text + 1, NT_PROFILE_DEFAULT) == 0)
		return fail(reader, "'" NT_PROFILE_DEFAULT "' is NCCL's own and cannot be set");
	place = place_of(reader->profiles, text + 1);
	if (place == NT_PROFILES_MAX)
		return fail(reader, "too many profiles (want at most 64)");
	if (reader->seen_here[place])
		return fail(reader, "this profile stands in this file already");
	reader->seen_here[place] = true;
	reader->open = &reader->profiles->profile[place];
	reader->opened_at = reader->line;
	memset(reader->open, 0, sizeof(*reader->open));
	snprintf(reader->open->name, sizeof(reader->open->name), "%s", text + 1);
	reader->summary = reader->fabric = reader->measured = reader->disabled = false;
	return 0;
}

static int take_yes_no(struct reader *reader, bool *seen, bool *member, const char *value)
{
	if (*seen)
		return fail(reader, "this key stands in the section already");
	*seen = true;
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return fail(reader, "want yes or no");
	*member = value[0] == 'y';
	return 0;
}

static int take_summary(struct reader *reader, const char *value)
{
	if (reader->summary)
		return fail(reader, "summary stands in the section already");
	reader->summary = true;
	if (value[0] == '\0' || strlen(value) >= NT_PROFILE_SUMMARY)
		return fail(reader, "summary is empty or longer than 120 characters");
	snprintf(reader->open->summary, sizeof(reader->open->summary), "%s", value);
	return 0;
}

static int take_fabric(struct reader *reader, const char *value)
{
	int fabric = nt_fabric_parse(value);

	if (reader->fabric)
		return fail(reader, "fabric stands in the section already");
	reader->fabric = true;
	if (fabric < 0)
		return fail(reader, "unknown fabric (want any, socket or ib)");
	reader->open->fabric = (enum nt_fabric)fabric;
	return 0;
}

static int take_variable(struct reader *reader, const char *key, const char *value)
{
	struct nt_settings *settings = &reader->open->settings;
	int id = nt_variable_find(key);
	const char *near = nt_variable_near(key);
	struct nt_error why;

	if (id < 0) {
		if (near != NULL)
			nt_error_set(&why, "unknown key '%.40s', did you mean %s?", key, near);
		else
			nt_error_set(&why,
				     "unknown key '%.40s' (want summary, fabric, measured, "
				     "disabled or an NCCL variable of the list)",
				     key);
		return fail(reader, why.text);
	}
	if (settings->set[id])
		return fail(reader, "this variable stands in the section already");
	if (nt_variable_parse((unsigned)id, value, &settings->value[id], &why) < 0)
		return fail(reader, why.text);
	settings->set[id] = true;
	return 0;
}

static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		text[--length] = '\0';
	return text;
}

static int take_line(struct reader *reader, char *text)
{
	char *equals, *key, *value;

	text = trimmed(text);
	if (text[0] == '\0' || text[0] == '#' || text[0] == ';')
		return 0;
	if (text[0] == '[')
		return open_section(reader, text);
	equals = strchr(text, '=');
	if (equals == NULL)
		return fail(reader, "want [name], or key = value");
	if (reader->open == NULL)
		return fail(reader, "a key before the first [name]");
	*equals = '\0';
	key = trimmed(text);
	value = trimmed(equals + 1);
	if (strcmp(key, "summary") == 0)
		return take_summary(reader, value);
	if (strcmp(key, "fabric") == 0)
		return take_fabric(reader, value);
	if (strcmp(key, "measured") == 0)
		return take_yes_no(reader, &reader->measured, &reader->open->measured, value);
	if (strcmp(key, "disabled") == 0)
		return take_yes_no(reader, &reader->disabled, &reader->open->disabled, value);
	return take_variable(reader, key, value);
}

/* Printable ASCII and tabs; what is shown to users cannot move their cursor. */
static bool plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((text[i] < ' ' && text[i] != '\t') || text[i] > '~')
			return false;
	return true;
}

int nt_profiles_parse(struct nt_profiles *profiles, const char *name, const char *text,
		      size_t bytes, struct nt_error *err)
{
	struct reader reader = { .profiles = profiles, .file = name, .err = err };
	char line[NT_PROFILE_LINE_MAX];

	if (bytes > NT_PROFILE_FILE_MAX)
		return nt_error_set(err, "%.80s: longer than %d bytes", name, NT_PROFILE_FILE_MAX);
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end != NULL ? (size_t)(end - (text + at)) : bytes - at;

		reader.line++;
		if (length >= sizeof(line))
			return fail(&reader, "line is longer than 255 bytes");
		if (!plain(text + at, length))
			return fail(&reader, "line has a character that is not printable ASCII");
		memcpy(line, text + at, length);
		line[length] = '\0';
		if (take_line(&reader, line) < 0)
			return -1;
		at += length + 1;
	}
	return close_section(&reader);
}

int nt_profiles_read(struct nt_profiles *profiles, const char *path, unsigned flags,
		     struct nt_error *err)
{
	char *text;
	size_t bytes;
	int rc;

	if (nt_launch_file_read(AT_FDCWD, path, flags, NT_PROFILE_FILE_MAX, &text, &bytes, err) < 0)
		return -1;
	rc = nt_profiles_parse(profiles, path, text, bytes, err);
	free(text);
	return rc;
}

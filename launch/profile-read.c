/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile-read.c - read files of profiles, perhaps as root: bounded and strict (lib/ini.h) */
#include "launch/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"
#include "lib/ini.h"

struct profile_reader {
	struct nt_profiles *profiles;
	struct nt_profile *open; /* the section being read */
	unsigned opened_at[NT_PROFILES_MAX]; /* lines of this file; 0: not in it */
	bool fabric, disabled; /* keys seen in the section */
};

/* A variable of another fabric is a mistake: it would have no effect. */
static int check_fabric(const struct nt_profile *profile, struct nt_error *err)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const struct nt_variable *variable = nt_variable_get(i);

		if (profile->settings.set[i] && variable->fabric != NT_FABRIC_ANY &&
		    variable->fabric != profile->fabric)
			return nt_error_set(err,
					    "%s is valid with fabric = %s "
					    "only",
					    variable->name, nt_fabric_name(variable->fabric));
	}
	return 0;
}

static int check_profile(const struct nt_profile *profile, struct nt_error *err)
{
	if (profile->disabled)
		return 0;
	if (!nt_settings_any(&profile->settings))
		return nt_error_set(err, "profile sets no variable");
	if (nt_settings_check(&profile->settings, err) < 0)
		return -1;
	return check_fabric(profile, err);
}

/* Checks a whole section. */
static int check_all(const struct profile_reader *reader, const char *file, struct nt_error *err)
{
	const struct nt_profiles *profiles = reader->profiles;
	struct nt_error why;

	for (unsigned i = 0; i < profiles->count; i++) {
		if (reader->opened_at[i] != 0 && check_profile(&profiles->profile[i], &why) < 0)
			return nt_error_set(err, "%.80s:%u: %s", file, reader->opened_at[i],
					    why.text);
	}
	return 0;
}

/* The index of a profile by name, new or redefined; NT_PROFILES_MAX if there is no room. */
static unsigned index_of(struct nt_profiles *profiles, const char *name)
{
	unsigned i = 0;

	while (i < profiles->count && strcmp(profiles->profile[i].name, name) != 0)
		i++;
	if (i == profiles->count && i < NT_PROFILES_MAX)
		profiles->count++;
	return i;
}

static int open_section(struct profile_reader *reader, unsigned line, const char *name,
			struct nt_error *err)
{
	unsigned index;

	if (!nt_profile_name_valid(name))
		return nt_error_set(err, "bad profile name (want a-z, 0-9 and '-', at most 32)");
	if (strcmp(name, NT_PROFILE_DEFAULT) == 0)
		return nt_error_set(err, "'" NT_PROFILE_DEFAULT "' means NCCL's own settings and "
					 "cannot be set");
	index = index_of(reader->profiles, name);
	if (index == NT_PROFILES_MAX)
		return nt_error_set(err, "too many profiles (want at most 64)");
	if (reader->opened_at[index] != 0)
		return nt_error_set(err, "duplicate profile in this file");
	reader->opened_at[index] = line;
	reader->open = &reader->profiles->profile[index];
	memset(reader->open, 0, sizeof(*reader->open));
	snprintf(reader->open->name, sizeof(reader->open->name), "%s", name);
	reader->fabric = reader->disabled = false;
	return 0;
}

static int take_disabled(struct profile_reader *reader, const char *value, struct nt_error *err)
{
	if (reader->disabled)
		return nt_error_set(err, "duplicate disabled in the section");
	reader->disabled = true;
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return nt_error_set(err, "want yes or no");
	reader->open->disabled = value[0] == 'y';
	return 0;
}

static int take_fabric(struct profile_reader *reader, const char *value, struct nt_error *err)
{
	int fabric = nt_fabric_parse(value);

	if (reader->fabric)
		return nt_error_set(err, "duplicate fabric in the section");
	reader->fabric = true;
	if (fabric < 0)
		return nt_error_set(err, "unknown fabric (want " NT_FABRIC_NAMES ")");
	reader->open->fabric = (enum nt_fabric)fabric;
	return 0;
}

static int take_variable(struct profile_reader *reader, const char *key, const char *value,
			 struct nt_error *err)
{
	struct nt_settings *settings = &reader->open->settings;
	int id = nt_variable_find(key);

	if (id < 0)
		return nt_error_set(err,
				    "unknown key '%.40s' (want summary, source, fabric, measured, "
				    "disabled or a variable of nccl-tune-profiles(5))",
				    key);
	if (settings->set[id])
		return nt_error_set(err, "duplicate variable in the section");
	if (nt_variable_parse((unsigned)id, value, &settings->value[id], err) < 0)
		return -1;
	settings->set[id] = true;
	return 0;
}

static int take_line(void *context, unsigned line, const char *section, const char *key,
		     const char *value, struct nt_error *err)
{
	struct profile_reader *reader = context;

	if (key == NULL)
		return open_section(reader, line, section, err);
	if (reader->open == NULL)
		return nt_error_set(err, "a key before the first [name]");
	if (strcmp(key, "fabric") == 0)
		return take_fabric(reader, value, err);
	if (strcmp(key, "disabled") == 0)
		return take_disabled(reader, value, err);
	/* For people who read the file. */
	if (strcmp(key, "summary") == 0 || strcmp(key, "source") == 0 ||
	    strcmp(key, "measured") == 0)
		return 0;
	return take_variable(reader, key, value, err);
}

int nt_profiles_parse(struct nt_profiles *profiles, const char *name, const char *text,
		      size_t bytes, struct nt_error *err)
{
	struct profile_reader reader = { .profiles = profiles };

	if (nt_ini_read(name, text, bytes, take_line, &reader, err) < 0)
		return -1;
	return check_all(&reader, name, err);
}

int nt_profiles_read(struct nt_profiles *profiles, const char *path, unsigned flags,
		     struct nt_error *err)
{
	char *text;
	size_t bytes;
	int rc;

	if (nt_file_read_at(AT_FDCWD, path, flags, NT_PROFILE_FILE_MAX, &text, &bytes, err) < 0)
		return -1;
	rc = nt_profiles_parse(profiles, path, text, bytes, err);
	free(text);
	return rc;
}

int nt_profiles_read_both(struct nt_profiles *profiles, const char *shipped, const char *site,
			  struct nt_error *err)
{
	nt_profiles_init(profiles);
	if (nt_profiles_read(profiles, shipped, 0, err) < 0)
		return -1;
	errno = 0;
	if (site[0] == '\0' || nt_profiles_read(profiles, site, 0, err) == 0)
		return 0;
	return errno == ENOENT ? 0 : -1;
}

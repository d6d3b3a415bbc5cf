/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - launch profiles: named sets of start-up variables, from files that root owns
 *
 * The files are read in order: what we ship, then the site's. A later file may add a profile,
 * redefine one by its name, or disable one (disabled = yes). Mistakes are reported with their line.
 *
 * Threads:  any; a set belongs to its caller.
 * Memory:   a value of some 30 KiB; nothing is allocated beyond a call.
 * Errors:   -1 and *err set to FILE:LINE, what is wrong and what is accepted. After an error the
 *           set is incomplete and must not be used.
 */
#ifndef NT_LAUNCH_PROFILE_H
#define NT_LAUNCH_PROFILE_H

#include "launch/variable.h"

#define NT_SHIPPED_PROFILES NT_DATADIR "/profiles.conf"
#define NT_SITE_PROFILES NT_SYSCONFDIR "/nccl-tune/profiles.conf" /* read after the package's */
#define NT_PROFILES_MAX 64
#define NT_PROFILE_NAME 33 /* with its NUL; letters a-z, digits and '-' */
#define NT_PROFILE_FILE_MAX 65535 /* bytes; NT_INI_FILE_MAX */
#define NT_PROFILE_DEFAULT "default" /* NCCL's own settings: always exists, never in a file */

struct nt_profile {
	char name[NT_PROFILE_NAME];
	enum nt_fabric fabric;
	bool disabled;
	struct nt_settings settings;
};

/* In the files' order, which is the order of trials. */
struct nt_profiles {
	unsigned count;
	struct nt_profile profile[NT_PROFILES_MAX];
};

void nt_profiles_init(struct nt_profiles *profiles);
/* Read a file. A missing file is an error. flags: NT_FILE_ROOT_ONLY if the reader is root
 * (lib/file.h). */
int nt_profiles_read(struct nt_profiles *profiles, const char *path, unsigned flags,
		     struct nt_error *err);
/* The shipped file, then the site's, which may be missing or "". */
int nt_profiles_read_both(struct nt_profiles *profiles, const char *shipped, const char *site,
			  struct nt_error *err);
/* From a text; name: the file's name in messages. */
int nt_profiles_parse(struct nt_profiles *profiles, const char *name, const char *text,
		      size_t bytes, struct nt_error *err);

/* Is it for that network, and not disabled? */
bool nt_profile_fits(const struct nt_profile *profile, enum nt_fabric fabric);
/* The network between nodes like this one, where nothing has run yet: InfiniBand if NCCL may use an
 * active port here. */
enum nt_fabric nt_profiles_guess_fabric(void);
bool nt_profile_name_valid(const char *name);
/* NULL if there is none of this name or it is disabled. */
const struct nt_profile *nt_profiles_find(const struct nt_profiles *profiles, const char *name);
/* The same, with an error that lists names. */
const struct nt_profile *nt_profiles_want(const struct nt_profiles *profiles, const char *name,
					  struct nt_error *err);

/* A profile in a task with variables of its own. */
struct nt_resolved {
	struct nt_settings apply; /* to be set */
	/* Of a variable that is left out: the name of the one that is set, ended by a space or a
	 * NUL; else NULL. */
	const char *because[NT_VARIABLE_COUNT];
};

typedef bool nt_is_set(const char *name, void *context);

/* Leaves out the variables that is_set() reports, and those that NCCL reads together with them. */
void nt_profile_resolve(const struct nt_profile *profile, nt_is_set *is_set, void *context,
			struct nt_resolved *out);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - launch profiles: named sets of start-up variables, from files that root owns
 *
 * The files are read in order: what we ship, then the site's. A later file may add a profile,
 * give one anew by its name, or switch one off (disabled = yes). The reader is our own: it needs
 * libc only, since slurmstepd reads the files as root, and it says the line of every mistake.
 *
 * Threads:  any; a set belongs to its caller.
 * Memory:   a value of some 20 KiB; nothing is allocated beyond a call.
 * Errors:   -1 and *err set to FILE:LINE, what is wrong and what is accepted. A set that an error
 *           was met on holds what was read before it and must not be used.
 */
#ifndef NT_LAUNCH_PROFILE_H
#define NT_LAUNCH_PROFILE_H

#include "launch/variable.h"

#define NT_PROFILES_MAX 64
#define NT_PROFILE_NAME 33 /* with its NUL; letters a-z, digits and '-' */
#define NT_PROFILE_SUMMARY 121
#define NT_PROFILE_FILE_MAX 65536 /* bytes */
#define NT_PROFILE_LINE_MAX 256 /* with its NUL */
#define NT_PROFILE_DEFAULT "default" /* NCCL's own settings: always there, never in a file */

struct nt_profile {
	char name[NT_PROFILE_NAME];
	char summary[NT_PROFILE_SUMMARY];
	enum nt_fabric fabric;
	bool measured; /* somebody has measured it; else taken from documentation */
	bool disabled;
	struct nt_settings settings;
};

/* In the files' order, which is the order in which they are worth a try. */
struct nt_profiles {
	unsigned count;
	struct nt_profile profile[NT_PROFILES_MAX];
};

void nt_profiles_init(struct nt_profiles *profiles);
/* Adds what the file says. A file that does not exist is an error. flags: NT_LAUNCH_ROOT_ONLY where
 * the reader is root (launch/file.h). */
int nt_profiles_read(struct nt_profiles *profiles, const char *path, unsigned flags,
		     struct nt_error *err);
/* The same from text of so many bytes; name stands for the file in messages. */
int nt_profiles_parse(struct nt_profiles *profiles, const char *name, const char *text,
		      size_t bytes, struct nt_error *err);

bool nt_profile_name_valid(const char *name);
/* NULL if there is none of this name, or it is disabled. */
const struct nt_profile *nt_profiles_find(const struct nt_profiles *profiles, const char *name);
/* The same, with an error that lists the names there are. */
const struct nt_profile *nt_profiles_want(const struct nt_profiles *profiles, const char *name,
					  struct nt_error *err);

/* What becomes of a profile in a task that has variables of its own. */
struct nt_resolved {
	struct nt_settings apply; /* to be set */
	bool left[NT_VARIABLE_COUNT]; /* left alone */
	/* the variable found set: its name, ended by a space or the end */
	const char *because[NT_VARIABLE_COUNT];
	unsigned left_count;
};

typedef bool nt_is_set(const char *name, void *context);

/* Never touches what is_set() says is set, nor what NCCL reads together with it. */
void nt_profile_resolve(const struct nt_profile *profile, nt_is_set *is_set, void *context,
			struct nt_resolved *out);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* launch-paths.h - default paths of profiles and memories for the commands
 *
 * Threads:  the main thread.
 * Memory:   values.
 * Errors:   -1 and *err.
 */
#ifndef NT_LAUNCH_PATHS_H
#define NT_LAUNCH_PATHS_H

#include "contract/names.h"
#include "launch/memory.h"
#include "launch/profile.h"

struct nt_launch_paths {
	const char *memory; /* the user's; NULL: as launch/memory-dir.h says */
	const char *site_memory; /* NULL: the installed one */
	const char *profiles; /* NULL: the installed ones, then the site's */
};

/* The shipped profiles and the site's, or those of one file. */
int nt_launch_paths_profiles(const struct nt_launch_paths *paths, struct nt_profiles *out,
			     struct nt_error *err);

/* The directory of the user's memory. */
int nt_launch_paths_memory(const struct nt_launch_paths *paths, char out[NT_PATH_MAX],
			   struct nt_error *err);

/* The site's memory; empty if none is installed and none was asked for. */
int nt_launch_paths_read_site(const struct nt_launch_paths *paths, struct nt_memory *memory,
			      int64_t now_s, struct nt_error *err);

/* The path of a program next to this one, or the bare name if that is unknown. */
const char *nt_path_beside(const char *program, char out[NT_PATH_MAX]);

#endif

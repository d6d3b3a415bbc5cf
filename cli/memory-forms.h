/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-forms.h - the parts of nccl-tune memory
 *
 * Threads:  the main thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_REMEMBERED_H
#define NT_REMEMBERED_H

#include <stdio.h>
#include "contract/names.h"
#include "launch/memory.h"
#include "launch/profile.h"
#include "report/model/launch-paths.h"

/* What a subcommand is asked for; 0, NULL and false where an option was not given. */
struct nt_remembered_ask {
	struct nt_launch_paths paths;
	char directory[NT_PATH_MAX]; /* the user's memory */
	uint64_t fingerprint;
	const char *profile;
	bool all;
	const char *file; /* of export and import; "-" for standard output or input */
	int64_t now_s;
};

/* Does the entry match the request? An entry without sizes and fingerprint only records that a
 * calibration ran: it is neither shown nor exported. */
bool nt_remembered_takes(const struct nt_remembered_ask *ask, const struct nt_memory_entry *entry);

/* A table for each place: its profiles, and what a new job there gets. */
int nt_remembered_show(const struct nt_remembered_ask *ask, FILE *out, struct nt_error *err);

/* Write the requested entries of the user's memory as lines of JSON. *count: their number. */
int nt_remembered_export(const struct nt_remembered_ask *ask, size_t *count, struct nt_error *err);

/* Add the entries of a file to the user's memory. *skipped: lines that are none. */
int nt_remembered_import(const struct nt_remembered_ask *ask, size_t *count, unsigned *skipped,
			 struct nt_error *err);

#endif

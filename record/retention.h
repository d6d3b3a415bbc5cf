/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* retention.h - which files of many users to remove from a directory that exceeds its limits
 *
 * First files that are too old; then the oldest ones of each user with too many; then, while there
 * are too many or too large files in all, the oldest one of the user with the most. So a user who
 * fills the directory only loses his or her own.
 *
 * Threads:  pure functions, any thread.
 * Errors:   -1: no memory; nothing is marked.
 * Units:    seconds since 1970; bytes.
 */
#ifndef NT_RETENTION_H
#define NT_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_retention {
	size_t files, user_files;
	int64_t bytes; /* of all; 0: no limit */
	int64_t age_s;
};

struct nt_kept_file {
	const char *name; /* the caller's */
	uint32_t uid;
	int64_t time_s;
	int64_t bytes;
	bool drop; /* to be removed */
};

/* Sorts the items. Returns the number of those marked. */
int64_t nt_retention_choose(struct nt_kept_file *items, size_t count,
			    const struct nt_retention *keep, int64_t now_s);

#endif

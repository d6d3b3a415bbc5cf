/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longdir.h - the directories that hold the long form of records (long.h), for who writes it
 *
 * Runs with the user's rights and no others: where they are may be the user's word. A job's
 * directory must be the user's own and no link, so that in one that many share nobody writes into
 * another's.
 *
 * Threads:  one process of its own; a file system that hangs hangs it.
 * Memory:   file descriptors, the caller's.
 * Errors:   -1 and *err names the directory.
 * Units:    bytes, milliseconds.
 */
#ifndef NT_LONGDIR_H
#define NT_LONGDIR_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/long.h"

#define NT_LONG_JOBS_MAX 4096 /* that are looked at */

/* The directory of a user. parents: those above it are made as well, for the user alone; else only
 * itself is made, as in a directory of the site's, and must be the user's own. */
int nt_long_open(const char *path, bool parents, struct nt_error *err);

/* That of a job in it; *made: it was not there before. */
int nt_long_open_job(int fd, const char *name, bool *made, struct nt_error *err);

/* See to it that the jobs of the user have at most so much there: the oldest go first, then the
 * oldest parts of the one of that name, but for keep. Where there are more jobs than can be looked
 * at, in number or in time, the oldest quarter of what was seen goes. Returns how many parts
 * went. */
int64_t nt_long_trim(int fd, const char *name, const char *keep, int64_t max_bytes, int limit_ms);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longdir.h - the directories of the long form of records (long.h), for its writer
 *
 * Runs with the user's rights: the user may choose the directory. A job's directory must be the
 * user's and no link, so that users of a shared directory do not write to each other's.
 *
 * Threads:  one process of its own; it hangs if the file system does.
 * Memory:   file descriptors, the caller's.
 * Errors:   -1 and *err names the directory.
 * Units:    bytes.
 */
#ifndef NT_LONGDIR_H
#define NT_LONGDIR_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/long.h"

#define NT_LONG_JOBS_MAX 4096 /* that are listed */

/* A user's directory. parents: those above are created, too; otherwise it is created in a directory
 * of the site, and must be the user's. */
int nt_long_open(const char *path, bool parents, struct nt_error *err);

/* A job's in it; *made: it is new. */
int nt_long_open_job(int fd, const char *name, bool *made, struct nt_error *err);

/* Limits the size of the user's jobs: removes the oldest jobs, then the oldest parts of the named
 * job, except keep. If there are too many to list, the oldest quarter of those listed goes. Returns
 * the number of removed parts. */
int64_t nt_long_trim(int fd, const char *name, const char *keep, int64_t max_bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool-retention.h - limit the number and age of files in the spool and in a site's directory of
 * files, in total and by user (retention.h)
 *
 * Threads:  one at a time.
 * Errors:   -1 and *err.
 */
#ifndef NT_SPOOLKEEP_H
#define NT_SPOOLKEEP_H

#include "record/spool.h"

/* Checking all files takes time, so it is done when so many were added that a user may exceed his
 * or her share by a sixteenth. */
#define NT_SPOOL_OVER 16

/* Puts a file there (nt_spool_put), and enforces the limits. *dropped, if not NULL: files removed
 * for it. */
int nt_spool_write(int part_fd, enum nt_spool_part part, const struct nt_spool_entry *entry,
		   bool sync, int64_t *dropped, struct nt_error *err);

/* Enforces the limits: at once, or once an hour, or if there may be too many files; call it for
 * each added file. Returns the number of removed files, or -1. */
int64_t nt_spool_keep(int part_fd, enum nt_spool_part part, bool at_once);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool-retention.h - each part of the spool, and a site's directory of files, is bounded in number
 *                     and age, as a whole and by user (retention.h)
 *
 * Threads:  one at a time.
 * Memory:   none is handed over.
 * Errors:   -1 and *err.
 */
#ifndef NT_SPOOLKEEP_H
#define NT_SPOOLKEEP_H

#include "record/spool.h"

/* A look at every file costs what they are many, so it is taken once so many have come that there
 * may be a sixteenth of a user's share too many. */
#define NT_SPOOL_OVER 16

/* Put a file there (nt_spool_put), and hold the part to its bounds. *dropped, where that is wanted:
 * files that went for it. */
int nt_spool_write(int part_fd, enum nt_spool_part part, const struct nt_spool_entry *entry,
		   bool sync, int64_t *dropped, struct nt_error *err);

/* Hold the part to its bounds: at once, or where it is an hour since that was done last, or where
 * there may be too many; another file has come. The number of files that went, or -1. */
int64_t nt_spool_keep(int part_fd, enum nt_spool_part part, bool at_once);

#endif

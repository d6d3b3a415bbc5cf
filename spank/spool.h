/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - keep a step's record as a file, for later delivery or because the site wants it so
 *
 * <directory>/<cluster>.<job>.<step>.json, one line, as nccl-tune-record(5) describes it. The
 * directory is the daemon's own, mode 0700 if it is made here; the file appears whole or not at
 * all, and takes the place of an older one of the same step.
 *
 * Threads:  one at a time.
 * Errors:   -1 and *err.
 */
#ifndef NT_SPANK_SPOOL_H
#define NT_SPANK_SPOOL_H

#include <stdint.h>
#include "contract/error.h"

#define NT_SPOOL_FILES 10000 /* more are not kept: nobody empties the directory */

struct nt_spool_entry {
	const char *cluster;
	uint32_t job;
	const char *step;
	const char *record; /* printable ASCII without backslash */
};

int nt_spool_write(const char *directory, const struct nt_spool_entry *entry, struct nt_error *err);
/* No error if there is none. */
int nt_spool_remove(const char *directory, const struct nt_spool_entry *entry,
		    struct nt_error *err);

#endif

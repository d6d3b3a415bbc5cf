/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* backfill-settle.h - deliver records of the spool, and check those that were delivered
 *
 * A job's records are settled together once it has ended, with one query of accounting for many
 * jobs and one update for each job that needs it. spank/delivery/ decides where records go, and
 * when they are removed or set aside.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   one line each on stderr; the next run tries again.
 */
#ifndef NT_BACKFILL_SETTLE_H
#define NT_BACKFILL_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/spool.h"
#include "site/sinks.h"
#include "spank/delivery/queue.h"

#define NT_BACKFILL_PORTION 32 /* records that are settled together */

struct nt_backfill {
	bool dry_run;
	int64_t quiet_s; /* how long after a job's end its text may still be changed by others */
	int64_t deadline_ms; /* on nt_clock_ms(): nothing is begun after it */
	int parts[NT_QUEUE_PARTS]; /* open, by enum nt_spool_part */
	const struct nt_sinks *sinks; /* where the site wants records */
	size_t written, present, later, failed, dead;
};

struct nt_backfill_file {
	enum nt_spool_part part; /* NT_PART_WAITING or NT_PART_SENT */
	const char *name;
};

/* Settle count files, at most a portion; returns how many it looked at. *broken: accounting did not
 * answer. */
size_t nt_backfill_settle(struct nt_backfill *backfill, const struct nt_backfill_file *files,
			  size_t count, bool *broken);

#endif

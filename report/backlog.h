/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - bring records of the spool into the site's sinks, and see that those are there that
 * slurmctld was given
 *
 * A job's records are settled together, once it has ended: with one question to accounting for many
 * jobs, and one change for each that needs it. What AdminComment, or whichever sink of the site's
 * list is first, does not take the next one gets. A record that accounting has is let go when it
 * has been there for a while after the job's end, since other programs write then, too; one that
 * cannot be delivered for good is set aside with the reason.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   told one line each, on stderr; what could not be done is left for the next time.
 */
#ifndef NT_BACKLOG_H
#define NT_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/spool.h"
#include "site/sinks.h"

#define NT_BACKLOG_PORTION 32 /* records of a user that are settled together */

struct nt_backlog {
	bool dry_run;
	int64_t quiet_s; /* how long after a job's end its text may still be changed by others */
	int64_t deadline_ms; /* on nt_clock_ms(): nothing is begun after it */
	int parts[3]; /* open, by enum nt_spool_part */
	const struct nt_sinks *sinks; /* where the site wants records */
	size_t written, present, later, failed, dead;
};

struct nt_backlog_file {
	enum nt_spool_part part; /* NT_PART_WAITING or NT_PART_SENT */
	const char *name;
};

/* Settle count files (at most a portion): how many of them were looked at. *broken: accounting
 * could not be asked. */
size_t nt_backlog_settle(struct nt_backlog *backlog, const struct nt_backlog_file *files,
			 size_t count, bool *broken);

#endif

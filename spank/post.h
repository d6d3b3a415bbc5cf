/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* post.h - bring what waits of a job in the spool to a sink, for all steps of a node together
 *
 * Each step has put its record into the spool before. Whoever has the job's turn (turn.h) brings
 * all that waits with one writing, into the first of the site's sinks that takes it, moves it into
 * the spool's part NT_PART_SENT, and looks once more after a while; what went into files of the
 * site's is done with; the others find theirs gone. Where the next writing is not due yet, one
 * process waits for it and the others leave. What a writer that dies has not brought still lies in
 * the spool.
 *
 * Threads:  a process of its own, see account.h.
 * Errors:   the result; *err says why where it is neither NT_ACCOUNT_WRITTEN nor NT_ACCOUNT_QUEUED.
 * Units:    milliseconds.
 */
#ifndef NT_POST_H
#define NT_POST_H

#include "record/spool.h"
#include "spank/account.h"

struct nt_post {
	struct nt_spool_entry entry; /* ours; without a record: what others have left */
	const struct nt_sinks *sinks;
	const char *spool;
	const char *rundir;
	bool early; /* the step is still running: what ends goes first */
	bool last; /* the job ends: now or never */
	/* Called once, when the step need not wait any longer: slurmctld has the record, or the
	 * next writing is not due. */
	void (*handed)(void *argument);
	void *argument;
};

enum nt_account nt_post(const struct nt_post *post, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - what to do with a record that waits in the spool
 *
 * Decides from values, then moves the file. A record that slurmctld or accounting has is kept among
 * those sent until other programs no longer change the job's text; one that is in a file of the
 * site, or that no sink will ever take, is removed.
 *
 * Threads:  one at a time.
 * Memory:   the caller's.
 * Errors:   -1 and *err: the file stays where it is.
 * Units:    seconds.
 */
#ifndef NT_DELIVERY_QUEUE_H
#define NT_DELIVERY_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "record/spool.h"
#include "accounting/choose-sink.h"

#define NT_QUEUE_PARTS 2 /* of the spool: waiting, sent */

struct nt_queued {
	struct nt_spooled file;
	enum nt_spool_part part;
	enum nt_delivered result;
	bool damaged; /* file cannot be read */
	struct nt_error why; /* of NT_DELIVERED_FAILED and _NOWHERE, and of the damage */
};

/* What has failed for a week, as that of a job which accounting does not know, is tried no more:
 * NOWHERE. waiting_s: how long it has waited. */
enum nt_delivered nt_queue_judge(enum nt_delivered result, int64_t waiting_s);

enum nt_queue_move {
	NT_QUEUE_STAY,
	NT_QUEUE_REMOVE,
	NT_QUEUE_TO_SENT,
};

#define NT_QUEUE_RUNS (-1) /* ended_s of a job that has not ended */

/* ended_s: how long ago the job ended; quiet_s: how long after that others may still change its
 * text. */
enum nt_queue_move nt_queue_decide(const struct nt_queued *record, int64_t ended_s,
				   int64_t quiet_s);

/* parts: open, by enum nt_spool_part; -1: it cannot be used. */
int nt_queue_move(const int parts[NT_QUEUE_PARTS], const struct nt_queued *record,
		  enum nt_queue_move move, struct nt_error *err);

/* Does a step whose record was sent have a newer one, which waits? */
bool nt_queue_has_newer(const int parts[NT_QUEUE_PARTS], const char *name);

#endif

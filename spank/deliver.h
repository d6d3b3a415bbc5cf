/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.h - where nt-recordd puts a step's record: into the site's directory of files where that
 * is the first of its sinks, else into the spool and from there where post.h brings it
 *
 * Threads:  nt-recordd's one.
 * Memory:   the caller's; the errand is borrowed.
 * Errors:   told by say; the step is not told.
 * Units:    points in time on nt_clock_ms().
 */
#ifndef NT_DELIVER_H
#define NT_DELIVER_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/names.h"
#include "record/child.h"
#include "spank/account.h"
#include "spank/errand.h"

struct nt_delivery {
	const struct nt_errand *errand;
	struct nt_sinks sinks; /* where the site wants records */
	char step[NT_STEP_NAME_MAX];
	/* A line for slurmd's log; kind is NT_ERRAND_INFO or _ERROR. */
	void (*say)(char kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

	char record[NT_STEP_RECORD_MAX + 1]; /* that is being delivered */
	char written[NT_STEP_RECORD_MAX + 1]; /* as it was delivered last */
	enum nt_account result; /* of the last try */
	int64_t tried_ms; /* when that was; 0: never */
	bool early;
	bool spooled; /* it was put there */
	bool told; /* that it waits */
	/* One that is killed in the middle of a request might be served after a later one: that
	 * of the early record may end beside the last one's. */
	struct nt_child_running early_child, child;
	char first; /* that was read of its answer already; '\0': nothing */
};

/* While the step runs: nothing is said of failures. What was begun goes on meanwhile; false: it is
 * not at an end. */
void nt_deliver_early(struct nt_delivery *delivery, const char *record);
bool nt_deliver_early_done(struct nt_delivery *delivery);

/* At its end, in three parts: into the spool; until the step may go, or the time is up; to the
 * end of it. "" for a step without a record, which may be the last of a job whose other records
 * wait. */
void nt_deliver_begin(struct nt_delivery *delivery, const char *record);
void nt_deliver_wait(struct nt_delivery *delivery, int64_t until_ms);
void nt_deliver_end(struct nt_delivery *delivery, int64_t deadline_ms);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What to do with a record in the spool. */
#include "accounting/queue.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define FAILING_S (7 * 24 * 60 * 60)

enum nt_delivered nt_queue_judge(enum nt_delivered result, int64_t waiting_s)
{
	return result == NT_DELIVERED_FAILED && waiting_s > FAILING_S ? NT_DELIVERED_NOWHERE
								      : result;
}

enum nt_queue_move nt_queue_decide(const struct nt_queued *record, int64_t ended_s, int64_t quiet_s)
{
	if (record->result == NT_DELIVERED_NOWHERE || record->result == NT_DELIVERED_FILED)
		return NT_QUEUE_REMOVE;
	if (record->result != NT_DELIVERED_WRITTEN && record->result != NT_DELIVERED_PRESENT)
		return NT_QUEUE_STAY;
	if (ended_s != NT_QUEUE_RUNS && ended_s >= quiet_s)
		return NT_QUEUE_REMOVE;
	return record->part == NT_PART_WAITING ? NT_QUEUE_TO_SENT : NT_QUEUE_STAY;
}

int nt_queue_move(const int parts[NT_QUEUE_PARTS], const struct nt_queued *record,
		  enum nt_queue_move move, struct nt_error *err)
{
	/* Remove the step's older record, which was sent. */
	if (move == NT_QUEUE_REMOVE && record->part == NT_PART_WAITING && parts[NT_PART_SENT] >= 0)
		(void)unlinkat(parts[NT_PART_SENT], record->file.name, 0);
	switch (move) {
	case NT_QUEUE_REMOVE:
		if (!record->damaged)
			return nt_spooled_remove(&record->file, err);
		return unlinkat(record->file.directory_fd, record->file.name, 0) < 0
			       ? nt_error_set(err, "cannot remove it: %m")
			       : 0;
	case NT_QUEUE_TO_SENT:
		return parts[NT_PART_SENT] < 0
			       ? 0
			       : nt_spooled_move(&record->file, parts[NT_PART_SENT], err);
	default: return 0;
	}
}

bool nt_queue_has_newer(const int parts[NT_QUEUE_PARTS], const char *name)
{
	return faccessat(parts[NT_PART_WAITING], name, F_OK, 0) == 0;
}

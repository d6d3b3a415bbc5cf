/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Make the step's record from the ranks' records, whenever these have changed and at the step's
 * end. Records that change often are read less often. */
#include <string.h>
#include <unistd.h>
#include "lib/clock.h"
#include "record/step.h"
#include "recordd/collect.h"
#include "recordd/recordd-log.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"
#include "spank/step/shm-fd.h"

#define LIMIT_MS 3000
#define EVERY_MS 1000 /* between readings, at least ... */
#define SHARE 100 /* ... and so many times the processor time of the last one ... */
#define REST_MS 60000 /* ... up to this */
/* In the child: what precedes the record. */
struct head {
	uint64_t changes; /* up to those that it has read */
	uint64_t calibrated; /* not 0: the step's tasks have */
};

static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	struct {
		struct head head;
		char text[NT_STEP_RECORD_MAX + 2];
	} out = { { 0 }, "" };
	struct nt_step_read read;
	size_t bytes = sizeof(out.head);

	if (nt_recordd_become_user(recordd, out_fd, 0) < 0)
		return 1;
	out.head.changes = nt_shm_fd_changes(recordd->shm_fd);
	nt_step_record_read(recordd, &read);
	out.head.calibrated = read.calibrated;
	bytes += nt_step_record_make(recordd, &read, NULL, out.text);
	nt_step_read_fini(&read);
	return write(out_fd, &out, bytes) < 0;
}

static bool has_changed(const struct nt_recordd *recordd)
{
	return nt_shm_fd_changes(recordd->shm_fd) != recordd->reading.changes;
}

static bool is_due(const struct nt_recordd *recordd, int64_t now_ms)
{
	const struct nt_work *work = &recordd->work[NT_WORK_READER];

	if (nt_work_runs(work))
		return false;
	if (recordd->final)
		return recordd->arguments.first && !work->last;
	return now_ms >= recordd->reading.next_ms && has_changed(recordd);
}

static void tell_failure(const struct nt_recordd *recordd, const char *why)
{
	if (recordd->work[NT_WORK_READER].last)
		nt_recordd_tell(recordd, NT_ARGUMENTS_ERROR,
				"the records of its ranks could not be read: %s", why);
}

void nt_reader_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_error err;

	if (!is_due(recordd, now_ms))
		return;
	if (nt_recordd_begin(recordd, NT_WORK_READER, now_ms + LIMIT_MS, &err) < 0) {
		tell_failure(recordd, err.text);
		recordd->reading.next_ms = now_ms + EVERY_MS;
	}
}

bool nt_reader_take(struct nt_recordd *recordd, const char *out, size_t bytes, struct nt_error *err)
{
	struct nt_rank_reading *reading = &recordd->reading;

	if (bytes < 2 || bytes - 1 > NT_STEP_RECORD_MAX ||
	    nt_step_check(out + 1, bytes - 1, err) < 0)
		return false;
	reading->still = out[0] == NT_STEP_IS_STILL;
	reading->decided = reading->still || out[0] == NT_STEP_HAS_DECIDED;
	memcpy(reading->record, out + 1, bytes - 1);
	reading->record[bytes - 1] = '\0';
	return true;
}

static void rest(struct nt_rank_reading *reading, int64_t used_ms)
{
	int64_t rest_ms = used_ms * SHARE;

	if (rest_ms < EVERY_MS)
		rest_ms = EVERY_MS;
	if (rest_ms > REST_MS)
		rest_ms = REST_MS;
	reading->next_ms = nt_clock_ms() + rest_ms;
}

static void take_head(struct nt_rank_reading *reading, const char *bytes)
{
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	reading->changes = head.changes;
	reading->calibrated = head.calibrated != 0;
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;
	struct nt_rank_reading *reading = &recordd->reading;
	struct nt_error err = { "no rights of the user's" };
	bool taken = reading->with_memory; /* memory-work.c was faster */

	rest(reading, result->used_ms);
	if (nt_recordd_retry(recordd, NT_WORK_READER, result))
		return;
	if (result->why)
		nt_error_set(&err, "%s", result->why);
	else if (result->bytes >= sizeof(struct head))
		take_head(reading, result->out);
	if (!taken && !result->why && result->bytes > sizeof(struct head))
		taken = nt_reader_take(recordd, result->out + sizeof(struct head),
				       result->bytes - sizeof(struct head), &err);
	/* One byte without a record: there is nothing to read. */
	if (!taken && (result->why || result->bytes != sizeof(struct head) + 1))
		tell_failure(recordd, err.text);
}

const struct nt_work_kind nt_reader_kind = { .run = run, .ended = ended };

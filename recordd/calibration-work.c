/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Write what the step's tasks have measured to the user's memory while the program runs, for the
 * user's other jobs: a step may take days. The program's ranks tell the hardware and the network,
 * so it is tried until they have. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "recordd/recordd-log.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"

#define EVERY_MS 5000
#define TRIES 120
#define LIMIT_MS 10000

/* In the child: a byte once it is stored. */
static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	struct nt_step_read read;
	bool stored;

	if (nt_recordd_become_user(recordd, out_fd, NT_REMEMBER_FILE_MAX) < 0)
		return 1;
	nt_step_record_read(recordd, &read);
	stored = read.calibrated && read.ticket.memory[0] && read.sum.comm_count > 0 &&
		 nt_remember_calibration(&read.sum, &recordd->arguments, &read.ticket,
					 &read.calibration, false) == NULL;
	nt_step_read_fini(&read);
	return stored ? write(out_fd, "s", 1) < 0 : 0;
}

void nt_calibration_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_calibration_work *own = &recordd->calibration;
	struct stat status;
	struct nt_error err;

	if (recordd->final || !recordd->arguments.first || own->stored || own->tries == TRIES ||
	    recordd->arguments.memory_mib == NT_ARGUMENTS_NO_MEMORY || now_ms < own->next_ms ||
	    nt_work_runs(&recordd->work[NT_WORK_CALIBRATION]))
		return;
	own->next_ms = now_ms + EVERY_MS;
	if (recordd->dir_fd < 0 ||
	    fstatat(recordd->dir_fd, NT_CALIBRATED_FILE, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	own->tries++;
	(void)nt_recordd_begin(recordd, NT_WORK_CALIBRATION, now_ms + LIMIT_MS, &err);
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;

	if (!result->why && result->bytes == 1)
		recordd->calibration.stored = true;
}

const struct nt_work_kind nt_calibration_kind = { .run = run, .ended = ended };

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-lock.h - one writer of a job's text at a time on a node, at a limited rate
 *
 * A file for the job in a directory of root's in the run directory: a writer locks it, and it has
 * the time of the next update. The kernel releases the lock of a writer that dies. Up to
 * NT_JOB_PACE_BURST updates may follow at once, then one every NT_JOB_PACE_EVERY_MS.
 *
 * Threads:  one process, one thread per lock; the pace is a value.
 * Memory:   the caller's.
 * Errors:   -1: writers of this node cannot exclude each other; each writes by itself.
 * Units:    milliseconds of CLOCK_BOOTTIME.
 */
#ifndef NT_JOB_LOCK_H
#define NT_JOB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NT_JOB_PACE_BURST 6
#define NT_JOB_PACE_EVERY_MS 5000

/* The file's contents; all zero at first. */
struct nt_job_pace {
	int64_t due_ms; /* when all updates so far would be done at one per NT_JOB_PACE_EVERY_MS */
	int64_t keeper_ms; /* until then a writer waits, which delivers for the others */
};

enum nt_job_urgency {
	NT_JOB_EARLY, /* the step runs: half of the burst is left to steps that end */
	NT_JOB_AGAIN, /* another program replaced the text; may be tried later */
	NT_JOB_ENDED,
	NT_JOB_AT_ONCE, /* there is no later chance */
};

/* 0: the update may start now, and is counted. > 0: how long to wait for it, as the only process of
 * the job that waits, at most grace_ms longer. -1: another process waits, or EARLY or AGAIN would
 * have to. */
int64_t nt_job_pace_admit(struct nt_job_pace *pace, int64_t now_ms, enum nt_job_urgency urgency,
			  int64_t grace_ms);

int64_t nt_job_lock_now_ms(void);
/* Files of jobs that ended long ago are removed. */
int nt_job_lock_open(const char *rundir, uint32_t job);
bool nt_job_lock_try(int lock_fd); /* does not wait */
void nt_job_lock_release(int lock_fd);

/* While it is locked: nt_job_pace_admit() of the file's pace. Releases the lock unless it is 0. */
int64_t nt_job_lock_admit(int lock_fd, enum nt_job_urgency urgency, int64_t grace_ms);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - srun's side of nt-launch, the helper that chooses a step's launch profile
 *
 * The helper reads the user's memory, which may lie on a file system that is gone: it is a process
 * of its own with a deadline, with the user's rights, and srun goes on without it when it is slow.
 * A question is its command line, `nt-launch choose key=value...`; the answer its output, a line
 * key=value each. `nt-launch note ...` notes that the job has calibrated. `nt-launch run PID
 * PROGRAM...` becomes the program and ends when process PID does.
 *
 * Threads:  any one at a time; other threads of srun are not disturbed.
 * Memory:   values; texts of a question are the caller's.
 * Errors:   -1 and *err: there is no answer, or the helper refuses the question.
 * Units:    milliseconds, seconds.
 */
#ifndef NT_SPANK_LAUNCH_H
#define NT_SPANK_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/error.h"
#include "contract/names.h"
#include "launch/ticket.h"

#define NT_SHIPPED_PROFILES NT_DATADIR "/profiles.conf"
#define NT_SITE_PROFILES NT_SYSCONFDIR "/nccl-tune/profiles.conf" /* read after the package's */
#define NT_LAUNCH_PROGRAM "nt-launch" /* beside nt-recordd */
#define NT_ENV_CALIBRATION "NCCL_TUNE_CALIBRATION" /* "1" in the sruns of a calibration */
#define NT_LAUNCH_MS 5000 /* for one answer */
#define NT_LAUNCH_LINE 256
#define NT_LAUNCH_LATE 124 /* the exit status of what was ended for taking too long */

struct nt_launch_ask {
	const char *launch; /* off, auto or a profile's name */
	const char *hosts; /* of the step, as Slurm lists them; "": unknown */
	uint32_t nodes, tasks, job;
	int64_t array_task; /* -1: none */
	bool calibration;
	const char *profiles, *site_memory; /* paths */
	const char *allowed; /* profiles, joined by +; NULL: all */
};

struct nt_launch_answer {
	char ticket[NT_TICKET_MAX];
	char warm[NT_WARM_TEXT_MAX]; /* "": no arm is remembered */
	char text[NT_LAUNCH_LINE]; /* the choice, for people */
	char trouble[NT_LAUNCH_LINE]; /* what could not be read; "": nothing */
	bool may_calibrate; /* nothing is known, and a calibration would tell */
};

int nt_launch_choose(const char *program, const struct nt_launch_ask *ask,
		     struct nt_launch_answer *answer, struct nt_error *err);
int nt_launch_note(const char *program, const struct nt_launch_ask *ask, struct nt_error *err);

/* Runs argv for at most that long, with its output on stderr and its sruns beside the step; returns
 * its exit status, 128 + N after signal N. It ends with srun, too. */
int nt_launch_run(const char *program, char *const argv[], int64_t limit_s, struct nt_error *err);

#endif

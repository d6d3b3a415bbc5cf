/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ask-launch.h - srun runs nt-launch, which selects a step's launch profile
 *
 * nt-launch reads the user's files, which may be on a file system that hangs. So it is a separate
 * process with the user's privileges and a deadline, and srun continues without it if it is slow.
 * The request is its command line, `nt-launch choose key=value...`; the reply its output, one
 * key=value a line. `nt-launch calibrate ...` decides on a calibration, claims the place for it
 * (launch/claim.h) and prints what is to be measured (launch/measure/request.h).
 *
 * Threads:  any, one at a time; other threads of srun are not disturbed.
 * Memory:   values; the caller owns a request's texts.
 * Errors:   -1 and *err if there is no reply or nt-launch refuses the request.
 * Units:    milliseconds, seconds.
 */
#ifndef NT_ASK_LAUNCH_H
#define NT_ASK_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/names.h"
#include "contract/policy.h"
#include "launch/measure/request.h"
#include "launch/ticket.h"

#define NT_LAUNCH_PROGRAM "nt-launch" /* beside nt-recordd */
#define NT_LAUNCH_PATH (NT_PATH_MAX + sizeof(NT_LAUNCH_PROGRAM))
#define NT_LAUNCH_MS 1500 /* for one answer */
#define NT_LAUNCH_LINE 256

struct nt_launch_ask {
	const char *launch; /* off, auto or a profile's name */
	const char *hosts; /* of the step, as Slurm lists them; "": unknown */
	uint32_t nodes, tasks, job;
	uint32_t node_gpus; /* of the job on each node; 0: unknown */
	bool typed; /* launch/due.h */
	int64_t limit_s; /* likewise */
	const char *program; /* launch/program.h; "": unknown */
	const char *profiles, *site_memory; /* paths */
};

struct nt_launch_answer {
	char ticket[NT_TICKET_MAX];
	char warm[NT_WARM_TEXT_MAX]; /* "": no arm is remembered */
	char text[NT_LAUNCH_LINE]; /* the choice, for people */
	char trouble[NT_LAUNCH_LINE]; /* what could not be read; "": nothing */
	/* Why no calibration is due, whatever time the job has; "": one may be. */
	char not_due[NT_LAUNCH_LINE];
};

/* For a calibration. */
struct nt_launch_claim {
	bool gpus; /* launch/due.h */
	int64_t left_s; /* likewise */
	const char *address; /* of the step's first node */
};

int nt_launch_select(const char *program, const struct nt_launch_ask *ask,
		     struct nt_launch_answer *answer, struct nt_error *err);
/* 1: the step's tasks are to calibrate as request says, and the place is claimed; 0: they are not,
 * and why has the reason. */
int nt_launch_calibrate(const char *program, const struct nt_launch_ask *ask,
			const struct nt_launch_claim *claim, char request[NT_CAL_REQUEST_MAX],
			char why[NT_LAUNCH_LINE], struct nt_error *err);

#endif

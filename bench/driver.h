/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - nt-calibrate: what a step's tasks do together before they execute the program
 *
 * One driver in each task. That of task 0 also starts a server (driver-server.h), to which all
 * drivers connect (driver-main.c), its own included. The server says which profile is next; in a
 * lap, every driver starts its processes of nccl-tune-bench (driver-run.h). At the end the server
 * sends a choice, all drivers answer that they are ready, and the server commits it. The first
 * line of each side has one half of the request's token; what does not begin so is not read any
 * further.
 *
 *   driver to server                    server to driver
 *   hello 1 HALF TASK NODE GPUS AGE     welcome HALF
 *   ended RESULT WHY                    run PROFILE PROCS SECONDS LIMIT
 *   id HEX, library ..., call ...       id HEX
 *     (bench/main.c; task 0)         stop
 *   ready                               prepare PROFILE
 *   done                                commit PROFILE | none WHY
 *
 * Threads:  one.
 * Units:    milliseconds on nt_clock_ms(), which ends with _ms; seconds.
 */
#ifndef NT_DRIVER_H
#define NT_DRIVER_H

#include <stdbool.h>
#include "launch/measure/request.h"

#define NT_DRIVER_READY_MS 2000 /* from the choice until all are ready for it */
#define NT_DRIVER_DOUBT_MS 10000 /* how long one that is ready looks for the outcome */

struct nt_driver {
	struct nt_cal_request request; /* with the standard calls, if it had none */
	unsigned task, tasks, node, local; /* by Slurm's variables */
	unsigned gpus; /* processes in each task; 0: there is no GPU */
	unsigned port; /* the first of those that the server tries */
	int64_t start_ms;
	bool keeps; /* there is a descriptor of the node's memory, for the result */
};

/* How long drivers wait for each other. */
static inline int64_t nt_driver_join_ms(const struct nt_driver *driver)
{
	const int64_t third_ms = (int64_t)driver->request.seconds * 1000 / 3;

	return third_ms < 5000 ? 5000 : third_ms > 20000 ? 20000 : third_ms;
}

/* The profile of that number, 0 for NCCL's default; NULL: there is none. */
static inline const struct nt_cal_profile *nt_driver_profile(const struct nt_driver *driver,
							     unsigned which)
{
	static const struct nt_cal_profile base = { .name = NT_PROFILE_DEFAULT };

	if (which > driver->request.profiles)
		return NULL;
	return which == 0 ? &base : &driver->request.profile[which - 1];
}

#endif

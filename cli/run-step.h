/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* run-step.h - run srun without its output, and end its step when told to
 *
 * Unlike child.h, this sends SIGTERM before SIGKILL, because a killed srun leaves its step running.
 * The process has its own process group, so that Ctrl-C reaches it only through us.
 *
 * Threads:  single-threaded programs only: it forks.
 * Memory:   values.
 * Errors:   -1 and *err: it was not started. How it ended is in the result.
 * Units:    seconds.
 */
#ifndef NT_STEPRUN_H
#define NT_STEPRUN_H

#include <signal.h>
#include "lib/error.h"

struct nt_steprun {
	char *const *argv; /* argv[0] is looked for in PATH */
	double limit_s; /* it is ended after this time */
	const volatile sig_atomic_t *stop; /* it is ended when this is not 0 */
};

enum nt_stepend {
	NT_STEP_WELL = 0, /* exit status 0 */
	NT_STEP_FAILED,
	NT_STEP_LATE, /* ended at the limit */
	NT_STEP_STOPPED, /* ended because stop was set */
};

struct nt_stepresult {
	enum nt_stepend end;
	/* Its last line on stderr; printable; "": none. */
	char complaint[200];
};

int nt_steprun(const struct nt_steprun *run, struct nt_stepresult *result, struct nt_error *err);

#endif

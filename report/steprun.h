/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* steprun.h - run srun in front of a person who waits, and end the step with it
 *
 * Unlike child.h's, a process is asked to end before it is killed: a killed srun leaves its step
 * behind. It has a process group of its own, so that Ctrl-C reaches the step once and by us.
 *
 * Threads:  single-threaded programs only: it forks.
 * Memory:   values.
 * Errors:   -1 and *err: it was not started. What becomes of it is in the result.
 * Units:    seconds.
 */
#ifndef NT_STEPRUN_H
#define NT_STEPRUN_H

#include <signal.h>
#include <stdbool.h>
#include "contract/error.h"

struct nt_steprun {
	char *const *argv; /* argv[0] is looked for in PATH */
	double limit_s; /* then it is ended */
	const volatile sig_atomic_t *stop; /* once not 0 it is ended as well */
	void (*tick)(void *argument, double elapsed_s); /* several times a second; may be NULL */
	void *argument;
};

enum nt_stepend {
	NT_STEP_WELL = 0, /* exit status 0 */
	NT_STEP_FAILED,
	NT_STEP_LATE, /* ended at the limit */
	NT_STEP_STOPPED, /* ended since stop was set */
};

struct nt_stepresult {
	enum nt_stepend end;
	int status; /* exit status; 128 + N after signal N */
	double took_s;
	char complaint[200]; /* the last line that it wrote to stderr, printable; "" for none */
};

int nt_steprun(const struct nt_steprun *run, struct nt_stepresult *result, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deputy.h - run a function in a process of its own, for a bounded time, and take what it writes
 *
 * Threads:  single-threaded programs.
 * Memory:   the caller's buffer.
 * Errors:   -1 and *err. The child is dead when the call returns, or nothing can kill it and it is
 *           left alone.
 * Units:    milliseconds on CLOCK_MONOTONIC.
 */
#ifndef NT_DEPUTY_H
#define NT_DEPUTY_H

#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"

#define NT_DEPUTY_STOP_MS \
	300 /* killed in the middle of a request, it might be served after a later one */

int64_t nt_deputy_clock_ms(void);

struct nt_deputy {
	void (*run)(void *argument, int out_fd); /* in the child; it ends when this returns */
	void *argument;
	int64_t deadline_ms;
	int64_t remind_ms; /* when to call remind, once; 0: never */
	void (*remind)(void *argument);
	int stop_fd; /* something to read: the child has NT_DEPUTY_STOP_MS left; -1: none */
};

/* What the child wrote, with a NUL behind it: the number of bytes. Too much is an error. */
int nt_deputy_run(const struct nt_deputy *deputy, char *out, size_t out_bytes,
		  struct nt_error *err);

/* In the child of a root process: become uid and gid for good, with no groups, no way back up
 * and small limits. */
int nt_deputy_drop(uint32_t uid, uint32_t gid, struct nt_error *err);

#endif

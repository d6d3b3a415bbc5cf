/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - do something in a process of its own, for so long and with so much output, and no more
 *
 * Slurm's clients retry for minutes when a daemon is away; a process of its own can be ended.
 *
 * Threads:  from a single-threaded program only (nt_child_call forks without exec).
 * Memory:   nt_child_fini frees the output.
 * Errors:   -1 and *err says why there is no result: not started, too slow, too much output. The
 *           process is gone when the call returns, whatever the result.
 * Units:    milliseconds; bytes.
 */
#ifndef NT_CHILD_H
#define NT_CHILD_H

#include <stddef.h>
#include "contract/error.h"

struct nt_child {
	char *out; /* what it wrote to stdout, with a NUL behind it */
	size_t out_bytes;
	char complaint[160]; /* the last line it wrote to stderr, printable; "" for none */
	int status; /* exit status; 128 + N after signal N */
};

/* Run argv[0], looked for in PATH, with an empty stdin. */
int nt_child_run(struct nt_child *child, char *const argv[], size_t max_bytes, int timeout_ms,
		 struct nt_error *err);

/* Run call(argument) in a fork; what it returns (0..125) is the status. */
int nt_child_call(struct nt_child *child, int (*call)(void *argument), void *argument,
		  int timeout_ms, struct nt_error *err);

void nt_child_fini(struct nt_child *child);

#endif

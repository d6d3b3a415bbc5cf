/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - do something in a process of its own, for so long and with so much output, and no more
 *
 * Slurm's clients retry for minutes when a daemon is away, and a user's files may hold anything: a
 * process of its own can be given other rights, and can be ended.
 *
 * Threads:  nt_child_run from any; nt_child_call, which forks without exec, from a single-threaded
 *           program only.
 * Memory:   nt_child_fini frees the output.
 * Errors:   -1 and *err says why there is no result: not started, too slow, too much output. The
 *           process is gone when the call returns, whatever the result; or nothing can kill it, and
 *           it is left alone.
 * Units:    milliseconds, points in time on nt_clock_ms(); bytes.
 */
#ifndef NT_CHILD_H
#define NT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"

/* Killed in the middle of a request, it might be served after a later one. */
#define NT_CHILD_STOP_MS 300

struct nt_child {
	char *out; /* what it wrote, with a NUL behind it */
	size_t out_bytes;
	char complaint[160]; /* the last line it wrote to stderr, printable; "" for none */
	int status; /* exit status; 128 + N after signal N */
};

/* What a child may take, and what else there is to do meanwhile. */
struct nt_child_bounds {
	int64_t deadline_ms;
	size_t max_bytes; /* of its output */
	int stop_fd; /* something to read there: it has NT_CHILD_STOP_MS left; 0: none */
	int64_t remind_ms; /* when to call remind, once; 0: never */
	void (*remind)(void *argument);
	/* Gets the output as it comes, any number of bytes at a time, in place of child->out; -1
	 * and *err end the child. max_bytes does not count then. */
	int (*take)(void *argument, const char *data, size_t bytes, struct nt_error *err);
	void *argument; /* of remind and take */
};

int64_t nt_clock_ms(void); /* CLOCK_MONOTONIC */

/* Run argv[0], looked for in PATH, with an empty stdin. Its output is what it writes to stdout. */
int nt_child_run(struct nt_child *child, char *const argv[], size_t max_bytes, int timeout_ms,
		 struct nt_error *err);
int nt_child_run_within(struct nt_child *child, char *const argv[],
			const struct nt_child_bounds *bounds, struct nt_error *err);

/* Run call(argument) in a fork, which ends with this process; what it returns (0..125) is the
 * status. Its output is what it writes to out_fd; what libraries print counts as complaints. */
int nt_child_call(struct nt_child *child, int (*call)(void *argument, int out_fd), void *argument,
		  const struct nt_child_bounds *bounds, struct nt_error *err);

/* The same in two parts, for a child that runs beside other work. Whoever starts one ends it. */
struct nt_child_running {
	int pid; /* 0: none */
	int fds[2]; /* what it writes to out_fd, its complaints */
};

int nt_child_start(struct nt_child_running *running, int (*call)(void *argument, int out_fd),
		   void *argument, struct nt_error *err);
/* Whether it has written something, or ended: waits until until_ms for that. A child that writes
 * once, and at its end, has then done its work. */
bool nt_child_wait(const struct nt_child_running *running, int64_t until_ms);
/* To its end, within bounds, as nt_child_call does. */
int nt_child_end(struct nt_child *child, struct nt_child_running *running,
		 const struct nt_child_bounds *bounds, struct nt_error *err);

void nt_child_fini(struct nt_child *child);

#endif

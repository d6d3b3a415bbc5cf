/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - run something in a child process, with limits of time and output
 *
 * Slurm's clients retry for minutes while a daemon is down, and users' files may contain anything.
 * A child can have other rights and can be killed.
 *
 * Threads:  nt_child_run from any; nt_child_call and nt_child_start fork without exec: only in a
 *           single-threaded program.
 * Memory:   nt_child_fini frees the output.
 * Errors:   -1 and *err: not started, too slow, too much output. The process has ended when the
 *           call returns. One that cannot be killed is kept in struct nt_child_running, and no
 *           other is started with that until it has ended.
 * Units:    milliseconds, points in time on nt_clock_ms(); bytes.
 */
#ifndef NT_CHILD_H
#define NT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct nt_child {
	char *out; /* with a terminating NUL */
	size_t out_bytes;
	char complaint[160]; /* the last line on stderr, printable */
	int status; /* exit status; 128 + N after signal N */
};

struct nt_child_bounds {
	int64_t deadline_ms;
	size_t max_bytes; /* of its output */
	/* Gets the output piece by piece, instead of child->out and without max_bytes; -1 and *err
	 * end the child. */
	int (*take)(void *argument, const char *data, size_t bytes, struct nt_error *err);
	void *argument; /* of take */
};

/* Runs argv[0], searched in PATH, with an empty stdin. */
int nt_child_run(struct nt_child *child, char *const argv[], size_t max_bytes, int timeout_ms,
		 struct nt_error *err);
int nt_child_run_within(struct nt_child *child, char *const argv[],
			const struct nt_child_bounds *bounds, struct nt_error *err);

/* Runs call(argument) in a fork, which ends with this process. Its return value (0..125) is the
 * status; its output is what it writes to out_fd; what libraries print counts as complaints. */
int nt_child_call(struct nt_child *child, int (*call)(void *argument, int out_fd), void *argument,
		  const struct nt_child_bounds *bounds, struct nt_error *err);

/* In such a call: closes all descriptors above 2 except these (-1: none), such as pipes of other
 * children. */
void nt_child_close_others(int keep_fd, int also_fd);

/* The same in two parts. Every started child must be finished. Starts all zero. */
struct nt_child_running {
	int pid; /* 0: none */
	int fds[2]; /* reading ends of its output and stderr */
	int stuck_pid; /* one that could not be killed; 0: none */
};

int nt_child_start(struct nt_child_running *running, int (*call)(void *argument, int out_fd),
		   void *argument, struct nt_error *err);
int nt_child_end(struct nt_child *child, struct nt_child_running *running,
		 const struct nt_child_bounds *bounds, struct nt_error *err);

void nt_child_fini(struct nt_child *child);

#endif

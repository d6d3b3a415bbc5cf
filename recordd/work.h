/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - a kind of work that a child does in parallel with others: at most one child at a time,
 * each with a deadline
 *
 * Nobody waits for a child: nt_work_wait() polls all of them, reads their output, and kills those
 * that exceed their time. If a child cannot be killed, no other child of its kind is started while
 * it lives (child.h).
 *
 * Threads:  single-threaded programs only.
 * Memory:   the caller's; a result's texts are valid during the call.
 * Errors:   -1 and *err: it was not started.
 * Units:    milliseconds, points in time on nt_clock_ms().
 */
#ifndef NT_WORK_H
#define NT_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/names.h"
#include "lib/child.h"

#define NT_WORK_OUT_MAX (NT_STEP_RECORD_MAX + 512) /* the longest output */
#define NT_WORK_NO_DEADLINE INT64_MAX
#define NT_WORK_STOP_MS 300 /* that a child has to end in */

struct nt_work_result {
	const char *out; /* its output after the messages, with a NUL */
	size_t bytes;
	int status; /* exit status; 128 + N after signal N */
	const char *why; /* why it was killed; NULL: it has ended by itself */
	int64_t used_ms; /* processor time */
};

struct nt_work_kind {
	int (*run)(void *argument, int out_fd); /* in the child */
	/* Gets each byte before the result; true: it is a message. NULL: there are no messages. */
	bool (*byte)(void *argument, char byte);
	void (*ended)(void *argument, const struct nt_work_result *result);
};

struct nt_work {
	const struct nt_work_kind *kind;
	void *argument;
	struct nt_child_running child; /* all zero at first */
	int64_t deadline_ms;
	/* The owner's: it was begun before; the newest was begun after the step's end; the next
	 * runs outside of the step's cgroups. */
	bool begun, last, outside;
	bool silent; /* stderr is closed */
	char out[NT_WORK_OUT_MAX + 1];
	size_t bytes;
};

bool nt_work_runs(const struct nt_work *work);
int nt_work_start(struct nt_work *work, int64_t deadline_ms, struct nt_error *err);
void nt_work_hurry(struct nt_work *work, int64_t deadline_ms); /* move the deadline forward */
void nt_work_stop(struct nt_work *work); /* now, if it runs */

/* Waits until something happens, or until_ms. true: fd, if it is not -1, has something to read. */
bool nt_work_wait(struct nt_work *works, size_t count, int fd, int64_t until_ms);

#endif

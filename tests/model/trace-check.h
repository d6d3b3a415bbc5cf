/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-check.h - does docs/agreement.md allow what a trace says?
 *
 * The states and transitions of the agreement, written down once more, apart from the code that
 * makes them and apart from its structures. Each event is one transition; what the transition rests
 * on must be so before it. The transitions carry the names that they have in agree.pml, and
 * traces.bats compares the two lists.
 *
 * What is not checked: joining (agree.pml begins behind AGREED), positions in a window, waits that
 * do not end.
 *
 * Threads:  one.
 * Memory:   the checker's, grown as the trace names nodes, communicators and keys; out of memory
 *           aborts.
 */
#ifndef NT_MODEL_TRACE_CHECK_H
#define NT_MODEL_TRACE_CHECK_H

#include <stdbool.h>
#include "tests/model/trace.h"

/* What a transition rests on is in trace-check.c, at the function of its name. */
#define TRACE_TRANSITIONS(X)                                                     \
	/* a rank */                                                             \
	X(turn) /* publishes its turn */                                         \
	X(withdraw) /* publishes that its turn is unknown, or that it is gone */ \
	X(look) /* reads the hold */                                             \
	X(take) /* reads the epoch, and decides */                               \
	X(pass) /* publishes the epoch that it has switched to */                \
	X(flag)                                                                  \
	X(leave)                                                                 \
	/* a leader, in shared memory */                                         \
	X(open)                                                                  \
	X(hold)                                                                  \
	X(see) /* reads a rank's turn behind the hold */                         \
	X(install)                                                               \
	X(release)                                                               \
	X(settle) /* a committed plan is in force, and no recheck is on */       \
	X(recheck)                                                               \
	X(shut)                                                                  \
	/* ... its own answers */                                                \
	X(ready)                                                                 \
	X(ack)                                                                   \
	X(nack)                                                                  \
	X(data)                                                                  \
	/* ... and logs */                                                       \
	X(read)                                                                  \
	X(sum) /* a branch's answer */                                           \
	X(want)                                                                  \
	X(propose)                                                               \
	X(commit)                                                                \
	X(abort)                                                                 \
	X(close)                                                                 \
	X(refuse)

enum trace_transition {
#define X(name) TRACE_IS_##name,
	TRACE_TRANSITIONS(X)
#undef X
		TRACE_IS_COUNT
};

struct trace_check;

struct trace_check *trace_check_create(void);
void trace_check_destroy(struct trace_check *check);
/* False: the model does not allow the event. What comes behind the first such event is not
 * judged. */
bool trace_check_event(struct trace_check *check, const struct trace_event *event);
/* NULL, or the event that was not allowed, its transition and what is missing, in one line. */
const char *trace_check_wrong(const struct trace_check *check);
const uint64_t *trace_check_counts(const struct trace_check *check); /* by transition */
const char *trace_transition_name(enum trace_transition transition);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what happens on shared memory and in the logs of a step, as events in one order
 *
 * Nothing of it is in the product. nt-agree-sim is compiled with each atomic access and each entry
 * of a log written down (lab/sim/interleave.h); trace-check.h says whether docs/agreement.md allows
 * them.
 *
 * Units:    turns as in contract/shm-layout.h: published ones are plus one, others are not.
 */
#ifndef NT_MODEL_TRACE_H
#define NT_MODEL_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include "pmix-sync/log-entry.h"

#define TRACE_NOBODY UINT32_MAX

enum trace_what {
	TRACE_NONE = 0,
	TRACE_STORE, /* value is stored in `field` */
	TRACE_LOAD, /* value is what was loaded */
	TRACE_FREE, /* the communicator is taken out of the node's memory */
	TRACE_ANSWER, /* a node's own answer, before any sum */
	TRACE_APPEND, /* the entry is put in the node's log; from then on others may read it */
	TRACE_READ, /* the entry takes effect on the node; slot: the node whose log it was in */
	TRACE_SAY, /* both at once: a communicator of one node has no log */
	TRACE_PARTICIPANT, /* behind an appended AGREED: slot is a node that it names */
};

enum trace_field {
	TRACE_NO_FIELD = 0,
	TRACE_TURN,
	TRACE_PASSED,
	TRACE_HOLD,
	TRACE_EPOCH,
	TRACE_STATE, /* of a key */
	TRACE_SEAT, /* state of a slot */
	TRACE_FLAGS, /* of a slot: bits that are set */
};

struct trace_event {
	uint8_t what, field;
	uint8_t take; /* a load that a rank follows: that of `epoch` in nt_turn_advance() */
	uint8_t type; /* of an entry */
	uint32_t node;
	uint32_t slot; /* the rank's; TRACE_NOBODY: of no rank */
	uint32_t epoch; /* of an entry, or of the plan that is published */
	uint64_t comm, key;
	uint64_t value;
	uint64_t turn, until; /* of an entry; of the plan that is published */
};

/* What a place in shared memory is; false where no event is written for it. The event gets field,
 * slot, comm and key. */
_Bool trace_place(const struct nt_shm *shm, const void *at, struct trace_event *event);
/* The plan that a store of `epoch` publishes. */
void trace_plan(const void *at, struct trace_event *event);
struct trace_event trace_entry(enum trace_what what, uint32_t node, const struct nt_entry *entry);

#endif

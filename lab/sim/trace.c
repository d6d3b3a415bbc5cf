/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - each run's accesses and entries, given to the checker of the model as they happen */
#include <stdio.h>
#include "lab/sim/sim.h"
#include "tests/model/trace-check.h"
#include "tests/model/trace-wrap.h"

int sim_traced;
static struct trace_check *check;
static struct trace_event last_turn; /* of the rank that acts */

void trace_begin(struct sim *s)
{
	sim_traced = !s->o.untraced;
	check = sim_traced ? trace_check_create() : NULL;
}

void trace_end(struct sim *s, uint64_t seed)
{
	const char *wrong = check ? trace_check_wrong(check) : NULL;

	sim_traced = 0;
	if (wrong && s->t.unmodelled++ == 0)
		fprintf(stderr, "nt-agree-sim: seed %llu: %s\n", (unsigned long long)seed, wrong);
	_Static_assert(TRACE_IS_COUNT <= SIM_TRANSITIONS, "room for all transitions");
	for (unsigned i = 0; check && i < TRACE_IS_COUNT; i++) {
		s->t.transition[i] += trace_check_counts(check)[i];
		s->t.transitions += trace_check_counts(check)[i];
	}
	trace_check_destroy(check);
	check = NULL;
}

/* Which node's memory, and what of it. */
static bool find(const void *at, struct trace_event *event)
{
	struct sim *s = sim_now;

	if (s->inside_node && trace_place(s->inside_node->shm, at, event)) {
		event->node = (uint32_t)(s->inside_node - s->node);
		return true;
	}
	for (uint32_t n = 0; n < s->nodes; n++) {
		if (trace_place(s->node[n].shm, at, event)) {
			event->node = n;
			return true;
		}
	}
	return false;
}

void trace_give(const struct trace_event *event)
{
	if (check)
		(void)trace_check_event(check, event);
}

uint32_t trace_node_of(const struct nt_shm *shm)
{
	struct sim *s = sim_now;

	if (s->inside_node && s->inside_node->shm == shm)
		return (uint32_t)(s->inside_node - s->node);
	for (uint32_t n = 0; n < s->nodes; n++) {
		if (s->node[n].shm == shm)
			return n;
	}
	return 0;
}

void sim_trace_store(const void *at, uint64_t value)
{
	struct trace_event event = { .what = TRACE_STORE, .value = value };

	if (!find(at, &event))
		return;
	if (event.field == TRACE_NO_FIELD) {
		event.what = TRACE_FREE;
	} else if (event.field == TRACE_SEAT && value == NT_PARTICIPANT_FREE) {
		return;
	} else if (event.field == TRACE_EPOCH) {
		trace_plan(at, &event);
	} else if (event.field == TRACE_TURN) {
		last_turn = event;
	}
	trace_give(&event);
}

void sim_trace_load(const void *at, uint64_t value, int take)
{
	struct trace_event event = { .what = TRACE_LOAD, .value = value, .take = (uint8_t)take };

	if (!find(at, &event))
		return;
	if (event.field == TRACE_HOLD || (event.field == TRACE_EPOCH && take))
		event.slot = last_turn.slot;
	else if (event.field != TRACE_TURN)
		return;
	trace_give(&event);
}

void sim_trace_bits(const void *at, uint64_t bits)
{
	struct trace_event event = { .what = TRACE_STORE, .value = bits };

	if (find(at, &event) && event.field == TRACE_FLAGS)
		trace_give(&event);
}

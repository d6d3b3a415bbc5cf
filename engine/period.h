/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* period.h - the period of a stretch of a process's calls: the smallest repetition of what is
 * called that is also one of when
 *
 * Keys come first. A window of the stretch has the smallest period by which all its keys repeat,
 * four times at least. If the whole stretch has none, halves are looked at, and smaller parts:
 * three quarters of them must have the same. So a pause, an evaluation or a start in between does
 * no harm.
 *
 * Then gaps: of the multiples of that period, up to NT_PERIOD_MULTIPLES, the smallest is taken by
 * which the gaps between calls repeat as well as by any, and that has no larger one by which they
 * repeat better, beyond chance. So eight equal calls and a pause are one step. Gaps that are rare
 * at their position count as usual ones.
 *
 * The keys that such a step calls least are left out to see whether the others repeat more often:
 * then it is several parts of a step, or several steps and a line of a log. The step is the longer
 * one if the others' gaps show it, or if it is a small multiple, and the shorter one if not;
 * nothing is known if it could be either. Small keys (NT_PERIOD_SMALL bytes: a norm, a loss, a
 * log) that make the stretch irregular are left out, too, if they are as rare as a log's.
 *
 * Nothing is found in one key that is called evenly, as a benchmark does.
 *
 * Threads:  pure functions.
 * Memory:   some 300 KiB of the heap while it runs.
 * Errors:   without memory nothing is found.
 * Units:    nanoseconds of a monotonic clock.
 */
#ifndef NT_PERIOD_H
#define NT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#define NT_PERIOD_CALLS 8192 /* of a stretch, at most */
#define NT_PERIOD_KEYS 64 /* different ones of a step */
#define NT_PERIOD_LEAST 8 /* steps of a stretch */
#define NT_PERIOD_LEAST_LARGE 16 /* ... without a small key */
#define NT_PERIOD_MULTIPLES 32
#define NT_PERIOD_SMALL 4096

/* A call that a process made. */
struct nt_period_call {
	uint64_t ns;
	uint64_t key; /* nt_key_id() */
	uint32_t comm; /* serial number of the communicator in this process; never reused */
	uint32_t ranks; /* of the communicator */
	uint32_t number; /* of the key's calls, from 1; 0: it is not counted */
};

/* A step's calls. */
struct nt_period {
	unsigned calls; /* of a step, as far as they were looked at */
	unsigned periods; /* steps that were seen */
	unsigned keys;
	struct {
		struct nt_period_call newest; /* call of the stretch */
		unsigned calls; /* of a step */
	} key[NT_PERIOD_KEYS];
};

/* In time order. comm: look at its calls alone; 0: at all. False: none is known. */
bool nt_period_find(const struct nt_period_call *calls, unsigned count, uint32_t comm,
		    struct nt_period *found);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - what NCCL holds for an event, and hands back with its end and with the events below
 *            it: our number, and the handle of a chained profiler
 *
 * One form, whether or not a profiler is chained; the top byte says which:
 *
 *   0     theirs alone: a pointer of the process, as it is
 *   0xb8  ours alone: a number of tuner/slot.h or tuner/event.h
 *   0xb7  both, and theirs where it does not look like a pointer: a number that stands for a pair,
 *         in a ring
 *
 * Threads:  any.
 * Memory:   the ring is allocated once, when a profiler is chained, and never given back; a pair
 *           that was used anew stands for nothing. No allocation, lock or system call otherwise.
 */
#ifndef NT_HANDLE_H
#define NT_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_HANDLE_SHIFT 56
#define NT_HANDLE_PAIR UINT64_C(0xb7)
#define NT_HANDLE_OURS UINT64_C(0xb8)
#define NT_HANDLE_MASK ((UINT64_C(1) << NT_HANDLE_SHIFT) - 1)

/* Room for pairs. A second call changes nothing; one at a time. */
void nt_handle_make_room(void);

/* What NCCL is to hold. Ours goes where there is no room for a pair; NULL where nothing is left,
 * and then *lost is true if there was a handle of theirs. */
void *nt_handle_join(void *ours, void *theirs, bool *lost);

/* Of a pair; NULL: none, or used anew. */
void *nt_handle_of_pair(const void *event, bool ours);

static inline uint64_t nt_handle_tag(const void *event)
{
	return (uint64_t)(uintptr_t)event >> NT_HANDLE_SHIFT;
}

/* Ours alone, NULL included; it fits below the top byte. */
static inline void *nt_handle_of_ours(void *ours)
{
	return ours ? (void *)((uintptr_t)ours | NT_HANDLE_OURS << NT_HANDLE_SHIFT) : NULL;
}

static inline void *nt_handle_ours(const void *event)
{
	if (nt_handle_tag(event) == NT_HANDLE_OURS)
		return (void *)((uintptr_t)event & NT_HANDLE_MASK);
	return nt_handle_tag(event) == NT_HANDLE_PAIR ? nt_handle_of_pair(event, true) : NULL;
}

static inline void *nt_handle_theirs(const void *event)
{
	if (nt_handle_tag(event) == 0)
		return (void *)(uintptr_t)event;
	return nt_handle_tag(event) == NT_HANDLE_PAIR ? nt_handle_of_pair(event, false) : NULL;
}

#endif

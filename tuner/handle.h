/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - event handles that NCCL keeps: our number and a chained profiler's handle in one
 *
 * The same form whether or not a profiler is chained. The top byte is the type:
 *
 *   0     theirs only: a pointer of the process, unchanged
 *   0xb8  ours only: a number of tuner/event-slot.h or tuner/event.h
 *   0xb7  both, or theirs if it does not look like a pointer: the number of a pair in a ring
 *
 * Threads:  any.
 * Memory:   the ring is allocated once, when a profiler is chained, and never freed; the handle of
 *           an overwritten pair names nothing. No allocation, lock or system call otherwise.
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

/* Idempotent; one thread at a time. */
void nt_handle_make_room(void);

/* NULL: nothing is left. *lost: theirs was dropped. Without room for a pair, ours is. */
void *nt_handle_join(void *ours, void *theirs, bool *lost);

/* One half of a pair; NULL: none, or overwritten. */
void *nt_handle_of_pair(const void *event, bool ours);

static inline uint64_t nt_handle_tag(const void *event)
{
	return (uint64_t)(uintptr_t)event >> NT_HANDLE_SHIFT;
}

/* Ours only, or NULL. Must fit below the top byte. */
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

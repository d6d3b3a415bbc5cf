/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - device memory, and who has written to it
 *
 * A large collective may not be computed again: its output is then stale, and reading it is an
 * error, never a wrong number.
 *
 * Threads:  any.
 * Memory:   zeros, valid until nt_sim_memory_free().
 * Errors:   memory that is not device memory counts as written by the program.
 * Units:    bytes; ticks count changes of device memory in this process.
 */
#ifndef NT_SIMLIB_MEMORY_H
#define NT_SIMLIB_MEMORY_H

#include <stdbool.h>
#include "tests/simlib/api.h"

struct nt_sim_look {
	uint32_t newest; /* tick of the last change */
	bool written; /* the program wrote to a part of it after the last collective */
	bool stale; /* a part of it is stale */
};

NT_EXPORT void *nt_sim_memory_new(size_t bytes);
NT_EXPORT void nt_sim_memory_free(void *memory);
size_t nt_sim_memory_used(void);

NT_EXPORT struct nt_sim_look nt_sim_memory_look(const void *from, size_t bytes);
void nt_sim_memory_wrote(const void *to, size_t bytes); /* the program did */
NT_EXPORT uint32_t nt_sim_memory_computed(const void *to, size_t bytes); /* a collective did */
NT_EXPORT void nt_sim_memory_stale(const void *to, size_t bytes); /* a skipped one did */

/* Ends the process if the memory is stale. */
NT_EXPORT void nt_sim_memory_expect(const void *from, size_t bytes, const char *who);

#endif

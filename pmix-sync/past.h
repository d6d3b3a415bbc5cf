/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* past.h - the ids of communicators that this node has spoken of
 *
 * Logs are never forgotten, so that an id that comes again could be taken for the communicator
 * that had it before. A node therefore remembers every id that it has spoken of, and takes no
 * plan for it a second time.
 *
 * Memory:   nt_past_free gives back what nt_past_add took.
 */
#ifndef NT_SYNC_PAST_H
#define NT_SYNC_PAST_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: none. */
struct nt_past {
	uint64_t *id; /* 0: free */
	uint32_t cap, count;
};

bool nt_past_knows(const struct nt_past *past, uint64_t id);
bool nt_past_add(struct nt_past *past, uint64_t id); /* false: no room */
void nt_past_free(struct nt_past *past);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* used-ids.h - ids of communicators that this node has announced
 *
 * Logs are never truncated: a reused id could be taken for the communicator that had it before. So
 * a node remembers all ids that it announced, and takes no plans for them a second time.
 *
 * Memory:   nt_used_ids_free releases what nt_used_ids_add allocated.
 */
#ifndef NT_SYNC_USED_IDS_H
#define NT_SYNC_USED_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: empty. */
struct nt_used_ids {
	uint64_t *id; /* 0: free */
	uint32_t cap, count;
};

bool nt_used_ids_knows(const struct nt_used_ids *ids, uint64_t id);
bool nt_used_ids_add(struct nt_used_ids *ids, uint64_t id); /* false: no room */
void nt_used_ids_free(struct nt_used_ids *ids);

#endif

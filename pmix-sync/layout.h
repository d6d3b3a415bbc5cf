/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - guess which nodes a communicator's ranks are on, from the ranks on this node
 *
 * The guess only decides which logs are read: coordinators announce themselves by AGREED,
 * participants by CAPS. If it is wrong, the communicator keeps NCCL's choice.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 */
#ifndef NT_SYNC_LAYOUT_H
#define NT_SYNC_LAYOUT_H

#include <stdint.h>

/* A local rank. */
struct nt_layout_slot {
	uint32_t rank, task;
};

struct nt_layout {
	const struct nt_layout_slot *slot; /* sorted by rank, at least one */
	uint32_t slots;
	uint32_t ranks; /* of the communicator */
	uint32_t self, nodes, tasks; /* this node; of the step */
	int (*node_of_task)(void *arg, uint32_t task);
	void *arg;
};

/* Set likely[node] where rank 0 may be, or, with `every`, any rank: ranks in the order of tasks at
 * equal distances, or equal numbers of ranks on nodes at equal distances. */
void nt_layout_likely(const struct nt_layout *layout, int every, uint8_t *likely);

#endif

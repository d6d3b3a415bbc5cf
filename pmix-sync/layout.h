/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - where the ranks of a communicator probably are, from those that are here
 *
 * Nothing rests on the answer but how many logs are read: who is home is said by its own AGREED,
 * who takes part by the cards. A wrong guess leaves the communicator on AUTO.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 */
#ifndef NT_SYNC_LAYOUT_H
#define NT_SYNC_LAYOUT_H

#include <stdint.h>

/* A rank on this node. */
struct nt_layout_seat {
	uint32_t rank, task;
};

struct nt_layout {
	const struct nt_layout_seat *seat; /* in order of rank, at least one */
	uint32_t seats;
	uint32_t ranks; /* of the communicator */
	uint32_t self, nodes, tasks; /* this node; of the step */
	int (*node_of_task)(void *arg, uint32_t task);
	void *arg;
};

/* Marks in likely[nodes] where rank 0 may be, or with every set where any rank may be: ranks in
 * the order of tasks at equal distances, or equal numbers of ranks on nodes at equal distances. */
void nt_layout_likely(const struct nt_layout *layout, int every, uint8_t *likely);

#endif

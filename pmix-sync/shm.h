/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm.h - map the node's shared memory, take slots, register keys
 *
 * Threads:  open and close from one thread of a process; join, leave and keys from the thread that
 *           NCCL calls for that communicator. All are safe against other processes.
 * Memory:   the mapping belongs to struct nt_shm_map; slots point into it.
 * Errors:   -1 and *why set; nothing stays claimed.
 * Host:     pages are allocated before use (posix_fallocate): no memory is an error here and not
 *           a SIGBUS later.
 */
#ifndef NT_SYNC_SHM_H
#define NT_SYNC_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include "contract/shm-layout.h"

struct nt_node_step; /* contract/policy.h */

struct nt_shm_map {
	struct nt_shm *shm; /* NULL: not mapped */
	int fd; /* the node's memory; -1: none */
};

/* A rank's slot: shm->comm[comm].slot[index]. */
struct nt_slot {
	struct nt_shm *shm;
	uint32_t comm, index;
};

/* Opens the node's memory (shm-file.h) without mapping it: map->fd, and map->shm is NULL. Ranks of
 * a node with different memories do not meet, and keep NCCL's choice. */
int nt_shm_open(struct nt_shm_map *map, const struct nt_node_step *node_step,
		struct nt_reason *why);
/* Maps the agreement. After an error map->fd is still open. */
int nt_shm_map(struct nt_shm_map *map, struct nt_reason *why);
void nt_shm_close(struct nt_shm_map *map);

/* Helper thread of any process: add memory for a communicator's keys when little is left. */
void nt_shm_grow(struct nt_shm_map *map, uint32_t comm);

/* Claim a slot for a rank, and publish its capabilities. An error if the rank has joined already,
 * if there is no room, or if comm_id is 0. */
int nt_shm_join(struct nt_shm *shm, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		const struct nt_capabilities *caps, struct nt_slot *slot, struct nt_reason *why);
void nt_shm_leave(const struct nt_slot *slot);

/* Is this slot taken, or was it? They are taken in order. */
static inline bool nt_shm_taken(const struct nt_shm_comm *comm, uint32_t slot)
{
	return slot < NT_SHM_SLOTS &&
	       atomic_load_explicit(&comm->slot[slot].state, memory_order_seq_cst) !=
		       NT_PARTICIPANT_FREE;
}

/* Is this key claimed? They are claimed in order, and only those with memory: do not read any after
 * an unclaimed one. */
static inline bool nt_shm_claimed(const struct nt_shm_comm *comm, uint32_t key)
{
	/* Pairs with the store in nt_shm_grow(): the memory is there. */
	const uint32_t more = atomic_load_explicit(&comm->more_keys, memory_order_acquire);

	return key < NT_SHM_KEYS && key < NT_SHM_KEYS_AT_ONCE + more &&
	       atomic_load(&comm->key[key].id) != 0;
}

/* Ranks had joined here, and all have left. */
bool nt_shm_left(const struct nt_shm_comm *comm);

/* Do both use a GPU of this node, as far as can be told? A process has as many GPUs as ranks in the
 * communicator where it has most; more ranks than that in the two share a GPU. */
bool nt_shm_share_gpu(const struct nt_shm *shm, const struct nt_shm_comm *a,
		      const struct nt_shm_comm *b);

/* Node leader: clear and free a communicator that all local ranks have left. False, without effect,
 * if a rank is in it, or about to join any. Late readers of its atomics find zeros. */
bool nt_shm_retire(struct nt_shm *shm, uint32_t comm);

/* Index of the key in the slot's communicator, claimed at its first use on the node among the first
 * `most`; -1: all with memory are taken. Only who claims it stores baseline_arm and cost_us
 * (NT_PAIRS entries). No system call. */
int nt_shm_key(const struct nt_slot *slot, uint64_t key_id, uint32_t baseline_arm,
	       const float *cost_us, unsigned most);

/* Node leader: claim and clear a sample area for (comm, key); NT_NO_RUN: none is free. */
uint32_t nt_shm_run_take(struct nt_shm *shm, uint32_t comm, uint32_t key);
void nt_shm_run_free(struct nt_shm *shm, uint32_t run);

#endif

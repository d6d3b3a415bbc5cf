/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - map a node's board, take a seat at it, register keys
 *
 * Threads:  open and close from one thread of a process; join, leave and key registration from
 *           the thread that NCCL calls for that communicator; all of them safe against every
 *           other process on the board.
 * Memory:   the mapping belongs to struct nt_board_map; seats and indices point into it.
 * Errors:   -1 and *err set; nothing is left claimed.
 * Host:     a directory that only the user (and root) can write; what is used of the file is filled
 *           with posix_fallocate first, so that a full disk is an error here, no SIGBUS later. A
 *           process of the user's that truncates the file still is one, not so where it is sealed.
 */
#ifndef NT_SYNC_BOARD_H
#define NT_SYNC_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include "contract/board.h"
#include "contract/error.h"

struct nt_board_map {
	struct nt_board *board; /* NULL: not open */
	int fd; /* its file, to let it grow */
};

/* A rank's place: board->comm[comm].member[member]. */
struct nt_seat {
	struct nt_board *board;
	uint32_t comm, member;
};

/* The file in the step's directory, made at its first use. */
int nt_board_open(struct nt_board_map *map, const char *dir, struct nt_error *err);
/* The sealed one that slurmstepd has made: boardfile.h. Ranks of a node with different boards do
 * not meet, and stay on AUTO. */
int nt_board_open_sealed(struct nt_board_map *map, const char *path, const char *node, uint32_t job,
			 uint32_t step, struct nt_error *err);
void nt_board_close(struct nt_board_map *map);

/* Helper thread of any process: memory for more keys of a communicator, where few are left. Without
 * it keys get no place. */
void nt_board_grow(struct nt_board_map *map, uint32_t comm);

/* Claim a seat for a rank of communicator comm_id and publish its card. A rank that is seated
 * already, or a full board, is an error. comm_id 0 is an error. */
int nt_board_join(struct nt_board *board, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		  const struct nt_card *card, struct nt_seat *seat, struct nt_error *err);
void nt_board_leave(const struct nt_seat *seat);

/* Somebody has, or had, this seat. Seats are taken one after the other: nobody has those after one
 * that is free. */
static inline bool nt_board_taken(const struct nt_board_comm *comm, uint32_t member)
{
	return member < NT_BOARD_MEMBERS &&
	       atomic_load_explicit(&comm->member[member].state, memory_order_seq_cst) !=
		       NT_MEMBER_FREE;
}

/* Somebody has claimed this key. Keys are claimed one after the other, and only where they have
 * memory: nobody may look at those after one that is not. */
static inline bool nt_board_claimed(const struct nt_board_comm *comm, uint32_t key)
{
	/* Pairs with the store in nt_board_grow(): the memory is there. */
	const uint32_t more = atomic_load_explicit(&comm->more_keys, memory_order_acquire);

	return key < NT_BOARD_KEYS && key < NT_BOARD_KEYS_AT_ONCE + more &&
	       atomic_load(&comm->key[key].id) != 0;
}

/* Ranks of this communicator were seated here, and every one has left. */
bool nt_board_left(const struct nt_board_comm *comm);

/* Is a GPU of this node in both, as far as can be told? A process has as many GPUs as it has ranks
 * in the communicator where it has most; what it has in both, and more of that, they share. */
bool nt_board_share_gpu(const struct nt_board *board, const struct nt_board_comm *a,
			const struct nt_board_comm *b);

/* Speaker: clear the slot of a communicator that every rank of this node has left, and give it
 * back. False, and nothing has changed, where a rank is seated, or one is about to sit down
 * anywhere on the board. Who looks at it late, at what is atomic, finds nothing there. */
bool nt_board_retire(struct nt_board *board, uint32_t comm);

/* Index of the key in the seat's communicator, claiming a free one at its first use on the node;
 * -1 where all are taken that have memory. auto_arm and cost_us (NT_PAIRS entries) are stored by
 * the claimer only. No system call. */
int nt_board_key(const struct nt_seat *seat, uint64_t key_id, uint32_t auto_arm,
		 const float *cost_us);
/* ... that may claim one of the first `most` alone; another rank may have claimed any. */
int nt_board_key_among(const struct nt_seat *seat, uint64_t key_id, uint32_t auto_arm,
		       const float *cost_us, unsigned most);

/* Speaker: claim an exploration area for (comm, key) and clear it; NT_NO_RUN where all are
 * taken. */
uint32_t nt_board_run_take(struct nt_board *board, uint32_t comm, uint32_t key);
void nt_board_run_free(struct nt_board *board, uint32_t run);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - see board.h */
#include "pmix-sync/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"

/* Reserve every page now: a write to a mapped page that the file system cannot back would be a SIGBUS. */
static int fill(int fd, struct nt_error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return nt_error_set(err, "cannot look at the board: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return nt_error_set(err, "the board is not a file of this user");
	rc = posix_fallocate(fd, 0, (off_t)sizeof(struct nt_board));
	if (rc != 0)
		return nt_error_set(err, "no room for the board: %s", strerror(rc));
	return 0;
}

int nt_board_open(struct nt_board_map *map, const char *dir, struct nt_error *err)
{
	char path[NT_PATH_MAX + 32];
	uint32_t magic = 0;
	void *at;
	int rc = -1;
	int fd;

	map->board = NULL;
	snprintf(path, sizeof(path), "%s/%s.%u", dir, NT_BOARD_FILE, NT_BOARD_LAYOUT);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return nt_error_set(err, "cannot open %s: %s", path, strerror(errno));
	if (fill(fd, err) < 0)
		goto out;
	at = mmap(NULL, sizeof(struct nt_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		nt_error_set(err, "cannot map the board: %s", strerror(errno));
		goto out;
	}
	map->board = at;
	if (!atomic_compare_exchange_strong(&map->board->magic, &magic, NT_BOARD_MAGIC) && magic != NT_BOARD_MAGIC) {
		nt_error_set(err, "%s is no board", path);
		nt_board_close(map);
		goto out;
	}
	rc = 0;
out:
	close(fd);
	return rc;
}

void nt_board_close(struct nt_board_map *map)
{
	if (map->board)
		munmap(map->board, sizeof(struct nt_board));
	map->board = NULL;
}

/* The slot of a communicator, claimed at its first use on the node. */
static struct nt_board_comm *find_comm(struct nt_board *board, uint64_t comm_id, uint32_t *index)
{
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		struct nt_board_comm *comm = &board->comm[i];
		uint64_t id = 0;

		if (atomic_compare_exchange_strong(&comm->id, &id, comm_id) || id == comm_id) {
			*index = i;
			return comm;
		}
	}
	return NULL;
}

static bool is_seated(struct nt_board_comm *comm, int32_t rank)
{
	for (uint32_t i = 0; i < NT_BOARD_MEMBERS; i++) {
		if (atomic_load(&comm->member[i].state) >= NT_MEMBER_JOINED && comm->member[i].card.rank == rank)
			return true;
	}
	return false;
}

int nt_board_join(struct nt_board *board, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		  const struct nt_card *card, struct nt_seat *seat, struct nt_error *err)
{
	struct nt_board_comm *comm;
	uint32_t index;

	comm = comm_id ? find_comm(board, comm_id, &index) : NULL;
	if (!comm)
		return nt_error_set(err, "no room on the board for another communicator (%u are)", NT_BOARD_COMMS);
	if (is_seated(comm, card->rank))
		return nt_error_set(err, "rank %d of the communicator is on the board already", card->rank);
	atomic_store(&comm->ranks, ranks);
	atomic_store(&comm->nodes, nodes);
	for (uint32_t i = 0; i < NT_BOARD_MEMBERS; i++) {
		struct nt_board_member *member = &comm->member[i];
		uint32_t state = NT_MEMBER_FREE;

		if (!atomic_compare_exchange_strong(&member->state, &state, NT_MEMBER_JOINING))
			continue;
		member->card = *card;
		atomic_store(&member->pid, (uint32_t)getpid());
		atomic_store(&member->state, NT_MEMBER_JOINED);
		*seat = (struct nt_seat){ .board = board, .comm = index, .member = i };
		return 0;
	}
	return nt_error_set(err, "more than %u ranks of a communicator on one node", NT_BOARD_MEMBERS);
}

void nt_board_leave(const struct nt_seat *seat)
{
	atomic_store(&seat->board->comm[seat->comm].member[seat->member].state, NT_MEMBER_LEFT);
}

int nt_board_key(const struct nt_seat *seat, uint64_t key_id, uint32_t auto_arm, const float *cost_us)
{
	struct nt_board_comm *comm = &seat->board->comm[seat->comm];

	for (int i = 0; i < NT_BOARD_KEYS; i++) {
		struct nt_board_key *key = &comm->key[i];
		uint64_t id = 0;

		if (atomic_compare_exchange_strong(&key->id, &id, key_id)) {
			key->auto_arm = auto_arm;
			memcpy(key->cost_us, cost_us, sizeof(key->cost_us));
			atomic_store_explicit(&key->described, 1, memory_order_release);
			return i;
		}
		if (id == key_id)
			return i;
	}
	return -1;
}

uint32_t nt_board_run_take(struct nt_board *board, uint32_t comm, uint32_t key)
{
	for (uint32_t i = 0; i < NT_BOARD_RUNS; i++) {
		struct nt_board_run *run = &board->run[i];
		uint32_t owner = 0;

		if (!atomic_compare_exchange_strong(&run->owner, &owner, 1 + comm * NT_BOARD_KEYS + key))
			continue;
		for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
			atomic_store(&run->issued[m], 0);
			atomic_store(&run->done[m], 0);
			for (uint32_t p = 0; p < NT_RUN_POSITIONS; p++)
				atomic_store_explicit(&run->sample_ns[m][p], 0, memory_order_relaxed);
		}
		return i;
	}
	return NT_NO_RUN;
}

void nt_board_run_free(struct nt_board *board, uint32_t run)
{
	if (run != NT_NO_RUN)
		atomic_store(&board->run[run].owner, 0);
}

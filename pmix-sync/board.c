/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - see board.h */
#include "pmix-sync/board.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "pmix-sync/boardfile.h"

/* The part of the file from one byte on, before another. */
static int reserve(int fd, size_t from, size_t until)
{
	return posix_fallocate(fd, (off_t)from, (off_t)(until - from));
}

static size_t key_offset(uint32_t comm, uint32_t key)
{
	return offsetof(struct nt_board, comm) + comm * sizeof(struct nt_board_comm) +
	       offsetof(struct nt_board_comm, key) + key * sizeof(struct nt_board_key);
}

/* Reserve every page that is used now: a write to a mapped page that the file system cannot back
 * would be a SIGBUS. */
static int fill(int fd, struct nt_error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return nt_error_set(err, "cannot look at the board: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return nt_error_set(err, "the board is not a file of this user");
	rc = reserve(fd, offsetof(struct nt_board, run), sizeof(struct nt_board));
	if (rc == 0)
		rc = reserve(fd, 0, offsetof(struct nt_board, comm));
	for (uint32_t c = 0; rc == 0 && c < NT_BOARD_COMMS; c++)
		rc = reserve(fd, key_offset(c, 0) - offsetof(struct nt_board_comm, key),
			     key_offset(c, NT_BOARD_KEYS_AT_ONCE));
	if (rc != 0)
		return nt_error_set(err, "no room for the board: %s", strerror(rc));
	return 0;
}

/* fd becomes the map's, or is closed. */
static int map_take(struct nt_board_map *map, int fd, struct nt_error *err)
{
	uint32_t magic = 0;
	void *at = MAP_FAILED;

	if (fill(fd, err) == 0) {
		at = mmap(NULL, sizeof(struct nt_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED)
			nt_error_set(err, "cannot map the board: %s", strerror(errno));
	}
	if (at != MAP_FAILED) {
		map->board = at;
		if (atomic_compare_exchange_strong(&map->board->magic, &magic, NT_BOARD_MAGIC) ||
		    magic == NT_BOARD_MAGIC) {
			map->fd = fd;
			return 0;
		}
		nt_error_set(err, "it is no board");
		munmap(at, sizeof(struct nt_board));
		map->board = NULL;
	}
	close(fd);
	return -1;
}

int nt_board_open(struct nt_board_map *map, const char *dir, struct nt_error *err)
{
	int fd = nt_boardfile_open(dir, err);

	map->board = NULL;
	return fd >= 0 ? map_take(map, fd, err) : -1;
}

int nt_board_open_sealed(struct nt_board_map *map, const char *path, const char *node, uint32_t job,
			 uint32_t step, struct nt_error *err)
{
	int fd = nt_boardfile_open_sealed(path, node, job, step, err);

	map->board = NULL;
	return fd >= 0 ? map_take(map, fd, err) : -1;
}

void nt_board_close(struct nt_board_map *map)
{
	if (map->board) {
		munmap(map->board, sizeof(struct nt_board));
		close(map->fd);
	}
	map->board = NULL;
}

/* Never more than there are, whatever a rank has written there. */
static uint32_t keys_with_memory(const struct nt_board_comm *comm)
{
	const uint32_t most = NT_BOARD_KEYS - NT_BOARD_KEYS_AT_ONCE;
	/* Pairs with the store in nt_board_grow(): the memory is there. */
	const uint32_t more = atomic_load_explicit(&comm->more_keys, memory_order_acquire);

	return NT_BOARD_KEYS_AT_ONCE + (more < most ? more : most);
}

void nt_board_grow(struct nt_board_map *map, uint32_t comm)
{
	struct nt_board_comm *slot = &map->board->comm[comm];
	const uint32_t have = keys_with_memory(slot);
	uint32_t more = have - NT_BOARD_KEYS_AT_ONCE;

	if (have >= NT_BOARD_KEYS ||
	    atomic_load(&slot->key[have - NT_BOARD_KEYS_AT_ONCE / 2].id) == 0)
		return;
	if (reserve(map->fd, key_offset(comm, have),
		    key_offset(comm, have + NT_BOARD_KEYS_AT_ONCE)) == 0)
		/* Another process may have been faster. */
		(void)atomic_compare_exchange_strong(&slot->more_keys, &more,
						     more + NT_BOARD_KEYS_AT_ONCE);
}

/* Slots are freed only while nobody is in here, so that all ranks of a communicator find the
 * same one. A rank that dies in here keeps them from being freed, nothing else. */
static int enter(struct nt_board *board)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	for (int tries = 0; tries < 1000; tries++) {
		uint32_t inside = atomic_load(&board->gate);

		if (inside != NT_GATE_SHUT &&
		    atomic_compare_exchange_strong(&board->gate, &inside, inside + 1))
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

/* The slot of a communicator, claimed at its first use on the node. */
static struct nt_board_comm *find_comm(struct nt_board *board, uint64_t comm_id, uint32_t *index)
{
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		if (atomic_load(&board->comm[i].id) == comm_id) {
			*index = i;
			return &board->comm[i];
		}
	}
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		uint64_t id = 0;

		if (atomic_compare_exchange_strong(&board->comm[i].id, &id, comm_id) ||
		    id == comm_id) {
			*index = i;
			return &board->comm[i];
		}
	}
	return NULL;
}

/* All ranks are seated before anything is agreed, and nobody has left: else it is an id of the
 * past that comes again. */
static const char *why_not(struct nt_board_comm *comm, int32_t rank)
{
	if (atomic_load(&comm->state) != NT_COMM_JOINING)
		return "is of a communicator that is decided already";
	for (uint32_t i = 0; i < NT_BOARD_MEMBERS; i++) {
		uint32_t state = atomic_load(&comm->member[i].state);

		if (state == NT_MEMBER_LEFT)
			return "comes to a communicator that others have left";
		if (state == NT_MEMBER_JOINED && comm->member[i].card.rank == rank)
			return "is on the board already";
	}
	return NULL;
}

static int sit_down(struct nt_board_comm *comm, const struct nt_card *card, uint32_t *seat)
{
	for (uint32_t i = 0; i < NT_BOARD_MEMBERS; i++) {
		struct nt_board_member *member = &comm->member[i];
		uint32_t state = NT_MEMBER_FREE;

		if (!atomic_compare_exchange_strong(&member->state, &state, NT_MEMBER_JOINING))
			continue;
		member->card = *card;
		atomic_store(&member->pid, (uint32_t)getpid());
		atomic_store(&member->state, NT_MEMBER_JOINED);
		*seat = i;
		return 0;
	}
	return -1;
}

static int join(struct nt_board *board, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		const struct nt_card *card, struct nt_seat *seat, struct nt_error *err)
{
	struct nt_board_comm *comm;
	uint32_t index, member;
	const char *why;

	comm = comm_id ? find_comm(board, comm_id, &index) : NULL;
	if (!comm)
		return nt_error_set(err, "no room on the board for another communicator (%u are)",
				    NT_BOARD_COMMS);
	why = why_not(comm, card->rank);
	if (why) {
		/* Who is here must not go on as if this rank were: it is on AUTO. */
		atomic_fetch_or(&comm->member[0].flags, NT_MEMBER_ODD);
		return nt_error_set(err, "rank %d %s", card->rank, why);
	}
	atomic_store(&comm->ranks, ranks);
	atomic_store(&comm->nodes, nodes);
	if (sit_down(comm, card, &member) < 0)
		return nt_error_set(err, "more than %u ranks of a communicator on one node",
				    NT_BOARD_MEMBERS);
	*seat = (struct nt_seat){ .board = board, .comm = index, .member = member };
	return 0;
}

int nt_board_join(struct nt_board *board, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		  const struct nt_card *card, struct nt_seat *seat, struct nt_error *err)
{
	int rc;

	if (enter(board) < 0)
		return nt_error_set(err, "the board is being tidied up for too long");
	rc = join(board, comm_id, ranks, nodes, card, seat, err);
	atomic_fetch_sub(&board->gate, 1);
	return rc;
}

void nt_board_leave(const struct nt_seat *seat)
{
	atomic_store(&seat->board->comm[seat->comm].member[seat->member].state, NT_MEMBER_LEFT);
}

bool nt_board_left(const struct nt_board_comm *comm)
{
	bool any = false;

	for (uint32_t i = 0; nt_board_taken(comm, i); i++) {
		uint32_t state = atomic_load(&comm->member[i].state);

		if (state != NT_MEMBER_FREE && state != NT_MEMBER_LEFT)
			return false;
		any |= state == NT_MEMBER_LEFT;
	}
	return any;
}

static uint32_t seated_pid(const struct nt_board_comm *comm, uint32_t member)
{
	return atomic_load(&comm->member[member].state) == NT_MEMBER_JOINED
		       ? atomic_load(&comm->member[member].pid)
		       : 0;
}

static uint32_t ranks_in(const struct nt_board_comm *comm, uint32_t pid)
{
	uint32_t ranks = 0;

	for (uint32_t m = 0; nt_board_taken(comm, m); m++)
		ranks += seated_pid(comm, m) == pid;
	return ranks;
}

static uint32_t gpus_of(const struct nt_board *board, uint32_t pid)
{
	uint32_t gpus = 0;

	for (uint32_t c = 0; c < NT_BOARD_COMMS; c++) {
		const struct nt_board_comm *comm = &board->comm[c];
		uint32_t ranks = atomic_load(&comm->id) != 0 ? ranks_in(comm, pid) : 0;

		gpus = ranks > gpus ? ranks : gpus;
	}
	return gpus;
}

bool nt_board_share_gpu(const struct nt_board *board, const struct nt_board_comm *a,
			const struct nt_board_comm *b)
{
	for (uint32_t m = 0; nt_board_taken(a, m); m++) {
		const uint32_t pid = seated_pid(a, m);
		const uint32_t of_b = pid != 0 ? ranks_in(b, pid) : 0;

		if (of_b > 0 && ranks_in(a, pid) + of_b > gpus_of(board, pid))
			return true;
	}
	return false;
}

/* All of these are looked at by others: what is atomic is cleared so. */
#define NT_CLEAR(member) atomic_store_explicit(&(member), 0, memory_order_relaxed)

/* GPU times that come after their communicator's end still look at the epoch (tuner/event.c): it
 * goes first. The id goes last: who finds the place free finds it clear. */
static void clear_key(struct nt_board_key *key)
{
	NT_CLEAR(key->epoch);
	NT_CLEAR(key->state);
	NT_CLEAR(key->hold_at);
	NT_CLEAR(key->tasks);
	NT_CLEAR(key->gap);
	NT_CLEAR(key->described);
	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		NT_CLEAR(key->calls[m]);
		NT_CLEAR(key->turn[m]);
		NT_CLEAR(key->passed[m]);
	}
	for (uint32_t p = 0; p < NT_PAIRS; p++) {
		NT_CLEAR(key->channels[p]);
		key->cost_us[p] = 0;
	}
	key->auto_arm = key->result_bytes = 0;
	memset(key->plan, 0, sizeof(key->plan));
	memset(key->result, 0, sizeof(key->result));
	atomic_store_explicit(&key->id, 0, memory_order_release);
}

static void clear_member(struct nt_board_member *member)
{
	NT_CLEAR(member->flags);
	NT_CLEAR(member->pid);
	memset(&member->card, 0, sizeof(member->card));
	atomic_store_explicit(&member->state, NT_MEMBER_FREE, memory_order_release);
}

bool nt_board_retire(struct nt_board *board, uint32_t comm)
{
	struct nt_board_comm *slot = &board->comm[comm];
	uint32_t nobody = 0;
	bool left;

	if (!atomic_compare_exchange_strong(&board->gate, &nobody, NT_GATE_SHUT))
		return false;
	left = nt_board_left(slot);
	if (left) {
		atomic_store(&slot->ranks, 0);
		atomic_store(&slot->nodes, 0);
		atomic_store(&slot->state, NT_COMM_JOINING);
		memset(slot->why, 0, sizeof(slot->why));
		for (uint32_t k = 0; k < keys_with_memory(slot); k++)
			clear_key(&slot->key[k]);
		for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++)
			clear_member(&slot->member[m]);
		atomic_store(&slot->id, 0);
	}
	atomic_store(&board->gate, 0);
	return left;
}

int nt_board_key(const struct nt_seat *seat, uint64_t key_id, uint32_t auto_arm,
		 const float *cost_us)
{
	return nt_board_key_among(seat, key_id, auto_arm, cost_us, NT_BOARD_KEYS);
}

int nt_board_key_among(const struct nt_seat *seat, uint64_t key_id, uint32_t auto_arm,
		       const float *cost_us, unsigned most)
{
	struct nt_board_comm *comm = &seat->board->comm[seat->comm];
	const unsigned have = keys_with_memory(comm);

	for (unsigned i = 0; i < have; i++) {
		struct nt_board_key *key = &comm->key[i];
		uint64_t id = 0;

		/* All before it are claimed, and it is not there. */
		if (i >= most && atomic_load(&key->id) == 0)
			return -1;
		if (i < most && atomic_compare_exchange_strong(&key->id, &id, key_id)) {
			key->auto_arm = auto_arm;
			memcpy(key->cost_us, cost_us, sizeof(key->cost_us));
			atomic_store_explicit(&key->described, 1, memory_order_release);
			return (int)i;
		}
		if (atomic_load(&key->id) == key_id)
			return (int)i;
	}
	return -1;
}

uint32_t nt_board_run_take(struct nt_board *board, uint32_t comm, uint32_t key)
{
	for (uint32_t i = 0; i < NT_BOARD_RUNS; i++) {
		struct nt_board_run *run = &board->run[i];
		uint32_t owner = 0;

		if (!atomic_compare_exchange_strong(&run->owner, &owner,
						    1 + comm * NT_BOARD_KEYS + key))
			continue;
		for (uint32_t m = 0; nt_board_taken(&board->comm[comm], m); m++) {
			atomic_store(&run->issued[m], 0);
			atomic_store(&run->done[m], 0);
			for (uint32_t p = 0; p < NT_RUN_POSITIONS; p++) {
				atomic_store_explicit(&run->sample[m][p], 0, memory_order_relaxed);
				atomic_store_explicit(&run->period[m][p], 0, memory_order_relaxed);
				atomic_store_explicit(&run->own[m][p], 0, memory_order_relaxed);
			}
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

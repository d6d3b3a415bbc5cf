/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/shm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/reserve.h"
#include "pmix-sync/shm-file.h"

static size_t key_offset(uint32_t comm, uint32_t key)
{
	return offsetof(struct nt_shm, comm) + comm * sizeof(struct nt_shm_comm) +
	       offsetof(struct nt_shm_comm, key) + key * sizeof(struct nt_shm_key);
}

static int fail(struct nt_reason *why, int error)
{
	return nt_reason_setf(why, NT_REASON_SHM_OPEN, "%s:%s", NT_SHM_FILE, strerror(error));
}

/* A write to a page that the file system cannot back is a SIGBUS: allocate all pages in use. */
static int fill(int fd, struct nt_reason *why)
{
	int rc = nt_reserve(fd, offsetof(struct nt_shm, run), sizeof(struct nt_shm));

	if (rc == 0)
		rc = nt_reserve(fd, 0, offsetof(struct nt_shm, comm));
	for (uint32_t c = 0; rc == 0 && c < NT_SHM_COMMS; c++)
		rc = nt_reserve(fd, key_offset(c, 0) - offsetof(struct nt_shm_comm, key),
				key_offset(c, NT_SHM_KEYS_AT_ONCE));
	if (rc != 0)
		return fail(why, rc);
	return 0;
}

int nt_shm_open(struct nt_shm_map *map, const struct nt_node_step *node_step, struct nt_reason *why)
{
	map->shm = NULL;
	map->fd = nt_shm_file_open(node_step, why);
	return map->fd >= 0 ? 0 : -1;
}

int nt_shm_map(struct nt_shm_map *map, struct nt_reason *why)
{
	uint32_t magic = 0;
	struct nt_shm *at;

	if (fill(map->fd, why) < 0)
		return -1;
	at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
	if (at == MAP_FAILED)
		return fail(why, errno);
	if (atomic_compare_exchange_strong(&at->magic, &magic, NT_SHM_MAGIC) ||
	    magic == NT_SHM_MAGIC) {
		map->shm = at;
		return 0;
	}
	munmap(at, sizeof(*at));
	return nt_reason_setf(why, NT_REASON_SHM_FILE, "%s", NT_SHM_FILE);
}

void nt_shm_close(struct nt_shm_map *map)
{
	if (map->shm)
		munmap(map->shm, sizeof(struct nt_shm));
	if (map->fd >= 0)
		close(map->fd);
	*map = (struct nt_shm_map){ .fd = -1 };
}

/* Bounded, whatever other processes write. */
static uint32_t keys_with_memory(const struct nt_shm_comm *comm)
{
	const uint32_t most = NT_SHM_KEYS - NT_SHM_KEYS_AT_ONCE;
	/* Pairs with the store in nt_shm_grow(): the memory is there. */
	const uint32_t more = atomic_load_explicit(&comm->more_keys, memory_order_acquire);

	return NT_SHM_KEYS_AT_ONCE + (more < most ? more : most);
}

void nt_shm_grow(struct nt_shm_map *map, uint32_t comm)
{
	struct nt_shm_comm *entry = &map->shm->comm[comm];
	const uint32_t have = keys_with_memory(entry);
	uint32_t more = have - NT_SHM_KEYS_AT_ONCE;

	if (have >= NT_SHM_KEYS || atomic_load(&entry->key[have - NT_SHM_KEYS_AT_ONCE / 2].id) == 0)
		return;
	if (nt_reserve(map->fd, key_offset(comm, have),
		       key_offset(comm, have + NT_SHM_KEYS_AT_ONCE)) == 0)
		/* Fails if another process was first. */
		(void)atomic_compare_exchange_strong(&entry->more_keys, &more,
						     more + NT_SHM_KEYS_AT_ONCE);
}

/* Communicators are freed only while nobody is inside: all ranks find the same one. If a rank dies
 * inside, none is freed any more. */
static int enter(struct nt_shm *shm)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	for (int tries = 0; tries < 1000; tries++) {
		uint32_t inside = atomic_load(&shm->gate);

		if (inside != NT_GATE_SHUT &&
		    atomic_compare_exchange_strong(&shm->gate, &inside, inside + 1))
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

/* Claims memory at its first use on the node. */
static struct nt_shm_comm *find_comm(struct nt_shm *shm, uint64_t comm_id, uint32_t *index)
{
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		if (atomic_load(&shm->comm[i].id) == comm_id) {
			*index = i;
			return &shm->comm[i];
		}
	}
	for (uint32_t i = 0; i < NT_SHM_COMMS; i++) {
		uint64_t id = 0;

		if (atomic_compare_exchange_strong(&shm->comm[i].id, &id, comm_id) ||
		    id == comm_id) {
			*index = i;
			return &shm->comm[i];
		}
	}
	return NULL;
}

/* All ranks join before anything is agreed and before any leaves; if not, the id is used twice. */
static bool is_twin(struct nt_shm_comm *comm, int32_t rank)
{
	if (atomic_load(&comm->state) != NT_COMM_JOINING)
		return true;
	for (uint32_t i = 0; i < NT_SHM_SLOTS; i++) {
		uint32_t state = atomic_load(&comm->slot[i].state);

		if (state == NT_PARTICIPANT_LEFT)
			return true;
		if (state == NT_PARTICIPANT_JOINED && comm->slot[i].caps.rank == rank)
			return true;
	}
	return false;
}

static int claim_slot(struct nt_shm_comm *comm, const struct nt_capabilities *caps, uint32_t *index)
{
	for (uint32_t i = 0; i < NT_SHM_SLOTS; i++) {
		struct nt_shm_slot *slot = &comm->slot[i];
		uint32_t state = NT_PARTICIPANT_FREE;

		if (!atomic_compare_exchange_strong(&slot->state, &state, NT_PARTICIPANT_JOINING))
			continue;
		slot->caps = *caps;
		atomic_store(&slot->pid, (uint32_t)getpid());
		atomic_store(&slot->state, NT_PARTICIPANT_JOINED);
		*index = i;
		return 0;
	}
	return -1;
}

static int join(struct nt_shm *shm, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		const struct nt_capabilities *caps, struct nt_slot *slot, struct nt_reason *why)
{
	struct nt_shm_comm *comm;
	uint32_t at, index;

	comm = comm_id ? find_comm(shm, comm_id, &at) : NULL;
	if (!comm)
		return nt_reason_setf(why, NT_REASON_NO_ROOM, "%u", NT_SHM_COMMS);
	if (is_twin(comm, caps->rank)) {
		/* The other ranks must not go on as if this one took part. */
		atomic_fetch_or(&comm->slot[0].flags, NT_PARTICIPANT_ODD);
		return nt_reason_set(why, NT_REASON_TWINS);
	}
	atomic_store(&comm->ranks, ranks);
	atomic_store(&comm->nodes, nodes);
	if (claim_slot(comm, caps, &index) < 0)
		return nt_reason_setf(why, NT_REASON_MANY_RANKS, "%u", NT_SHM_SLOTS);
	*slot = (struct nt_slot){ .shm = shm, .comm = at, .index = index };
	return 0;
}

int nt_shm_join(struct nt_shm *shm, uint64_t comm_id, uint32_t ranks, uint32_t nodes,
		const struct nt_capabilities *caps, struct nt_slot *slot, struct nt_reason *why)
{
	int rc;

	if (enter(shm) < 0)
		return nt_reason_set(why, NT_REASON_SHM_LOCKED);
	rc = join(shm, comm_id, ranks, nodes, caps, slot, why);
	atomic_fetch_sub(&shm->gate, 1);
	return rc;
}

void nt_shm_leave(const struct nt_slot *slot)
{
	atomic_store(&slot->shm->comm[slot->comm].slot[slot->index].state, NT_PARTICIPANT_LEFT);
}

bool nt_shm_left(const struct nt_shm_comm *comm)
{
	bool any = false;

	for (uint32_t i = 0; nt_shm_taken(comm, i); i++) {
		uint32_t state = atomic_load(&comm->slot[i].state);

		if (state != NT_PARTICIPANT_FREE && state != NT_PARTICIPANT_LEFT)
			return false;
		any |= state == NT_PARTICIPANT_LEFT;
	}
	return any;
}

static uint32_t joined_pid(const struct nt_shm_comm *comm, uint32_t slot)
{
	return atomic_load(&comm->slot[slot].state) == NT_PARTICIPANT_JOINED
		       ? atomic_load(&comm->slot[slot].pid)
		       : 0;
}

static uint32_t ranks_in(const struct nt_shm_comm *comm, uint32_t pid)
{
	uint32_t ranks = 0;

	for (uint32_t m = 0; nt_shm_taken(comm, m); m++)
		ranks += joined_pid(comm, m) == pid;
	return ranks;
}

static uint32_t gpus_of(const struct nt_shm *shm, uint32_t pid)
{
	uint32_t gpus = 0;

	for (uint32_t c = 0; c < NT_SHM_COMMS; c++) {
		const struct nt_shm_comm *comm = &shm->comm[c];
		uint32_t ranks = atomic_load(&comm->id) != 0 ? ranks_in(comm, pid) : 0;

		gpus = ranks > gpus ? ranks : gpus;
	}
	return gpus;
}

bool nt_shm_share_gpu(const struct nt_shm *shm, const struct nt_shm_comm *a,
		      const struct nt_shm_comm *b)
{
	for (uint32_t m = 0; nt_shm_taken(a, m); m++) {
		const uint32_t pid = joined_pid(a, m);
		const uint32_t of_b = pid != 0 ? ranks_in(b, pid) : 0;

		if (of_b > 0 && ranks_in(a, pid) + of_b > gpus_of(shm, pid))
			return true;
	}
	return false;
}

/* Others read at the same time: clear with atomic stores. */
#define NT_CLEAR(slot) atomic_store_explicit(&(slot), 0, memory_order_relaxed)

/* Late GPU times still look at the epoch (tuner/event.c): clear it first. The id is last: a free
 * key is a cleared one. */
static void clear_key(struct nt_shm_key *key)
{
	NT_CLEAR(key->epoch);
	NT_CLEAR(key->state);
	NT_CLEAR(key->hold_at);
	NT_CLEAR(key->tasks);
	NT_CLEAR(key->gap);
	NT_CLEAR(key->described);
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++) {
		NT_CLEAR(key->calls[m]);
		NT_CLEAR(key->turn[m]);
		NT_CLEAR(key->passed[m]);
	}
	for (uint32_t p = 0; p < NT_PAIRS; p++) {
		NT_CLEAR(key->channels[p]);
		key->cost_us[p] = 0;
	}
	key->baseline_arm = key->result_bytes = 0;
	memset(key->plan, 0, sizeof(key->plan));
	memset(key->result, 0, sizeof(key->result));
	atomic_store_explicit(&key->id, 0, memory_order_release);
}

static void clear_slot(struct nt_shm_slot *slot)
{
	NT_CLEAR(slot->flags);
	NT_CLEAR(slot->pid);
	memset(&slot->caps, 0, sizeof(slot->caps));
	atomic_store_explicit(&slot->state, NT_PARTICIPANT_FREE, memory_order_release);
}

bool nt_shm_retire(struct nt_shm *shm, uint32_t comm)
{
	struct nt_shm_comm *entry = &shm->comm[comm];
	uint32_t nobody = 0;
	bool left;

	if (!atomic_compare_exchange_strong(&shm->gate, &nobody, NT_GATE_SHUT))
		return false;
	left = nt_shm_left(entry);
	if (left) {
		atomic_store(&entry->ranks, 0);
		atomic_store(&entry->nodes, 0);
		atomic_store(&entry->state, NT_COMM_JOINING);
		atomic_store(&entry->risks, 0);
		atomic_store(&entry->baseline_pairs, 0);
		memset(entry->why, 0, sizeof(entry->why));
		for (uint32_t k = 0; k < keys_with_memory(entry); k++)
			clear_key(&entry->key[k]);
		for (uint32_t m = 0; m < NT_SHM_SLOTS; m++)
			clear_slot(&entry->slot[m]);
		atomic_store(&entry->id, 0);
	}
	atomic_store(&shm->gate, 0);
	return left;
}

int nt_shm_key(const struct nt_slot *slot, uint64_t key_id, uint32_t baseline_arm,
	       const float *cost_us, unsigned most)
{
	struct nt_shm_comm *comm = &slot->shm->comm[slot->comm];
	const unsigned have = keys_with_memory(comm);

	for (unsigned i = 0; i < have; i++) {
		struct nt_shm_key *key = &comm->key[i];
		uint64_t id = 0;

		/* All before it are claimed, and are other keys. */
		if (i >= most && atomic_load(&key->id) == 0)
			return -1;
		if (i < most && atomic_compare_exchange_strong(&key->id, &id, key_id)) {
			key->baseline_arm = baseline_arm;
			memcpy(key->cost_us, cost_us, sizeof(key->cost_us));
			if (baseline_arm < NT_PAIRS)
				atomic_fetch_or(&comm->baseline_pairs, UINT32_C(1) << baseline_arm);
			atomic_store_explicit(&key->described, 1, memory_order_release);
			return (int)i;
		}
		if (atomic_load(&key->id) == key_id)
			return (int)i;
	}
	return -1;
}

uint32_t nt_shm_run_take(struct nt_shm *shm, uint32_t comm, uint32_t key)
{
	for (uint32_t i = 0; i < NT_SHM_RUNS; i++) {
		struct nt_shm_run *run = &shm->run[i];
		uint32_t owner = 0;

		if (!atomic_compare_exchange_strong(&run->owner, &owner,
						    1 + comm * NT_SHM_KEYS + key))
			continue;
		for (uint32_t m = 0; nt_shm_taken(&shm->comm[comm], m); m++) {
			atomic_store(&run->issued[m], 0);
			atomic_store(&run->done[m], 0);
			for (uint32_t p = 0; p < NT_RUN_POSITIONS; p++) {
				atomic_store_explicit(&run->sample[m][p], 0, memory_order_relaxed);
				atomic_store_explicit(&run->period[m][p], 0, memory_order_relaxed);
				atomic_store_explicit(&run->duration[m][p], 0,
						      memory_order_relaxed);
			}
		}
		return i;
	}
	return NT_NO_RUN;
}

void nt_shm_run_free(struct nt_shm *shm, uint32_t run)
{
	if (run != NT_NO_RUN)
		atomic_store(&shm->run[run].owner, 0);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm.c - slots, keys and sample areas of shared memory; no room, no memory */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "contract/policy.h"
#include "contract/tray-layout.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/turn.h"
#include "spank/step/shm-fd.h"

static char dir[64];

static int make_dir(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/nt-shm.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/shm", dir);
	unlink(path);
	return rmdir(dir);
}

static const struct nt_node_step *at(const char *path, const char *node, uint32_t job,
				     uint32_t step)
{
	static struct nt_node_step place;

	place = (struct nt_node_step){ .job = job, .step = step };
	snprintf(place.shm, sizeof(place.shm), "%s", path);
	snprintf(place.node, sizeof(place.node), "%s", node);
	return &place;
}

static int open_at(struct nt_shm_map *map, const struct nt_node_step *place, struct nt_reason *why)
{
	return nt_shm_open(map, place, why) < 0 ? -1 : nt_shm_map(map, why);
}

static int open_in(struct nt_shm_map *map, const char *directory, struct nt_reason *why)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/shm", directory);
	return open_at(map, at(path, "n1", 12, 3), why);
}

static struct nt_slot slot(struct nt_shm *shm, uint64_t comm, int rank)
{
	struct nt_capabilities caps = { .rank = rank, .active = 1 };
	struct nt_slot at;
	struct nt_reason why;

	assert_int_equal(nt_shm_join(shm, comm, 8, 1, &caps, &at, &why), 0);
	return at;
}

static void two_maps_share_memory(void **state)
{
	struct nt_shm_map a, b;
	struct nt_reason why;
	struct nt_slot first, second;

	assert_int_equal(open_in(&a, dir, &why), 0);
	assert_int_equal(open_in(&b, dir, &why), 0);
	first = slot(a.shm, 42, 0);
	second = slot(b.shm, 42, 1);
	assert_int_equal(first.comm, second.comm);
	assert_int_not_equal(first.index, second.index);
	assert_int_equal(a.shm->comm[first.comm].slot[second.index].caps.rank, 1);
	nt_shm_leave(&second);
	assert_int_equal(atomic_load(&a.shm->comm[first.comm].slot[second.index].state),
			 NT_PARTICIPANT_LEFT);
	nt_shm_close(&a);
	nt_shm_close(&b);
	nt_shm_close(&b);
}

static void a_bad_place_is_an_error(void **state)
{
	struct nt_shm_map map;
	struct nt_reason why;
	char path[128];
	FILE *file;

	assert_int_equal(open_in(&map, "/nonexistent", &why), -1);
	assert_int_equal(why.id, NT_REASON_SHM_OPEN);
	assert_non_null(strstr(why.text, "shmopen:/nonexistent/shm"));
	assert_null(map.shm);
	snprintf(path, sizeof(path), "%s/shm", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("something else", file);
	fclose(file);
	assert_int_equal(open_in(&map, dir, &why), -1);
	assert_int_equal(why.id, NT_REASON_SHM_FILE);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(open_in(&map, dir, &why), -1);
	unlink(path);
}

/* Not this step's memory; and what stands at the place of the file beside it is not used. */
static bool is_refused(const char *path, const char *node, uint32_t job, uint32_t step)
{
	struct nt_shm_map map;
	struct nt_reason why;
	char beside[128];
	int rc;

	snprintf(beside, sizeof(beside), NT_SHM_BESIDE, node, job, step);
	assert_int_equal(mkdir(beside, 0700), 0);
	rc = open_at(&map, at(path, node, job, step), &why);
	assert_int_equal(rmdir(beside), 0);
	return rc < 0 && !map.shm && (why.id == NT_REASON_SHM_FILE || why.id == NT_REASON_SHM_OPEN);
}

/* As slurmstepd creates it and passes it to a task. */
static void sealed_memory_cannot_be_cut(void **state)
{
	struct nt_shm_map a, b;
	char path[NT_SHM_FD_PATH], node[32], name[160];
	struct nt_error err;
	struct nt_reason why;
	int fd;

	snprintf(node, sizeof(node), "nt-unit.%d", (int)getpid());
	fd = nt_shm_fd_make(getuid(), getgid(), node, 12, 3, &err);
	assert_true(fd >= 0);
	assert_int_equal(nt_shm_fd_leave(fd, path), 0);
	close(fd);
	assert_int_equal(open_at(&a, at(path, node, 12, 3), &why), 0);
	assert_int_equal(open_at(&b, at(path, node, 12, 3), &why), 0);
	(void)slot(a.shm, 42, 0);
	assert_int_equal(slot(b.shm, 42, 1).index, 1);
	assert_int_equal(ftruncate(a.fd, 0), -1);
	assert_int_equal(ftruncate(a.fd, NT_SHM_BYTES + 1), -1);
	assert_int_equal(truncate(path, 0), -1);
	assert_int_equal(open(path, O_RDWR | O_TRUNC), -1);
	assert_int_equal(fcntl(a.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	nt_shm_grow(&a, 0);
	nt_shm_close(&b);
	/* Another step's, another node's, and a fake one. */
	assert_true(is_refused(path, node, 12, 4));
	assert_true(is_refused(path, node, 1, 3));
	assert_true(is_refused(path, "nt-unit-other", 12, 3));
	nt_shm_close(&a);
	assert_true(is_refused("/proc/self/fd/999", node, 12, 3));
	assert_int_equal(open_at(&b, at("/dev/zero", node, 12, 3), &why), -1);
	snprintf(name, sizeof(name), NT_SHM_SEALED, NT_SHM_LAYOUT, node, 12u, 3u);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, NT_SHM_BYTES), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_true(is_refused(path, node, 12, 3));
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(open_at(&b, at(path, node, 12, 3), &why), 0);
	nt_shm_close(&b);
	/* The task cannot be looked at, but its descriptor was inherited. */
	snprintf(path, sizeof(path), "/proc/1/fd/%d", fd);
	assert_int_equal(open_at(&b, at(path, node, 12, 3), &why), 0);
	nt_shm_close(&b);
	close(fd);
	assert_true(is_refused(path, node, 12, 3));
}

/* A launcher has closed the descriptor. */
static void a_file_stands_in_for_it(void **state)
{
	struct nt_shm_map a, b;
	struct nt_reason why;
	char node[32], beside[128];

	snprintf(node, sizeof(node), "nt-unit.%d", (int)getpid());
	snprintf(beside, sizeof(beside), NT_SHM_BESIDE, node, 12u, 3u);
	assert_int_equal(open_at(&a, at("/proc/self/fd/999", node, 12, 3), &why), 0);
	assert_int_equal(open_at(&b, at("/proc/self/fd/999", node, 12, 3), &why), 0);
	(void)slot(a.shm, 42, 0);
	assert_int_equal(slot(b.shm, 42, 1).index, 1);
	nt_shm_close(&a);
	nt_shm_close(&b);
	nt_shm_fd_clear(getuid() + 1, node, 12, 3); /* another's */
	assert_int_equal(access(beside, F_OK), 0);
	nt_shm_fd_clear(getuid(), node, 12, 3);
	assert_int_equal(symlink("/etc/passwd", beside), 0);
	assert_int_equal(open_at(&a, at("/proc/self/fd/999", node, 12, 3), &why), -1);
	nt_shm_fd_clear(getuid(), node, 12, 3);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	assert_int_equal(mkdir(beside, 0700), 0);
	nt_shm_fd_clear(getuid(), node, 12, 3);
	assert_int_equal(rmdir(beside), 0);
}

static void a_rank_sits_once(void **state)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_capabilities caps = { .rank = 3 };
	struct nt_slot at;

	assert_non_null(shm);
	(void)slot(shm, 42, 3);
	assert_int_equal(nt_shm_join(shm, 42, 8, 1, &caps, &at, NULL), -1);
	assert_int_equal(nt_shm_join(shm, 0, 8, 1, &caps, &at, NULL), -1);
	free(shm);
}

static void no_room_is_an_error(void **state)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_capabilities caps = { .rank = 0 };
	float cost[NT_PAIRS] = { 0 };
	struct nt_slot at;

	assert_non_null(shm);
	for (uint64_t id = 1; id <= NT_SHM_COMMS; id++)
		at = slot(shm, id, 0);
	assert_int_equal(nt_shm_join(shm, 999, 8, 1, &caps, &at, NULL), -1);
	at = slot(shm, 1, 1);
	for (int k = 0; k < NT_SHM_KEYS_AT_ONCE; k++)
		assert_int_equal(
			nt_shm_key(&at, nt_key_id(4, (unsigned)k, 7), 5, cost, NT_SHM_KEYS), k);
	assert_int_equal(
		nt_shm_key(&at, nt_key_id(4, NT_SHM_KEYS_AT_ONCE, 7), 5, cost, NT_SHM_KEYS), -1);
	assert_true(nt_shm_claimed(&shm->comm[0], NT_SHM_KEYS_AT_ONCE - 1));
	/* Memory that is not allocated must not be read: it could be a SIGBUS. */
	atomic_store(&shm->comm[0].key[NT_SHM_KEYS_AT_ONCE].id, 1);
	assert_false(nt_shm_claimed(&shm->comm[0], NT_SHM_KEYS_AT_ONCE));
	atomic_store(&shm->comm[0].key[NT_SHM_KEYS_AT_ONCE].id, 0);
	atomic_store(&shm->comm[0].more_keys, NT_SHM_KEYS - NT_SHM_KEYS_AT_ONCE);
	assert_int_equal(nt_shm_key(&at, nt_key_id(4, 77, 7), 5, cost, 16), -1);
	assert_int_equal(nt_shm_key(&at, nt_key_id(4, 2, 7), 5, cost, 16), 2);
	for (int k = 0; k < NT_SHM_KEYS; k++)
		assert_int_equal(
			nt_shm_key(&at, nt_key_id(4, (unsigned)k, 7), 5, cost, NT_SHM_KEYS), k);
	assert_int_equal(nt_shm_key(&at, nt_key_id(4, 3, 7), 5, cost, NT_SHM_KEYS), 3);
	assert_int_equal(nt_shm_key(&at, nt_key_id(3, 100, 7), 5, cost, NT_SHM_KEYS), -1);
	/* Memory that another rank has claimed is usable by all. */
	assert_int_equal(nt_shm_key(&at, nt_key_id(4, 77, 7), 5, cost, 16), 77);
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++)
		assert_int_equal(nt_shm_run_take(shm, 0, 0), r);
	assert_true(nt_shm_run_take(shm, 0, 0) == NT_NO_RUN);
	nt_shm_run_free(shm, 5);
	nt_shm_run_free(shm, NT_NO_RUN);
	assert_int_equal(nt_shm_run_take(shm, 0, 1), 5);
	for (int m = 2; m < NT_SHM_SLOTS; m++)
		(void)slot(shm, 1, m);
	caps.rank = 99;
	assert_int_equal(nt_shm_join(shm, 1, 99, 1, &caps, &at, NULL), -1);
	free(shm);
}

/* Memory is allocated in advance by any process, until there is enough for all keys. */
static void memory_for_keys_grows(void **state)
{
	char place[] = "/tmp/nt-shm.XXXXXX", command[128];
	float cost[NT_PAIRS] = { 0 };
	struct nt_shm_map a, b;
	struct nt_reason why;
	struct nt_slot at;
	struct stat before, after;
	int keys = 0;

	assert_non_null(mkdtemp(place));
	assert_int_equal(open_in(&a, place, &why), 0);
	assert_int_equal(open_in(&b, place, &why), 0);
	assert_int_equal(fstat(a.fd, &before), 0);
	/* Parts of pages at both ends of each communicator's memory. */
	assert_true(before.st_blocks * 512 < (16 << 20) + NT_SHM_COMMS * 2 * sysconf(_SC_PAGESIZE));
	(void)slot(a.shm, 7, 0);
	at = slot(a.shm, 8, 0);
	for (unsigned round = 0; round < 100; round++) {
		for (int i = 0; i < 5; i++) {
			const uint64_t id = nt_key_id(3, (unsigned)keys, 7);

			if (nt_shm_key(&at, id, 5, cost, NT_SHM_KEYS) == keys)
				keys++;
		}
		nt_shm_grow(round % 2 ? &a : &b, at.comm);
		nt_shm_grow(round % 2 ? &a : &b, 0);
	}
	assert_int_equal(keys, NT_SHM_KEYS);
	assert_int_equal(atomic_load(&a.shm->comm[0].more_keys), 0);
	assert_int_equal(fstat(a.fd, &after), 0);
	assert_in_range(after.st_blocks - before.st_blocks, 200 * sizeof(struct nt_shm_key) / 512,
			300 * sizeof(struct nt_shm_key) / 512);
	nt_shm_close(&a);
	nt_shm_close(&b);
	snprintf(command, sizeof(command), "rm -rf %s", place);
	assert_int_equal(system(command), 0);
}

/* A slot is freed when all have left, not before, and nobody joins a slot that others have left. */
static void a_place_is_given_back(void **state)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_capabilities caps = { .rank = 1 };
	float cost[NT_PAIRS] = { 0 };
	struct nt_slot a, b, other;

	assert_non_null(shm);
	a = slot(shm, 42, 0);
	b = slot(shm, 42, 1);
	other = slot(shm, 43, 0);
	assert_int_equal(nt_shm_key(&a, nt_key_id(4, 3, 7), 5, cost, NT_SHM_KEYS), 0);
	nt_shm_leave(&a);
	assert_false(nt_shm_retire(shm, a.comm));
	caps.rank = 2;
	assert_int_equal(nt_shm_join(shm, 42, 8, 1, &caps, &a, NULL), -1);
	assert_true(atomic_load(&shm->comm[b.comm].slot[0].flags) & NT_PARTICIPANT_ODD);
	nt_shm_leave(&b);
	atomic_store(&shm->gate, 1); /* somebody is about to take a slot */
	assert_false(nt_shm_retire(shm, b.comm));
	atomic_store(&shm->gate, 0);
	assert_true(nt_shm_retire(shm, b.comm));
	assert_true(atomic_load(&shm->comm[b.comm].id) == 0);
	assert_true(atomic_load(&shm->comm[b.comm].key[0].id) == 0);
	/* The others keep their slots, although an earlier one is free now. */
	assert_int_equal(slot(shm, 43, 1).comm, other.comm);
	assert_int_equal(slot(shm, 44, 0).comm, b.comm);
	atomic_store(&shm->comm[other.comm].state, NT_COMM_AGREED);
	assert_int_equal(nt_shm_join(shm, 43, 8, 1, &caps, &a, NULL), -1);
	free(shm);
}

/* A number that a rank has written there is limited to the maximum. */
static void there_are_never_more_keys_than_places(void **state)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_shm_map map = { .shm = shm, .fd = -1 };
	struct nt_shm_key *beyond;
	struct nt_slot a, b;

	assert_non_null(shm);
	a = slot(shm, 42, 0);
	b = slot(shm, 43, 0);
	beyond = &shm->comm[b.comm].key[0];
	atomic_store(&beyond->id, 7);
	for (uint32_t more = UINT32_MAX - 40; more != 0; more++) {
		atomic_store(&shm->comm[a.comm].more_keys, more);
		nt_shm_grow(&map, a.comm);
	}
	atomic_store(&shm->comm[a.comm].more_keys, 3 * NT_SHM_KEYS);
	nt_shm_leave(&a);
	assert_true(nt_shm_retire(shm, a.comm));
	assert_true(atomic_load(&beyond->id) == 7);
	assert_true(atomic_load(&shm->comm[b.comm].id) == 43);
	free(shm);
}

struct late {
	struct nt_shm_key *key;
	_Atomic bool enough;
	uint64_t seen;
};

/* As a GPU time after its communicator's end reads shared memory. */
static void *look_late(void *arg)
{
	struct late *late = arg;

	while (!atomic_load_explicit(&late->enough, memory_order_relaxed)) {
		late->seen += atomic_load_explicit(&late->key->epoch, memory_order_acquire) == 1;
		late->seen += atomic_load_explicit(&late->key->state, memory_order_acquire);
		(void)atomic_load_explicit(&late->key->channels[0], memory_order_relaxed);
	}
	return NULL;
}

/* Memory that is read late must be cleared atomically; the thread sanitizer checks it. */
static void a_place_is_given_back_under_late_looks(void **state)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct late late = { .enough = false };
	float cost[NT_PAIRS] = { 1 };
	pthread_t proxy;

	assert_non_null(shm);
	late.key = &shm->comm[0].key[0];
	assert_int_equal(pthread_create(&proxy, NULL, look_late, &late), 0);
	for (int i = 0; i < 300; i++) {
		struct nt_slot a = slot(shm, 42, 0);

		assert_int_equal(a.comm, 0);
		assert_int_equal(nt_shm_key(&a, nt_key_id(4, 3, 7), 5, cost, NT_SHM_KEYS), 0);
		atomic_store(&late.key->epoch, 1);
		atomic_store(&late.key->state, NT_KEY_COMMITTED);
		late.key->plan[1].epoch = 1;
		late.key->result_bytes = 3;
		atomic_fetch_or(&shm->comm[0].slot[0].flags, NT_PARTICIPANT_GRAPHS);
		nt_shm_leave(&a);
		assert_true(nt_shm_retire(shm, 0));
	}
	atomic_store(&late.enough, true);
	pthread_join(proxy, NULL);
	for (size_t i = 0; i < sizeof(shm->comm[0]); i++) /* as it was before its first use */
		assert_int_equal(((const unsigned char *)&shm->comm[0])[i], 0);
	free(shm);
}

static void a_turn_waits_at_the_hold_and_then_follows(void **state)
{
	struct nt_shm_key *key = calloc(1, sizeof(*key));
	static struct nt_task_log task_log;
	struct nt_turn mine = { .task_log = &task_log };

	assert_non_null(key);
	assert_int_equal(nt_turn_take(key, 0, 9, &mine), NT_TURN_GO);
	assert_true(nt_turn_position(&mine, 9) == -1);
	assert_true(atomic_load(&key->turn[0]) == 10);
	atomic_store(&key->hold_at, 12 + 1);
	assert_int_equal(nt_turn_take(key, 0, 11, &mine), NT_TURN_GO);
	assert_int_equal(nt_turn_take(key, 0, 12, &mine), NT_TURN_WAIT);
	key->plan[1] = (struct nt_plan){
		.at = 12, .until = 18, .epoch = 1, .stride = 2, .cell = 1
	};
	atomic_store(&key->epoch, 1);
	atomic_store(&key->hold_at, 0);
	assert_int_equal(nt_turn_take(key, 0, 12, &mine), NT_TURN_GO);
	assert_true(nt_turn_position(&mine, 12) == 0 && nt_turn_position(&mine, 15) == 1);
	assert_true(nt_turn_position(&mine, 17) == 2 && nt_turn_position(&mine, 18) == -1);
	assert_true(atomic_load(&key->passed[0]) == 1);
	/* The next plan is known early and followed in time. */
	key->plan[0] = (struct nt_plan){
		.at = 30, .until = NT_NEVER, .epoch = 2, .stride = 1, .cell = 1
	};
	atomic_store(&key->epoch, 2);
	assert_int_equal(nt_turn_take(key, 0, 17, &mine), NT_TURN_GO);
	assert_true(nt_turn_position(&mine, 17) == 2);
	assert_int_equal(nt_turn_take(key, 0, 30, &mine), NT_TURN_GO);
	assert_true(nt_turn_position(&mine, 1000000) == 0);
	free(key);
}

UNIT_TESTS_EACH(make_dir, remove_dir, two_maps_share_memory, a_bad_place_is_an_error,
		sealed_memory_cannot_be_cut, a_file_stands_in_for_it, a_rank_sits_once,
		no_room_is_an_error, memory_for_keys_grows, there_are_never_more_keys_than_places,
		a_place_is_given_back, a_place_is_given_back_under_late_looks,
		a_turn_waits_at_the_hold_and_then_follows);

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - seats, keys and runs of a board, and what happens where there is no room or no board */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "contract/names.h"
#include "pmix-sync/board.h"
#include "pmix-sync/turn.h"
#include "spank/boardfd.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/nt-board.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/%s.%u", dir, NT_BOARD_FILE, NT_BOARD_LAYOUT);
	unlink(path);
	return rmdir(dir);
}

static struct nt_seat seat(struct nt_board *board, uint64_t comm, int rank)
{
	struct nt_card card = { .rank = rank, .active = 1 };
	struct nt_seat at;
	struct nt_error err = { "" };

	assert_int_equal(nt_board_join(board, comm, 8, 1, &card, &at, &err), 0);
	return at;
}

static void two_maps_are_one_board(void **state)
{
	struct nt_board_map a, b;
	struct nt_error err = { "" };
	struct nt_seat first, second;

	(void)state;
	assert_int_equal(nt_board_open(&a, dir, &err), 0);
	assert_int_equal(nt_board_open(&b, dir, &err), 0);
	first = seat(a.board, 42, 0);
	second = seat(b.board, 42, 1);
	assert_int_equal(first.comm, second.comm);
	assert_int_not_equal(first.member, second.member);
	assert_int_equal(a.board->comm[first.comm].member[second.member].card.rank, 1);
	nt_board_leave(&second);
	assert_int_equal(atomic_load(&a.board->comm[first.comm].member[second.member].state),
			 NT_MEMBER_LEFT);
	nt_board_close(&a);
	nt_board_close(&b);
	nt_board_close(&b);
}

static void a_bad_place_is_an_error(void **state)
{
	struct nt_board_map map;
	struct nt_error err = { "" };
	char path[128];
	FILE *file;

	(void)state;
	assert_int_equal(nt_board_open(&map, "/nonexistent", &err), -1);
	assert_non_null(strstr(err.text, "cannot open /nonexistent/board"));
	assert_null(map.board);
	snprintf(path, sizeof(path), "%s/%s.%u", dir, NT_BOARD_FILE, NT_BOARD_LAYOUT);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("something else", file);
	fclose(file);
	assert_int_equal(nt_board_open(&map, dir, &err), -1);
	assert_non_null(strstr(err.text, "is no board"));
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(nt_board_open(&map, dir, &err), -1);
	unlink(path);
}

/* As slurmstepd makes it, and what it leaves to a task. */
static void a_sealed_board_cannot_be_cut(void **state)
{
	struct nt_board_map a, b;
	char path[NT_BOARDFD_PATH];
	struct nt_error err;
	int fd;

	(void)state;
	fd = nt_boardfd_make(getuid(), getgid(), "n1", 12, 3, &err);
	assert_true(fd >= 0);
	assert_int_equal(nt_boardfd_leave(fd, path), 0);
	close(fd);
	assert_int_equal(nt_board_open_sealed(&a, path, "n1", 12, 3, &err), 0);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 3, &err), 0);
	(void)seat(a.board, 42, 0);
	assert_int_equal(seat(b.board, 42, 1).member, 1);
	assert_int_equal(ftruncate(a.fd, 0), -1);
	assert_int_equal(ftruncate(a.fd, sizeof(struct nt_board) + 1), -1);
	assert_int_equal(truncate(path, 0), -1);
	assert_int_equal(open(path, O_RDWR | O_TRUNC), -1);
	assert_int_equal(fcntl(a.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	nt_board_grow(&a, 0);
	nt_board_close(&b);
	/* Another step's, another node's, and what only looks like one. */
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 4, &err), -1);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 1, 3, &err), -1);
	assert_int_equal(nt_board_open_sealed(&b, path, "n2", 12, 3, &err), -1);
	assert_non_null(strstr(err.text, "is no sealed board of this step"));
	assert_null(b.board);
	nt_board_close(&a);
	assert_int_equal(nt_board_open_sealed(&b, "/proc/self/fd/999", "n1", 12, 3, &err), -1);
	assert_int_equal(nt_board_open_sealed(&b, "/dev/zero", "n1", 12, 3, &err), -1);
	fd = memfd_create("nccl-tune-board.6.n1.12.3", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, sizeof(struct nt_board)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 3, &err), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 3, &err), 0);
	nt_board_close(&b);
	/* The task cannot be looked at, but its descriptor was inherited. */
	snprintf(path, sizeof(path), "/proc/1/fd/%d", fd);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 3, &err), 0);
	nt_board_close(&b);
	close(fd);
	assert_int_equal(nt_board_open_sealed(&b, path, "n1", 12, 3, &err), -1);
}

static void a_rank_sits_once(void **state)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct nt_card card = { .rank = 3 };
	struct nt_seat at;

	(void)state;
	assert_non_null(board);
	(void)seat(board, 42, 3);
	assert_int_equal(nt_board_join(board, 42, 8, 1, &card, &at, NULL), -1);
	assert_int_equal(nt_board_join(board, 0, 8, 1, &card, &at, NULL), -1);
	free(board);
}

static void no_room_is_an_error(void **state)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct nt_card card = { .rank = 0 };
	float cost[NT_PAIRS] = { 0 };
	struct nt_seat at;

	(void)state;
	assert_non_null(board);
	for (uint64_t id = 1; id <= NT_BOARD_COMMS; id++)
		at = seat(board, id, 0);
	assert_int_equal(nt_board_join(board, 999, 8, 1, &card, &at, NULL), -1);
	at = seat(board, 1, 1);
	for (int k = 0; k < NT_BOARD_KEYS_AT_ONCE; k++)
		assert_int_equal(nt_board_key(&at, nt_key_id(4, (unsigned)k, 7), 5, cost), k);
	assert_int_equal(nt_board_key(&at, nt_key_id(4, NT_BOARD_KEYS_AT_ONCE, 7), 5, cost), -1);
	assert_true(nt_board_claimed(&board->comm[0], NT_BOARD_KEYS_AT_ONCE - 1));
	/* Where there is no memory nobody may look: it could be a SIGBUS. */
	atomic_store(&board->comm[0].key[NT_BOARD_KEYS_AT_ONCE].id, 1);
	assert_false(nt_board_claimed(&board->comm[0], NT_BOARD_KEYS_AT_ONCE));
	atomic_store(&board->comm[0].key[NT_BOARD_KEYS_AT_ONCE].id, 0);
	atomic_store(&board->comm[0].more_keys, NT_BOARD_KEYS - NT_BOARD_KEYS_AT_ONCE);
	assert_int_equal(nt_board_key_among(&at, nt_key_id(4, 77, 7), 5, cost, 16), -1);
	assert_int_equal(nt_board_key_among(&at, nt_key_id(4, 2, 7), 5, cost, 16), 2);
	for (int k = 0; k < NT_BOARD_KEYS; k++)
		assert_int_equal(nt_board_key(&at, nt_key_id(4, (unsigned)k, 7), 5, cost), k);
	assert_int_equal(nt_board_key(&at, nt_key_id(4, 3, 7), 5, cost), 3);
	assert_int_equal(nt_board_key(&at, nt_key_id(3, 100, 7), 5, cost), -1);
	/* What another rank has claimed is everybody's. */
	assert_int_equal(nt_board_key_among(&at, nt_key_id(4, 77, 7), 5, cost, 16), 77);
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++)
		assert_int_equal(nt_board_run_take(board, 0, 0), r);
	assert_true(nt_board_run_take(board, 0, 0) == NT_NO_RUN);
	nt_board_run_free(board, 5);
	nt_board_run_free(board, NT_NO_RUN);
	assert_int_equal(nt_board_run_take(board, 0, 1), 5);
	for (int m = 2; m < NT_BOARD_MEMBERS; m++)
		(void)seat(board, 1, m);
	card.rank = 99;
	assert_int_equal(nt_board_join(board, 1, 99, 1, &card, &at, NULL), -1);
	free(board);
}

/* Memory comes before it is needed, from any process, until there is enough for all keys. */
static void memory_for_keys_grows(void **state)
{
	char place[] = "/tmp/nt-board.XXXXXX", command[128];
	float cost[NT_PAIRS] = { 0 };
	struct nt_board_map a, b;
	struct nt_error err = { "" };
	struct nt_seat at;
	struct stat before, after;
	int keys = 0;

	(void)state;
	assert_non_null(mkdtemp(place));
	assert_int_equal(nt_board_open(&a, place, &err), 0);
	assert_int_equal(nt_board_open(&b, place, &err), 0);
	assert_int_equal(fstat(a.fd, &before), 0);
	assert_true(before.st_blocks * 512 < 17 << 20);
	(void)seat(a.board, 7, 0);
	at = seat(a.board, 8, 0);
	for (unsigned round = 0; round < 100; round++) {
		for (int i = 0; i < 5; i++) {
			const uint64_t id = nt_key_id(3, (unsigned)keys, 7);

			if (nt_board_key(&at, id, 5, cost) == keys)
				keys++;
		}
		nt_board_grow(round % 2 ? &a : &b, at.comm);
		nt_board_grow(round % 2 ? &a : &b, 0);
	}
	assert_int_equal(keys, NT_BOARD_KEYS);
	assert_int_equal(atomic_load(&a.board->comm[0].more_keys), 0);
	assert_int_equal(fstat(a.fd, &after), 0);
	assert_in_range(after.st_blocks - before.st_blocks, 200 * sizeof(struct nt_board_key) / 512,
			300 * sizeof(struct nt_board_key) / 512);
	nt_board_close(&a);
	nt_board_close(&b);
	snprintf(command, sizeof(command), "rm -rf %s", place);
	assert_int_equal(system(command), 0);
}

/* A place is given back when all have left, not before, and nobody sits down where others have
 * left. */
static void a_place_is_given_back(void **state)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct nt_card card = { .rank = 1 };
	float cost[NT_PAIRS] = { 0 };
	struct nt_seat a, b, other;

	(void)state;
	assert_non_null(board);
	a = seat(board, 42, 0);
	b = seat(board, 42, 1);
	other = seat(board, 43, 0);
	assert_int_equal(nt_board_key(&a, nt_key_id(4, 3, 7), 5, cost), 0);
	nt_board_leave(&a);
	assert_false(nt_board_retire(board, a.comm));
	card.rank = 2;
	assert_int_equal(nt_board_join(board, 42, 8, 1, &card, &a, NULL), -1);
	assert_true(atomic_load(&board->comm[b.comm].member[0].flags) & NT_MEMBER_ODD);
	nt_board_leave(&b);
	atomic_store(&board->gate, 1); /* somebody is about to sit down */
	assert_false(nt_board_retire(board, b.comm));
	atomic_store(&board->gate, 0);
	assert_true(nt_board_retire(board, b.comm));
	assert_true(atomic_load(&board->comm[b.comm].id) == 0);
	assert_true(atomic_load(&board->comm[b.comm].key[0].id) == 0);
	/* The others stay where they are, though a place before theirs is free now. */
	assert_int_equal(seat(board, 43, 1).comm, other.comm);
	assert_int_equal(seat(board, 44, 0).comm, b.comm);
	atomic_store(&board->comm[other.comm].state, NT_COMM_AGREED);
	assert_int_equal(nt_board_join(board, 43, 8, 1, &card, &a, NULL), -1);
	free(board);
}

/* What a rank has written there is taken for no more than there can be. */
static void there_are_never_more_keys_than_places(void **state)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct nt_board_map map = { .board = board, .fd = -1 };
	struct nt_board_key *beyond;
	struct nt_seat a, b;

	(void)state;
	assert_non_null(board);
	a = seat(board, 42, 0);
	b = seat(board, 43, 0);
	beyond = &board->comm[b.comm].key[0];
	atomic_store(&beyond->id, 7);
	for (uint32_t more = UINT32_MAX - 40; more != 0; more++) {
		atomic_store(&board->comm[a.comm].more_keys, more);
		nt_board_grow(&map, a.comm);
	}
	atomic_store(&board->comm[a.comm].more_keys, 3 * NT_BOARD_KEYS);
	nt_board_leave(&a);
	assert_true(nt_board_retire(board, a.comm));
	assert_true(atomic_load(&beyond->id) == 7);
	assert_true(atomic_load(&board->comm[b.comm].id) == 43);
	free(board);
}

struct late {
	struct nt_board_key *key;
	_Atomic bool enough;
	uint64_t seen;
};

/* As a GPU time that comes after its communicator's end looks at the board. */
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

/* Nothing that is looked at late may be cleared behind the back of atomics; the thread sanitizer
 * sees it. */
static void a_place_is_given_back_under_late_looks(void **state)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct late late = { .enough = false };
	float cost[NT_PAIRS] = { 1 };
	pthread_t proxy;

	(void)state;
	assert_non_null(board);
	late.key = &board->comm[0].key[0];
	assert_int_equal(pthread_create(&proxy, NULL, look_late, &late), 0);
	for (int i = 0; i < 300; i++) {
		struct nt_seat a = seat(board, 42, 0);

		assert_int_equal(a.comm, 0);
		assert_int_equal(nt_board_key(&a, nt_key_id(4, 3, 7), 5, cost), 0);
		atomic_store(&late.key->epoch, 1);
		atomic_store(&late.key->state, NT_KEY_COMMITTED);
		late.key->plan[1].epoch = 1;
		late.key->result_bytes = 3;
		atomic_fetch_or(&board->comm[0].member[0].flags, NT_MEMBER_GRAPHS);
		nt_board_leave(&a);
		assert_true(nt_board_retire(board, 0));
	}
	atomic_store(&late.enough, true);
	pthread_join(proxy, NULL);
	for (size_t i = 0; i < sizeof(board->comm[0]); i++) /* as it was before its first use */
		assert_int_equal(((const unsigned char *)&board->comm[0])[i], 0);
	free(board);
}

static void a_turn_waits_at_the_hold_and_then_follows(void **state)
{
	struct nt_board_key *key = calloc(1, sizeof(*key));
	static struct nt_trail trail;
	struct nt_turn mine = { .trail = &trail };

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_maps_are_one_board, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_bad_place_is_an_error, make_dir, remove_dir),
		cmocka_unit_test(a_sealed_board_cannot_be_cut),
		cmocka_unit_test(a_rank_sits_once),
		cmocka_unit_test(no_room_is_an_error),
		cmocka_unit_test(memory_for_keys_grows),
		cmocka_unit_test(there_are_never_more_keys_than_places),
		cmocka_unit_test(a_place_is_given_back),
		cmocka_unit_test(a_place_is_given_back_under_late_looks),
		cmocka_unit_test(a_turn_waits_at_the_hold_and_then_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* proxy-pool.c - which /dev/shm has room for NCCL's pools, and of how many ranks */
#include "tests/lib/unit.h"
#include "tuner/proxy-pool.h"

#define MIB UINT64_C(1048576)

static struct nt_proxy_room room_of(uint64_t all_mib, uint64_t free_mib)
{
	return (struct nt_proxy_room){ .usable = true,
				       .bytes = all_mib * MIB,
				       .free_bytes = free_mib * MIB };
}

static void room_and_a_quarter(void **state)
{
	static const struct {
		uint64_t all, free;
		unsigned pools;
		bool fits;
	} cases[] = {
		{ 48, 48, 1, true },
		{ 64, 64, 1, true },
		{ 64, 49, 1, false },
		{ 64, 64, 2, false },
		{ 96, 96, 2, true },
		{ 96, 91, 2, false },
		{ 128, 128, 2, true },
		{ 256, 256, 8, false },
		{ 400, 400, 8, true },
		/* the reserve of a large one */
		{ 100000, 527, 8, false },
		{ 100000, 528, 8, true },
		/* without a limit */
		{ 0, 0, 1000, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_proxy_room room = room_of(cases[i].all, cases[i].free);

		assert_int_equal(nt_proxy_pool_fits(&room, cases[i].pools), cases[i].fits);
		room.usable = false;
		assert_false(nt_proxy_pool_fits(&room, cases[i].pools));
	}
}

static void inodes(void **state)
{
	struct nt_proxy_room room = room_of(1000, 1000);

	room.files = 100;
	room.free_files = 18;
	assert_true(nt_proxy_pool_fits(&room, 2));
	assert_false(nt_proxy_pool_fits(&room, 3));
}

static void releases(void **state)
{
	assert_true(nt_proxy_pool_opened(22602, 3));
	assert_true(nt_proxy_pool_opened(22809, 5));
	assert_true(nt_proxy_pool_opened(23007, 6));
	assert_false(nt_proxy_pool_opened(23102, 7));
	assert_false(nt_proxy_pool_opened(22505, 2));
	assert_true(nt_proxy_pool_opened(0, 5));
	assert_false(nt_proxy_pool_opened(0, 7));
}

static void ranks_of_a_node(void **state)
{
	assert_int_equal(nt_proxy_pool_ranks(NULL, NULL), 1);
	assert_int_equal(nt_proxy_pool_ranks("4", NULL), 4);
	assert_int_equal(nt_proxy_pool_ranks("2(x3),8,1(x20)", NULL), 8);
	assert_int_equal(nt_proxy_pool_ranks("1(x16)", NULL), 1);
	assert_int_equal(nt_proxy_pool_ranks("1", "8"), 8);
	assert_int_equal(nt_proxy_pool_ranks("4", "2"), 4);
	assert_int_equal(nt_proxy_pool_ranks("x,,-", "many"), 1);
}

UNIT_TESTS(room_and_a_quarter, inodes, releases, ranks_of_a_node);

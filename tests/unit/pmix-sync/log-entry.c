/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log-entry.c - entries printed and parsed; truncated or random bytes never pass and never cause a
 * read beyond the end */
#include "tests/lib/unit.h"
#include "pmix-sync/log-entry.h"

static void entries_round_trip(void **state)
{
	static const uint8_t payload[] = "payload";
	const struct nt_entry entries[] = {
		{ .type = NT_ENTRY_WANT, .comm = 1, .key = UINT64_MAX, .span = 0 },
		{ .type = NT_ENTRY_PROPOSE,
		  .comm = UINT64_MAX,
		  .key = 5,
		  .epoch = 77,
		  .stride = 3,
		  .turn = UINT64_MAX - 1,
		  .span = NT_NEVER,
		  .bytes = payload,
		  .count = sizeof(payload) },
		{ .type = NT_ENTRY_DATA,
		  .to = 70000,
		  .comm = 9,
		  .key = 9,
		  .epoch = UINT32_MAX,
		  .stride = UINT32_MAX,
		  .turn = 300,
		  .span = 128,
		  .bytes = payload,
		  .count = 1 },
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		struct nt_entry back;
		uint8_t bytes[NT_ENTRY_MAX];
		size_t count = nt_entry_write(&entries[i], bytes, sizeof(bytes));

		assert_true(count > 0);
		assert_int_equal(nt_entry_read(&back, bytes, count), count);
		assert_true(back.type == entries[i].type && back.to == entries[i].to &&
			    back.comm == entries[i].comm && back.key == entries[i].key &&
			    back.epoch == entries[i].epoch && back.stride == entries[i].stride &&
			    back.turn == entries[i].turn && back.span == entries[i].span &&
			    back.count == entries[i].count);
		if (back.count > 0)
			assert_memory_equal(back.bytes, entries[i].bytes, back.count);
		for (size_t cut = 0; cut < count; cut++) {
			assert_int_equal(nt_entry_read(&back, bytes, cut), 0);
			assert_int_equal(nt_entry_write(&entries[i], bytes, cut), 0);
			(void)nt_entry_write(&entries[i], bytes, sizeof(bytes));
		}
	}
}

static void cards_round_trip(void **state)
{
	struct nt_entry_caps all_caps = {
		.common = { .fingerprint = 0x123456789abcdef0,
			    .build = 1,
			    .policy = 2,
			    .nccl = 22809,
			    .api = 0x505,
			    .active = 1,
			    .risks = NT_RISK_NET | NT_RISK_C2C },
		.count = 2,
		.slot = { { 0, 0 }, { 70000, 140000 } },
	};
	struct nt_entry_caps back;
	uint8_t bytes[512];
	size_t count = nt_entry_caps_write(&all_caps, bytes, sizeof(bytes));

	assert_true(count > 0 && count < 64);
	assert_int_equal(nt_entry_caps_read(&back, bytes, count), 0);
	assert_memory_equal(&back, &all_caps, sizeof(all_caps));
	for (size_t cut = 0; cut < count; cut++)
		assert_int_equal(nt_entry_caps_read(&back, bytes, cut), -1);
}

static void random_bytes_are_harmless(void **state)
{
	srand(1);
	for (int round = 0; round < 200000; round++) {
		size_t count = (size_t)rand() % 64;
		/* exact, so that the sanitizer sees each byte beyond */
		uint8_t *bytes = malloc(count ? count : 1);
		struct nt_entry_caps all_caps;
		struct nt_entry entry;

		assert_non_null(bytes);
		for (size_t i = 0; i < count; i++)
			bytes[i] = (uint8_t)(rand() % (round % 2 ? 256 : 16));
		if (nt_entry_read(&entry, bytes, count) > 0)
			assert_true(entry.type > 0 && entry.type < NT_ENTRY_TYPES);
		(void)nt_entry_caps_read(&all_caps, bytes, count);
		free(bytes);
	}
}

UNIT_TESTS(entries_round_trip, cards_round_trip, random_bytes_are_harmless);

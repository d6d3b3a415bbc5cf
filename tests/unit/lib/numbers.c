/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Basic helpers: numbers, sizes, hexadecimal numbers, hashes, quantiles, complete writes. */
#include "lib/size.h"

#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "lib/hash.h"
#include "lib/hex.h"
#include "lib/number.h"
#include "lib/quantile.h"
#include "lib/write-all.h"

static void numbers_are_digits_alone(void **state)
{
	static const char *const wrong[] = {
		"", " 1", "1 ", "+1", "-1", "0x1", "1.", "1e3", "a", "99", "18446744073709551616"
	};
	uint64_t number = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (nt_number_parse(wrong[i], 0, 98, &number) == 0)
			fail_msg("'%s' is taken for %ju", wrong[i], (uintmax_t)number);
	assert_int_equal(nt_number_parse("2", 3, 5, &number), -1);
	assert_int_equal(nt_number_parse("6", 3, 5, &number), -1);
	assert_int_equal(number, 7);
	assert_int_equal(nt_number_parse("003", 3, 5, &number), 0);
	assert_int_equal(number, 3);
	assert_int_equal(nt_number_parse("18446744073709551615", 0, UINT64_MAX, &number), 0);
	assert_true(number == UINT64_MAX);
	assert_int_equal(nt_number_parse("18446744073709551616", 0, UINT64_MAX, &number), -1);
	assert_int_equal(nt_number_parse("99999999999999999999", 0, UINT64_MAX, &number), -1);
}

static void what_follows_a_number_is_returned(void **state)
{
	uint64_t number = 7;

	assert_string_equal(nt_number_read("12ch", 12, &number), "ch");
	assert_int_equal(number, 12);
	assert_string_equal(nt_number_read("0", 12, &number), "");
	assert_int_equal(number, 0);
	assert_null(nt_number_read("13ch", 12, &number));
	assert_null(nt_number_read("ch", 12, &number));
	assert_int_equal(number, 0);
}

static void expect_size(uint64_t want)
{
	char text[NT_SIZE_TEXT];
	uint64_t bytes;

	nt_size_text(want, text, sizeof(text));
	if (nt_size_parse(text, &bytes) < 0 || bytes != want)
		fail_msg("%s is not %ju bytes", text, (uintmax_t)want);
}

static void sizes_are_the_inverse_of_their_text(void **state)
{
	static const char *const wrong[] = { "",
					     "K",
					     "1.5",
					     "1.4K",
					     "1,5K",
					     "1KB",
					     "1k",
					     "-1K",
					     " 1K",
					     "1e3",
					     "1.5.5K",
					     "99999999999999999999K",
					     "18446744073709551615T" };
	/* A record may have a size at which no band begins. */
	static const uint64_t odd[] = { 0,
					96,
					65536,
					3 << 19,
					4194305,
					4294967295,
					1000000000000000,
					999999999999999,
					(UINT64_C(3) << 40) + 512 };
	uint64_t bytes = 7;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		expect_size(odd[i]);
	for (unsigned band = 0; band < 100; band++)
		expect_size(nt_band_floor(band));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (nt_size_parse(wrong[i], &bytes) == 0)
			fail_msg("'%s' was taken for %ju bytes", wrong[i], (uintmax_t)bytes);
	}
	assert_int_equal(bytes, 7);
}

static void lists_of_sizes_have_no_empty_part(void **state)
{
	uint64_t bytes[2];

	assert_int_equal(nt_sizes_parse("64K", bytes, 2), 1);
	assert_int_equal(nt_sizes_parse("64K,1.5M", bytes, 2), 2);
	assert_int_equal(bytes[0], 65536);
	assert_int_equal(bytes[1], 3 << 19);
	assert_int_equal(nt_sizes_parse("1,2,3", bytes, 2), -1);
	assert_int_equal(nt_sizes_parse("", bytes, 2), -1);
	assert_int_equal(nt_sizes_parse("1,", bytes, 2), -1);
	assert_int_equal(nt_sizes_parse(",1", bytes, 2), -1);
	assert_int_equal(nt_sizes_parse("1,000000000000000000000000000000001", bytes, 2), -1);
}

static void hexadecimal_numbers_have_all_their_digits(void **state)
{
	uint64_t value = 7;

	assert_int_equal(nt_hex_parse("00000000deadbeef", NT_HEX_U64, &value), 0);
	assert_true(value == 0xdeadbeef);
	assert_int_equal(nt_hex_parse("ffffffffffffffff", NT_HEX_U64, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(nt_hex_parse("deadbeef", NT_HEX_U64, &value), -1);
	assert_int_equal(nt_hex_parse("DEADBEEF", NT_HEX_U32, &value), -1);
	assert_int_equal(nt_hex_parse("deadbeef0", NT_HEX_U32, &value), -1);
	assert_int_equal(nt_hex_parse("0xadbeef", NT_HEX_U32, &value), -1);
	assert_int_equal(nt_hex_parse("", NT_HEX_U32, &value), -1);
	assert_true(value == UINT64_MAX);
	assert_true(nt_hex_valid("0a", 2));
	assert_false(nt_hex_valid("0a ", 2));
}

/* The published values of FNV-1a: stored hashes must stay valid. */
static void hashes_are_fnv_1a(void **state)
{
	assert_true(nt_hash32_text("") == 0x811c9dc5);
	assert_true(nt_hash32_text("foobar") == 0xbf9cf968);
	assert_true(nt_hash64_text("a") == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(nt_hash64_text("foobar") == UINT64_C(0x85944171f73967e8));
	assert_true(nt_hash64(nt_hash64_text("foo"), "bar", 3) == nt_hash64_text("foobar"));
}

static void quantiles_lie_between_neighbours(void **state)
{
	float floats[] = { 4, 1, 3, 2 };
	double doubles[] = { 30, 10, 20 };
	uint32_t small[] = { 3, 1, UINT32_MAX, 2 };
	uint64_t large[] = { UINT64_MAX, 0, 5 };

	nt_sort_floats(floats, 4);
	nt_sort_doubles(doubles, 3);
	nt_sort_u32(small, 4);
	nt_sort_u64(large, 3);
	assert_true(nt_quantile_floats(floats, 4, 0.5) == 2.5);
	assert_true(nt_quantile_floats(floats, 4, 0.25) == 1.75);
	assert_true(nt_quantile_floats(floats, 4, 0) == 1 && nt_quantile_floats(floats, 4, 1) == 4);
	assert_true(nt_quantile_floats(floats, 1, 0.75) == 1 &&
		    nt_quantile_floats(floats, 0, 0.5) == 0);
	assert_true(doubles[0] == 10 && doubles[2] == 30);
	assert_true(small[0] == 1 && small[3] == UINT32_MAX);
	assert_true(large[0] == 0 && large[2] == UINT64_MAX);
}

/* More than fits into a pipe takes several writes. */
static void everything_is_written(void **state)
{
	static char data[200000];
	size_t got = 0;
	int ends[2], status;
	pid_t writer;

	memset(data, 'x', sizeof(data));
	assert_int_equal(pipe(ends), 0);
	writer = fork();
	if (writer == 0)
		_exit(nt_write_all(ends[1], data, sizeof(data)) < 0);
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], data, sizeof(data))) > 0;)
		got += (size_t)n;
	close(ends[0]);
	assert_int_equal(got, sizeof(data));
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	assert_int_equal(nt_write_all(-1, data, 1), -1);
	assert_int_equal(nt_write_all(-1, data, 0), 0);
}

UNIT_TESTS(numbers_are_digits_alone, what_follows_a_number_is_returned,
	   sizes_are_the_inverse_of_their_text, lists_of_sizes_have_no_empty_part,
	   hexadecimal_numbers_have_all_their_digits, hashes_are_fnv_1a,
	   quantiles_lie_between_neighbours, everything_is_written);

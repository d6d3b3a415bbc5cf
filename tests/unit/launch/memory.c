/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and memories: printed and parsed; refused, forgotten or too old; NVIDIA's format */
#include <unistd.h>
#include "tests/lib/unit.h"
#include "tests/unit/launch/select-world.h"

static struct nt_error err;

static struct nt_memory_entry full_entry(const char *profile, uint32_t job)
{
	struct nt_memory_entry entry = world_entry(profile, job, 1);

	world_key(&entry, 65536, 100, 123.4);
	world_key(&entry, 1 << 20, 10, 456.7);
	world_marker(&entry, 5000, 0.05, job);
	return entry;
}

static char *printed(const struct nt_memory *memory)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(nt_memory_print(memory, out, &err), 0);
	fclose(out);
	return text;
}

static void add(struct nt_memory *memory, struct nt_memory_entry entry)
{
	assert_int_equal(nt_memory_add_take(memory, &entry, &err), 0);
}

static void text_goes_out_and_in(void **state)
{
	struct nt_memory memory, again;
	char *text, *twice;

	nt_memory_init(&memory);
	nt_memory_init(&again);
	add(&memory, full_entry("sockets-wide", 2));
	add(&memory, full_entry("default", 1));
	assert_int_equal(nt_memory_add_host(&memory, "n1", 0xf3, NOW_S, &err), 0);
	nt_memory_sort(&memory, NOW_S);
	assert_string_equal(memory.entry[0].profile, "default");
	text = printed(&memory);
	assert_int_equal(nt_memory_read_text(&again, text, strlen(text), &err), 0);
	nt_memory_sort(&again, NOW_S);
	twice = printed(&again);
	assert_string_equal(text, twice);
	assert_int_equal(nt_memory_host(&again, "n1"), 0xf3);
	assert_int_equal(nt_memory_host(&again, "n2"), 0);
	free(text);
	free(twice);
	nt_memory_fini(&memory);
	nt_memory_fini(&again);
}

/* An entry of several laps says what they differ by; an older line is of one. */
static void laps_have_their_deviation(void **state)
{
	static const struct {
		const char *with;
		bool good;
	} lines[] = {
		{ "\"laps\":1,\"deviation\":0,", true },
		{ "\"laps\":10000,\"deviation\":10,", true },
		{ "\"laps\":7,", false },
		{ "\"laps\":0,\"deviation\":0.1,", false },
		{ "\"laps\":10001,\"deviation\":0.1,", false },
		{ "\"laps\":2.5,\"deviation\":0.1,", false },
		{ "\"laps\":2,\"deviation\":-0.1,", false },
		{ "\"laps\":2,\"deviation\":10.1,", false },
		{ "\"laps\":2,\"deviation\":1e999,", false },
		{ "\"laps\":2,\"deviation\":\"0.1\",", false },
	};
	struct nt_memory memory, again;
	struct nt_memory_entry entry = full_entry("default", 1);
	char *text, line[8192];

	nt_memory_init(&memory);
	nt_memory_init(&again);
	add(&memory, entry);
	text = printed(&memory);
	assert_null(strstr(text, "laps"));
	assert_int_equal(nt_memory_read_text(&again, text, strlen(text), &err), 0);
	assert_true(again.entry[0].laps == 1 && again.entry[0].deviation == 0);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "{%s%s", lines[i].with, text + 1);
		assert_int_equal(nt_memory_read_text(&again, line, strlen(line), &err),
				 lines[i].good ? 0 : 1);
	}
	free(text);
	memory.entry[0].laps = 5;
	memory.entry[0].deviation = 0.0931;
	text = printed(&memory);
	assert_non_null(strstr(text, "\"laps\":5,\"deviation\":0.0931"));
	nt_memory_fini(&again);
	assert_int_equal(nt_memory_read_text(&again, text, strlen(text), &err), 0);
	assert_true(again.entry[0].laps == 5 && again.entry[0].deviation == 0.0931);
	free(text);
	nt_memory_fini(&memory);
	nt_memory_fini(&again);
}

static void keys_tell_their_communicator_and_old_lines_need_not(void **state)
{
	struct nt_memory memory, again;
	struct nt_memory_entry entry = full_entry("default", 1);
	char *text, *old;

	nt_memory_init(&memory);
	nt_memory_init(&again);
	entry.key[1].ranks = 4;
	entry.key[1].nodes = 2;
	add(&memory, entry);
	text = printed(&memory);
	assert_non_null(strstr(text, ",4,2]]"));
	assert_int_equal(nt_memory_read_text(&again, text, strlen(text), &err), 0);
	assert_int_equal(again.entry[0].key[0].ranks, 0);
	assert_int_equal(again.entry[0].key[1].ranks, 4);
	assert_int_equal(again.entry[0].key[1].nodes, 2);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const bad[] = { ",1,2]]", ",4,0]]", ",0,1]]", ",4]]" };

		old = strdup(text);
		memcpy(strstr(old, ",4,2]]"), bad[i], strlen(bad[i]));
		if (strlen(bad[i]) < 6)
			memmove(strstr(old, ",4]]") + 4, strstr(old, ",4]]") + 6,
				strlen(strstr(old, ",4]]") + 6) + 1);
		assert_int_equal(nt_memory_read_text(&again, old, strlen(old), &err), 1);
		free(old);
	}
	free(text);
	nt_memory_fini(&memory);
	nt_memory_fini(&again);
}

static void a_whole_place_is_one_shape_however_written(void **state)
{
	struct nt_where small = world_where(), large = world_where();
	struct nt_known_key whole = { .coll = NT_ALLREDUCE, .bytes = 4096 };
	struct nt_known_key named = { .ranks = 2, .nodes = 2, .coll = NT_ALLREDUCE, .bytes = 4096 };

	large.per_node = 4;
	assert_true(nt_key_same(&whole, &small, &named, &small));
	assert_true(nt_key_same(&whole, &small, &whole, &large));
	assert_false(nt_key_same(&whole, &large, &named, &large));
}

/* Measurements with a user's own settings are not evidence without them. */
static void own_variables_are_another_place(void **state)
{
	struct nt_where where = world_where(), with = world_where();
	struct nt_memory memory, again;
	struct nt_memory_entry entry = full_entry("default", 1);
	char *text;

	nt_memory_init(&memory);
	nt_memory_init(&again);
	with.user_env = entry.where.user_env = 7;
	assert_false(nt_where_same(&where, &with));
	assert_true(nt_where_same(&with, &entry.where));
	add(&memory, entry);
	text = printed(&memory);
	assert_int_equal(nt_memory_read_text(&again, text, strlen(text), &err), 0);
	assert_int_equal(again.entry[0].where.user_env, 7);
	free(text);
	nt_memory_fini(&memory);
	nt_memory_fini(&again);
}

static void each_id_counts_once_and_old_ones_go(void **state)
{
	struct nt_memory memory;
	struct nt_memory_entry entry = full_entry("default", 1), copy,
			       old = full_entry("default", 2);

	nt_memory_init(&memory);
	assert_int_equal(nt_entry_copy(&copy, &entry, &err), 0);
	old.when_s = NOW_S - NT_MEMORY_AGE_S;
	add(&memory, entry);
	add(&memory, copy);
	add(&memory, old);
	nt_memory_sort(&memory, NOW_S);
	assert_int_equal(memory.entries, 1);
	nt_memory_fini(&memory);
}

static void foreign_lines_are_passed_over(void **state)
{
	static const char text[] =
		"# head\n\n{\"v\":2,\"host\":\"n1\"}\nhello\n{\"v\":1}\n[[[[[[[[1]]]]]]]]\n"
		"{\"v\":1,\"host\":\"n 1\",\"fingerprint\":\"00000000000000f3\",\"when\":1}\n"
		"{\"v\":1,\"forget\":7}\n{\"v\":1,\"forget\":{\"profile\":\"A\",\"before\":1}}\n"
		"{\"v\":1,\"host\":\"n1\",\"fingerprint\":\"00000000000000f3\",\"when\":1763769600}";
	struct nt_memory memory;

	nt_memory_init(&memory);
	assert_int_equal(nt_memory_read_text(&memory, text, strlen(text), &err), 7);
	assert_int_equal(memory.hosts, 1);
	assert_int_equal(memory.skipped_lines, 7);
	nt_memory_fini(&memory);
}

static void a_site_file_is_for_people(void **state)
{
	char path[] = "/tmp/nt-site-XXXXXX";
	struct nt_memory memory, again;
	int fd = mkstemp(path);

	nt_memory_init(&memory);
	nt_memory_init(&again);
	add(&memory, full_entry("default", 1));
	assert_int_equal(nt_memory_write_file(&memory, path, &err), 0);
	assert_int_equal(nt_memory_read_file(&again, path, 0, &err), 0);
	assert_int_equal(again.entries, 1);
	assert_int_equal(again.skipped_lines, 0);
	nt_memory_fini(&memory);
	nt_memory_fini(&again);
	close(fd);
	unlink(path);
}

UNIT_TESTS(text_goes_out_and_in, laps_have_their_deviation,
	   keys_tell_their_communicator_and_old_lines_need_not,
	   a_whole_place_is_one_shape_however_written, own_variables_are_another_place,
	   each_id_counts_once_and_old_ones_go, foreign_lines_are_passed_over,
	   a_site_file_is_for_people);

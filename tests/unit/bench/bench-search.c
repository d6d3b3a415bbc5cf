/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* bench-search.c - which NCCL the benchmark uses, what it skips and what is an error */
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "bench/search.h"
#include "launch/memory-store.h"
#include "tests/unit/scratch.h"

#define NOW_S INT64_C(1763769600)

static char texts[8][160];

/* The path below top, made a file. */
static const char *make(unsigned text, const char *path)
{
	FILE *file;

	snprintf(texts[text], sizeof(texts[text]), "%s/%s", top, path);
	for (char *slash = strchr(texts[text] + strlen(top) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(texts[text], 0700);
		*slash = '/';
	}
	file = fopen(texts[text], "w");
	assert_non_null(file);
	fclose(file);
	return texts[text];
}

static const char *below(unsigned text, const char *path)
{
	snprintf(texts[text], sizeof(texts[text]), "%s/%s", top, path);
	return texts[text];
}

static bool python_has_one(char out[NT_LIBRARY_MAX])
{
	snprintf(out, NT_LIBRARY_MAX, "%s/python/nvidia/nccl", top);
	return true;
}

static bool python_has_none(char out[NT_LIBRARY_MAX])
{
	out[0] = '\0';
	return false;
}

static void every_place_in_its_order(void **state)
{
	const char *named = make(0, "named/my-nccl.so"), *record = make(1, "job/libnccl.so.2");
	const char *preload = make(2, "preload/libnccl.so.2.28.9");
	const char *path = make(3, "path/libnccl.so.2");
	const char *python = make(4, "python/nvidia/nccl/lib/libnccl.so.2");
	char preloads[400], paths[400];
	struct nt_search search = { .named = named,
				    .remembered = record,
				    .job = 12,
				    .preload = preloads,
				    .library_path = paths,
				    .ask_python = python_has_one };
	const struct {
		const char *path, *why;
	} want[] = {
		{ named, "named by --nccl" },	{ record, "named by job 12's record" },
		{ preload, "from LD_PRELOAD" }, { path, "from LD_LIBRARY_PATH" },
		{ python, "python3's" },	{ NT_SEARCH_SONAME, "the system's" },
	};
	struct nt_found found = { .from = NT_SEARCH_NAMED };
	struct nt_error err;

	snprintf(preloads, sizeof(preloads), "/nowhere/libnccl.so.2 %s/x.so:%s", top, preload);
	snprintf(paths, sizeof(paths), ":/nowhere:%s/path::", top);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(nt_search_next(&search, found.from, &found, &err), 0);
		assert_int_equal(found.from, NT_SEARCH_NAMED + i);
		assert_string_equal(found.path, want[i].path);
		assert_string_equal(found.why, want[i].why);
		found.from++;
	}
	assert_int_equal(nt_search_next(&search, found.from, &found, &err), 0);
	assert_int_equal(found.from, NT_SEARCH_END);
}

static void what_is_not_there_is_passed_over(void **state)
{
	/* The record may have a container's path; a directory is not a library. */
	struct nt_search search = { .remembered = below(0, "gone/libnccl.so.2"),
				    .preload = below(1, "gone/libnccl.so.2"),
				    .library_path = below(2, "named"),
				    .ask_python = python_has_none };
	struct nt_found found;
	struct nt_error err;

	assert_int_equal(nt_search_next(&search, NT_SEARCH_NAMED, &found, &err), 0);
	assert_int_equal(found.from, NT_SEARCH_SYSTEM);
	search.remembered = top;
	assert_int_equal(nt_search_next(&search, NT_SEARCH_NAMED, &found, &err), 0);
	assert_int_equal(found.from, NT_SEARCH_SYSTEM);
	search = (struct nt_search){ .named = NULL };
	assert_int_equal(nt_search_next(&search, NT_SEARCH_NAMED, &found, &err), 0);
	assert_int_equal(found.from, NT_SEARCH_SYSTEM);
}

static void a_name_that_is_wrong_is_an_error(void **state)
{
	struct nt_search search = { .named = "/nowhere/libnccl.so.2" };
	struct nt_found found;
	struct nt_error err;

	assert_int_equal(nt_search_next(&search, NT_SEARCH_NAMED, &found, &err), -1);
	assert_string_equal(err.text, "--nccl /nowhere/libnccl.so.2: not a readable file");
}

/* python3 is a script here that answers as the real one would. */
static void asks_the_python_in_path(void **state)
{
	const char *script = make(0, "bin/python3");
	char path[1024], out[NT_LIBRARY_MAX];
	const char *before = getenv("PATH");
	FILE *file = fopen(script, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n[ \"$1\" = -c ] && echo %s/env/nvidia/nccl\n", top);
	fclose(file);
	chmod(script, 0700);
	snprintf(path, sizeof(path), "%s/bin:%s", top, before);
	setenv("PATH", path, 1);
	assert_true(nt_search_ask_python(out));
	assert_string_equal(out, below(1, "env/nvidia/nccl"));
	file = fopen(script, "w");
	fprintf(file, "#!/bin/sh\necho no such package >&2\nexit 1\n");
	fclose(file);
	assert_false(nt_search_ask_python(out));
	setenv("PATH", path + strlen(top) + 5, 1);
}

static void remember(const char *dir, enum nt_entry_origin origin, uint32_t job, int64_t when_s,
		     const char *library)
{
	struct nt_memory memory;
	struct nt_memory_entry entry;
	struct nt_error err;

	nt_memory_init(&memory);
	nt_entry_init(&entry);
	assert_int_equal(nt_entry_name(&entry, &err), 0);
	entry.where = (struct nt_where){ .fingerprint = 1, .nodes = 1, .per_node = 2 };
	entry.origin = origin;
	entry.job = job;
	entry.when_s = when_s;
	entry.added_us = when_s * 1000000;
	snprintf(entry.profile, sizeof(entry.profile), "default");
	snprintf(entry.library, sizeof(entry.library), "%s", library);
	assert_int_equal(nt_memory_add_take(&memory, &entry, &err), 0);
	assert_int_equal(nt_store_add(dir, &memory, NOW_S, &err), 0);
	nt_memory_fini(&memory);
}

static void the_newest_job_counts(void **state)
{
	char dir[160], out[NT_LIBRARY_MAX];
	uint32_t job = 0;

	snprintf(dir, sizeof(dir), "%s/memory", top);
	assert_false(nt_search_remembered(dir, NOW_S, out, &job));
	remember(dir, NT_ORIGIN_JOB, 7, NOW_S - 90, "/env a/libnccl.so.2");
	remember(dir, NT_ORIGIN_JOB, 9, NOW_S - 60, "/env/b+1/libnccl.so.2");
	remember(dir, NT_ORIGIN_JOB, 8, NOW_S - 70, "/env/c/libnccl.so.2");
	/* A job without a library does not count, nor does a calibration. */
	remember(dir, NT_ORIGIN_JOB, 10, NOW_S - 50, "");
	remember(dir, NT_ORIGIN_CALIBRATE, 11, NOW_S - 40, "/env/d/libnccl.so.2");
	assert_true(nt_search_remembered(dir, NOW_S, out, &job));
	assert_string_equal(out, "/env/b+1/libnccl.so.2");
	assert_int_equal(job, 9);
}

UNIT_TESTS_ALL(make_top, remove_top, every_place_in_its_order, what_is_not_there_is_passed_over,
	       a_name_that_is_wrong_is_an_error, asks_the_python_in_path, the_newest_job_counts);

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which plugin directories have Slurm's PMIx plugin. */
#include "spank/submit/mpi.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"

static char top[] = "/tmp/nt-mpi.XXXXXX", with[64], broken[64], without[64];
static char plugin[96], text[96];

static int make(void **state)
{
	Dl_info library;
	FILE *file;

	if (!mkdtemp(top) || !dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &library))
		return -1;
	snprintf(with, sizeof(with), "%s/with", top);
	snprintf(broken, sizeof(broken), "%s/broken", top);
	snprintf(without, sizeof(without), "%s/without", top);
	snprintf(plugin, sizeof(plugin), "%s/mpi_pmix.so", with);
	snprintf(text, sizeof(text), "%s/mpi_pmix.so", broken);
	if (mkdir(with, 0755) < 0 || mkdir(broken, 0755) < 0 || mkdir(without, 0755) < 0 ||
	    symlink(library.dli_fname, plugin) < 0)
		return -1;
	file = fopen(text, "w");
	return file ? fclose(file) : -1;
}

static int clear(void **state)
{
	unlink(plugin);
	unlink(text);
	rmdir(with);
	rmdir(broken);
	rmdir(without);
	return rmdir(top);
}

static bool has(const char *before, const char *between, const char *after)
{
	char dirs[256];

	snprintf(dirs, sizeof(dirs), "%s%s%s", before, between, after);
	return nt_slurm_has_pmix(dirs);
}

static void test_any_directory(void **state)
{
	assert_true(has(with, "", ""));
	assert_true(has(with, ":", without));
	assert_true(has(without, ":", with));
	assert_false(has(without, "", ""));
	assert_false(has(without, ":", without));
	assert_false(has("/nonexistent", ":", without));
}

static void test_a_plugin_that_does_not_load(void **state)
{
	assert_false(has(broken, "", ""));
	assert_true(has(broken, ":", with));
}

static void test_not_known(void **state)
{
	char *longest = malloc(10000);

	assert_true(nt_slurm_has_pmix(NULL));
	assert_true(nt_slurm_has_pmix(""));
	assert_non_null(longest);
	memset(longest, 'x', 9999);
	longest[9999] = '\0';
	assert_true(nt_slurm_has_pmix(longest));
	free(longest);
}

UNIT_TESTS_ALL(make, clear, test_any_directory, test_a_plugin_that_does_not_load, test_not_known);

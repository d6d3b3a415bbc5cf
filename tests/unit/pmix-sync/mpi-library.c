/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi-library.c - when MPI must start first, with a simulated MPI library (tests/fake/mpi.c) */
#include <dlfcn.h>
#include "tests/lib/unit.h"
#include "pmix-sync/mpi-library.h"

static void *load_mpi(const char *version)
{
	char path[4096];
	void *library;

	setenv("NT_FAKE_MPI_VERSION", version, 1);
	snprintf(path, sizeof(path), "%s/tests/fake/libmpi-fake.so", getenv("top_builddir"));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

static void start_mpi(void *library)
{
	int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");

	assert_non_null(init);
	assert_int_equal(init(NULL, NULL), 0);
}

static void a_program_without_mpi_is_free(void **state)
{
	struct nt_mpi mpi = { 0 };

	for (int i = 0; i < 3; i++) {
		assert_false(nt_mpi_is_loaded(&mpi));
		assert_false(nt_mpi_comes_first(&mpi));
	}
}

static void open_mpi_5_comes_first_until_it_has_started(void **state)
{
	struct nt_mpi mpi = { 0 };
	void *library;

	assert_false(nt_mpi_comes_first(&mpi));
	library = load_mpi("Open MPI v5.0.7, package: Debian OpenMPI");
	for (int i = 0; i < 3; i++) {
		assert_true(nt_mpi_is_loaded(&mpi));
		assert_true(nt_mpi_comes_first(&mpi));
	}
	start_mpi(library);
	assert_false(nt_mpi_comes_first(&mpi));
	assert_true(nt_mpi_is_loaded(&mpi));
	dlclose(library);
	assert_false(nt_mpi_is_loaded(&mpi));
}

static void mpi_that_has_started_already_is_no_matter(void **state)
{
	struct nt_mpi mpi = { 0 };
	void *library = load_mpi("Open MPI v5.0.7, package: Debian OpenMPI");

	start_mpi(library);
	assert_false(nt_mpi_comes_first(&mpi));
	dlclose(library);
}

static void open_mpi_4_joins_a_client(void **state)
{
	struct nt_mpi mpi = { 0 };
	void *library = load_mpi("Open MPI v4.1.4, package: Debian OpenMPI");

	assert_false(nt_mpi_comes_first(&mpi));
	assert_true(nt_mpi_is_loaded(&mpi));
	dlclose(library);
}

static void of_others_nothing_is_known(void **state)
{
	static const char *const versions[] = { "Open MPI v10.1.0", "Open MPI v6.0.0rc2",
						"MPICH Version: 4.2", "Open MPI", "" };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct nt_mpi mpi = { 0 };
		void *library = load_mpi(versions[i]);

		assert_true(nt_mpi_comes_first(&mpi));
		start_mpi(library);
		assert_false(nt_mpi_comes_first(&mpi));
		dlclose(library);
	}
}

static void a_library_that_is_gone_is_no_matter(void **state)
{
	struct nt_mpi mpi = { 0 };
	void *library = load_mpi("Open MPI v5.0.7");

	assert_true(nt_mpi_comes_first(&mpi));
	dlclose(library);
	assert_false(nt_mpi_comes_first(&mpi));
	library = load_mpi("Open MPI v5.0.7");
	assert_true(nt_mpi_comes_first(&mpi));
	dlclose(library);
}

UNIT_TESTS(a_program_without_mpi_is_free, open_mpi_5_comes_first_until_it_has_started,
	   mpi_that_has_started_already_is_no_matter, open_mpi_4_joins_a_client,
	   of_others_nothing_is_known, a_library_that_is_gone_is_no_matter);

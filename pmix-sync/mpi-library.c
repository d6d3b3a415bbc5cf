/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/mpi-library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096
#define VERSION_BYTES (8192 + 1) /* the largest MPI_MAX_LIBRARY_VERSION_STRING, MPICH's */
#define JOINS_BELOW 5 /* Open MPI before this version joins a client */

struct library_search {
	const struct nt_mpi *before;
	unsigned long long loads;
	char path[PATH_BYTES]; /* "": none */
};

/* A loaded library, the program first. Nonzero: stop. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct library_search *search = arg;

	(void)bytes;
	search->loads = info->dlpi_adds;
	if (search->loads == search->before->loads && !search->before->loaded)
		return 1; /* nothing was loaded since, and there was no MPI */
	if (!name || strncmp(name, "/libmpi", 7) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(search->path))
		return 0;
	memcpy(search->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	/* Libraries with similar names, such as libmpi_mpifh.so, depend on this one. */
	return strncmp(name, "/libmpi.so", 10) == 0;
}

static bool find_libraries(struct nt_mpi *mpi, struct library_search *search)
{
	search->before = mpi;
	search->loads = 0;
	search->path[0] = '\0';
	(void)dl_iterate_phdr(look_at, search);
	mpi->loads = search->loads;
	mpi->loaded = search->path[0] != '\0';
	return mpi->loaded;
}

bool nt_mpi_is_loaded(struct nt_mpi *mpi)
{
	struct library_search search;

	return find_libraries(mpi, &search);
}

static bool joins_a_client(void *library)
{
	int (*version)(char *, int *) = (int (*)(char *, int *))dlsym(library,
								      "MPI_Get_library_version");
	char text[VERSION_BYTES] = "";
	int bytes, major;

	return version && version(text, &bytes) == 0 && sscanf(text, "Open MPI v%d", &major) == 1 &&
	       major < JOINS_BELOW;
}

static bool is_harmless(void *library)
{
	int (*initialized)(int *) = (int (*)(int *))dlsym(library, "MPI_Initialized");
	int started = 0;

	if (!initialized)
		return true;
	return (initialized(&started) == 0 && started) || joins_a_client(library);
}

bool nt_mpi_comes_first(struct nt_mpi *mpi)
{
	struct library_search search;
	void *library;

	if (mpi->ready || !find_libraries(mpi, &search))
		return false;
	library = dlopen(search.path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	if (!library)
		return false;
	mpi->ready = is_harmless(library);
	dlclose(library);
	return !mpi->ready;
}

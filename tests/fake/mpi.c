/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - simulates the start of an MPI library and its use of PMIx
 *
 * NT_FAKE_MPI_VERSION is its version, "Open MPI v5.0.7" by default. As Open MPI 5 it becomes a
 * client of PMIx; if the process is one already, it gets no name and aborts. Open MPI 4 and others
 * join. Without PMIx in the environment it only records its start.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int MPI_Initialized(int *flag);
int MPI_Get_library_version(char *version, int *bytes);
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

static int started;

int MPI_Initialized(int *flag)
{
	*flag = started;
	return 0;
}

int MPI_Get_library_version(char *version, int *bytes)
{
	const char *text = getenv("NT_FAKE_MPI_VERSION");

	*bytes = snprintf(version, 256, "%s", text ? text : "Open MPI v5.0.7, package: made up");
	return 0;
}

static void fail(const char *what)
{
	fprintf(stderr, "fake MPI, task %s: %s\n", getenv("SLURM_PROCID"), what);
	abort();
}

static void *pmix_call(const char *name)
{
	void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
	void *call = library ? dlsym(library, name) : NULL;

	if (!call)
		fail(name);
	return call;
}

int MPI_Init(int *argc, char ***argv)
{
	__typeof__(PMIx_Initialized) *initialized;
	__typeof__(PMIx_Init) *init;
	char version[256];
	int bytes;

	(void)argc;
	(void)argv;
	if (getenv("PMIX_RANK")) {
		initialized = (__typeof__(initialized))pmix_call("PMIx_Initialized");
		init = (__typeof__(init))pmix_call("PMIx_Init");
		MPI_Get_library_version(version, &bytes);
		if (strncmp(version, "Open MPI v5", 11) == 0 && initialized())
			fail("the process is a client of PMIx already: it has no name");
		if (init(NULL, NULL, 0) != PMIX_SUCCESS)
			fail("PMIx_Init failed");
	}
	started = 1;
	return 0;
}

int MPI_Finalize(void)
{
	__typeof__(PMIx_Finalize) *finalize;

	if (getenv("PMIX_RANK")) {
		finalize = (__typeof__(finalize))pmix_call("PMIx_Finalize");
		if (finalize(NULL, 0) != PMIX_SUCCESS)
			fail("PMIx_Finalize failed");
	}
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi-order.c - NCCL jobs around the start of an MPI that does not join a client of PMIx
 *
 *   mpi-order ORDER MPI-LIBRARY LIBRARY DIR [option of nt-fake-nccl]...
 *
 *   linked   MPI is there from the start: an NCCL job, MPI_Init, another one, MPI_Finalize
 *   loaded   an NCCL job, then MPI is loaded, and started once the plugin has stood aside
 *   never    MPI is there, and never started: an NCCL job
 *
 * Says of each job whether the process was a client of PMIx when it ended: "task 0: played, client
 * 1", and how long the plugin took to stand aside. MPI-LIBRARY is tests/fake/mpi.c. The ranks of
 * the second job meet in DIR: nobody waits for the first to be over everywhere. Built by the tests:
 * cc mpi-order.c -ldl.
 */
#include <string.h>
#include <time.h>
#include "load.h"

#define OVER_MS 300 /* PMIx_Initialized() says no before PMIx_Finalize() is over (docs/hosts.md) */
#define ASIDE_MS 120000 /* a guard against hangs: a few are needed, a busy machine takes more */

static void *load_mpi(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return library;
}

static void start_mpi(void *library)
{
	int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");

	if (!init || init(NULL, NULL) != 0)
		exit(70);
}

static void end_mpi(void *library)
{
	int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");

	if (!finalize || finalize() != 0)
		exit(71);
}

static int play(const char *path, int argc, char **argv)
{
	int rc = nt_load_job(path)(argc, argv);

	fprintf(stderr, "task %s: played, client %d\n", getenv("SLURM_PROCID"),
		nt_is_pmix_client());
	return rc;
}

/* The same job again; argv: LIBRARY DIR and its options. */
static int play_again(int argc, char **argv)
{
	char wire[] = "--wire", *directory = argv[1];
	char **more = calloc((size_t)argc + 2, sizeof(*more));

	if (!more)
		return 72;
	memcpy(more, argv, (size_t)argc * sizeof(*more));
	more[argc] = wire;
	more[argc + 1] = directory;
	more[1] = more[0];
	return play(argv[0], argc + 1, more + 1);
}

/* How long Open MPI 5 takes from its loading to its look at PMIx: docs/hosts.md. */
static void wait_until_no_client(void)
{
	const struct timespec pause = { .tv_nsec = 1000000L };
	const struct timespec over = { .tv_nsec = OVER_MS * 1000000L };
	int ms = 0;

	for (; nt_is_pmix_client() && ms < ASIDE_MS; ms++)
		nanosleep(&pause, NULL);
	fprintf(stderr, "task %s: aside after %d ms\n", getenv("SLURM_PROCID"), ms);
	nanosleep(&over, NULL);
}

int main(int argc, char **argv)
{
	const char *order = argc > 4 ? argv[1] : "";
	void *library = NULL;
	int rc;

	if (argc < 5 || !getenv("SLURM_PROCID"))
		return 2;
	if (strcmp(order, "loaded") != 0)
		library = load_mpi(argv[2]);
	rc = play(argv[3], argc - 4, argv + 4);
	if (rc != 0 || strcmp(order, "never") == 0)
		return rc;
	if (!library) {
		library = load_mpi(argv[2]);
		wait_until_no_client();
	}
	start_mpi(library);
	rc = play_again(argc - 3, argv + 3);
	end_mpi(library);
	return rc;
}

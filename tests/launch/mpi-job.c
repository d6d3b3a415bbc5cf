/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi-job.c - an MPI program that is an NCCL job, too: one PMIx client for both
 *
 *   mpi-job ORDER LIBRARY [option of nt-fake-nccl]...
 *
 * ORDER says when MPI starts and ends. The plugin's end is that of the process.
 *   around   MPI_Init, the NCCL job, MPI_Finalize
 *   late     an NCCL job, MPI_Init, another one, MPI_Finalize
 *   last     MPI_Init, the NCCL job, MPI_Finalize at exit, after the plugin's end
 *   beside   as around, with MPI collectives on another thread all the while
 *
 * MPI's answers are checked throughout. Built by the tests: mpicc mpi-job.c -pthread -ldl.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "load.h"

#define ITEMS 20000 /* beyond MPI's eager limits */

static _Atomic bool played;
static int mpi_rank, mpi_ranks;
static int copies_seen; /* of libpmix, at most */

static void fail(const char *what)
{
	fprintf(stderr, "mpi-job: task %s: %s\n", getenv("SLURM_PROCID"), what);
	_exit(70);
}

static void check_sum(const int *mine, int *all)
{
	int ranks = mpi_ranks;

	if (MPI_Allreduce(mine, all, ITEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
		fail("MPI_Allreduce");
	for (int i = 0; i < ITEMS; i++) {
		if (all[i] != ranks * i + ranks * (ranks - 1) / 2)
			fail("MPI_Allreduce gave a wrong sum");
	}
}

static void check_gather(const int *mine, int *all)
{
	if (MPI_Allgather(mine, ITEMS, MPI_INT, all, ITEMS, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
		fail("MPI_Allgather");
	for (int rank = 0; rank < mpi_ranks; rank++) {
		for (int i = 0; i < ITEMS; i++) {
			if (all[rank * ITEMS + i] != rank + i)
				fail("MPI_Allgather gave wrong data");
		}
	}
}

/* Copies of libpmix in this process, told apart by their files. */
static void count_libpmix(void)
{
	unsigned long seen[8], inode;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	int copies = 0, i;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/libpmix.so") ||
		    sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
			continue;
		for (i = 0; i < copies && seen[i] != inode; i++)
			;
		if (i == copies && copies < 8)
			seen[copies++] = inode;
	}
	if (maps)
		fclose(maps);
	if (copies > copies_seen)
		copies_seen = copies;
}

static void check_mpi(void)
{
	int *mine = calloc(ITEMS, sizeof(*mine));
	int *all = calloc((size_t)mpi_ranks * ITEMS, sizeof(*all));

	if (!mine || !all)
		fail("out of memory");
	for (int i = 0; i < ITEMS; i++)
		mine[i] = mpi_rank + i;
	check_sum(mine, all);
	check_gather(mine, all);
	if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS)
		fail("MPI_Barrier");
	free(mine);
	free(all);
}

static void start_mpi(void)
{
	int level;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
		fail("MPI_Init_thread");
	MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &mpi_ranks);
	if (mpi_rank != (int)strtol(getenv("SLURM_PROCID"), NULL, 10) ||
	    mpi_ranks != (int)strtol(getenv("SLURM_NTASKS"), NULL, 10))
		fail("MPI's rank or size is not the step's");
	fprintf(stderr, "task %s: MPI has started\n", getenv("SLURM_PROCID"));
	check_mpi();
}

static void end_mpi(void)
{
	check_mpi();
	count_libpmix();
	if (MPI_Finalize() != MPI_SUCCESS)
		fail("MPI_Finalize");
}

/* The last word: what a client forgot to finalize Slurm would take for a lost process. */
static void tell(void)
{
	fprintf(stderr, "task %s: libpmix %d, client in the end %d\n", getenv("SLURM_PROCID"),
		copies_seen, nt_is_pmix_client());
}

static void *use_mpi(void *arg)
{
	int last = 0, all;

	(void)arg;
	/* All ranks leave at the same call: when all have played. */
	do {
		check_mpi();
		last = atomic_load(&played);
		if (MPI_Allreduce(&last, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD) != MPI_SUCCESS)
			fail("MPI_Allreduce");
	} while (!all);
	return NULL;
}

static int play_beside(nt_play_job play, int argc, char **argv)
{
	pthread_t thread;
	int rc;

	if (pthread_create(&thread, NULL, use_mpi, NULL) != 0)
		fail("no thread");
	rc = play(argc, argv);
	atomic_store(&played, true);
	pthread_join(thread, NULL);
	return rc;
}

int main(int argc, char **argv)
{
	const char *order = argc > 2 ? argv[1] : "";
	nt_play_job play;
	int rc = 0;

	if (argc < 3 || !getenv("SLURM_PROCID") || !getenv("SLURM_NTASKS"))
		return 2;
	/* The first to be registered is the last to be called. */
	atexit(tell);
	if (strcmp(order, "last") == 0)
		atexit(end_mpi);
	play = nt_load_job(argv[2]);
	if (strcmp(order, "late") == 0)
		rc = play(argc - 2, argv + 2);
	start_mpi();
	if (rc == 0)
		rc = strcmp(order, "beside") == 0 ? play_beside(play, argc - 2, argv + 2)
						  : play(argc - 2, argv + 2);
	if (strcmp(order, "last") != 0)
		end_mpi();
	return rc;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi-library.h - does this process have an MPI library that is not initialised yet?
 *
 * A process is one PMIx client, for MPI as well as the agreement (docs/hosts.md). Open MPI up to 4
 * joins an existing client. MPI_Init of Open MPI 5 takes such a process for one that it started
 * itself, gets no name and aborts, and Slurm ends the step. Other libraries are treated like Open
 * MPI 5.
 *
 * Threads:  one at a time. Waits while another thread is inside dlopen.
 * Errors:   a library that does not answer counts as none.
 * Host:     calls MPI_Initialized and MPI_Get_library_version, which are allowed at any time (MPI
 *           3.1, 8.7 and 8.1.1). This neither loads nor keeps the library.
 */
#ifndef NT_SYNC_MPI_LIBRARY_H
#define NT_SYNC_MPI_LIBRARY_H

#include <stdbool.h>

/* Result of the last check; initially all zero. */
struct nt_mpi {
	unsigned long long loads; /* number of loaded libraries at the last check */
	bool loaded; /* one of them is MPI */
	bool ready; /* MPI is initialised or can join a client: final */
};

bool nt_mpi_is_loaded(struct nt_mpi *mpi);

/* Must MPI be initialised before this process may become a PMIx client? */
bool nt_mpi_comes_first(struct nt_mpi *mpi);

#endif

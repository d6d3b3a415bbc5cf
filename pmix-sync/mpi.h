/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - is an MPI library in this process that has yet to be started?
 *
 * MPI and the agreement are one PMIx client if both are at work (docs/hosts.md). Open MPI up to 4
 * joins a client that is there already. From 5 on its MPI_Init takes such a process for one that
 * it has started itself, is left without a name, aborts, and Slurm ends the step. Of other
 * libraries nothing is known, so they are treated like that.
 *
 * Threads:  one at a time. Waits while another thread is inside dlopen.
 * Errors:   a library that says nothing of itself is none.
 * Host:     asks the library itself, by MPI_Initialized and MPI_Get_library_version, both of which
 *           may be called at any time (MPI 3.1, 8.7 and 8.1.1). It is never loaded, nor kept.
 */
#ifndef NT_SYNC_MPI_H
#define NT_SYNC_MPI_H

#include <stdbool.h>

/* What was found last; all zero at first. */
struct nt_mpi {
	unsigned long long loads; /* libraries that were ever loaded, when they were looked at */
	bool loaded; /* one of them is MPI */
	bool ready; /* it has been started, or joins a client: the answer will not change */
};

bool nt_mpi_is_loaded(struct nt_mpi *mpi);

/* Nobody may be a PMIx client now: MPI's start would fail. */
bool nt_mpi_comes_first(struct nt_mpi *mpi);

#endif

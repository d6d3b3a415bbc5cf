/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - whether this Slurm can start PMIx
 *
 * Where it was built without, the MPI type "pmix" ends srun before the step: a site's pmix=default
 * would take all of its steps with it, say after an update of Slurm.
 *
 * Errors:   none; where it cannot be known it is taken to have PMIx, as a site says that asks.
 * Host:     Slurm 22.05 to 26.05 load mpi_TYPE.so from the first directory of PluginDir with one.
 */
#ifndef NT_SPANK_MPI_H
#define NT_SPANK_MPI_H

#include <stdbool.h>

/* plugin_dirs is PluginDir of slurm.conf, between colons; NULL or "": not known. */
bool nt_slurm_has_pmix(const char *plugin_dirs);

#endif

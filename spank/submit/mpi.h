/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - whether this Slurm can start PMIx
 *
 * If Slurm was built without PMIx, or its plugin does not load because a library is missing for
 * example, the MPI type "pmix" ends srun before the step: with pmix=default, a site would lose all
 * of its steps, after an update of Slurm for example.
 *
 * Errors:   none; if it cannot be known, PMIx is assumed, because the site asked for it.
 * Host:     Slurm 22.05 to 26.05 load mpi_TYPE.so from the first directory of PluginDir with one.
 */
#ifndef NT_SPANK_MPI_H
#define NT_SPANK_MPI_H

#include <stdbool.h>

/* plugin_dirs is PluginDir of slurm.conf, between colons; NULL or "": not known. */
bool nt_slurm_has_pmix(const char *plugin_dirs);

#endif

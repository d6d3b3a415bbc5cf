/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slurm-names.h - the partitions that Slurm knows, from sinfo
 *
 * The command obeys the site's PrivateData, and can be ended at a deadline; lib/sacct.h says why
 * libslurm is not used.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   names is the caller's, to be freed by nt_names_fini().
 * Errors:   -1 and *err has the reason why Slurm could not be asked. names is then empty.
 * Host:     a machine of the cluster.
 */
#ifndef NT_KNOWN_H
#define NT_KNOWN_H

#include "lib/error.h"
#include "lib/name-set.h"

/* Takes at most five seconds. */
int nt_known_partitions(struct nt_names *names, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slurm-names.h - the partitions, accounts and QOSs that Slurm knows, from sinfo and sacctmgr
 *
 * The commands obey the site's PrivateData, and can be ended at a deadline; lib/sacct.h says why
 * libslurm is not used.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   names is the caller's, to be freed by nt_names_fini().
 * Errors:   -1 and *err has the reason why Slurm could not be asked. names is then empty.
 * Host:     a machine of the cluster; slurmctld for partitions, slurmdbd for the others.
 */
#ifndef NT_KNOWN_H
#define NT_KNOWN_H

#include "lib/name-set.h"
#include "site/conf.h"

/* kind: PARTITION, ACCOUNT or QOS. Takes at most five seconds. */
int nt_known(struct nt_names *names, enum nt_conf_kind kind, struct nt_error *err);

#endif

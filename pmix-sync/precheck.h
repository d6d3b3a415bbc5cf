/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* precheck.h - may this process become a PMIx client?
 *
 * A failing PMIx_Init is worse than none: libpmix 4.2.2 prints up to 40 lines to the program's
 * stderr, hangs with some settings, and the process's next PMIx_Init, perhaps that of the program's
 * MPI, crashes or never returns (docs/hosts.md). No argument of PMIx_Init prevents that. So it is
 * called only if everything it reads is as Slurm sets it or known to be harmless: PMIX_ variables,
 * the user's file of PMIx parameters, the user's id in a container, the directories.
 *
 * Threads:  any one thread. Reads the environment, as PMIx_Init itself does.
 * Errors:   -1; *why says what is in the way.
 * Host:     SLURM_JOB_UID; $HOME/.pmix/mca-params.conf, which may be missing.
 */
#ifndef NT_SYNC_PRECHECK_H
#define NT_SYNC_PRECHECK_H

#include "contract/reason.h"

int nt_precheck(struct nt_reason *why);

/* Its parts; pure. env ends with NULL. */
int nt_precheck_env(char *const *env, struct nt_reason *why);
/* text: contents of a PMIx parameter file. */
int nt_precheck_params(const char *text, struct nt_reason *why);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* precheck.h - may this process become a PMIx client?
 *
 * A PMIx_Init that fails is worse than none: libpmix 4.2.2 prints up to 40 lines to stderr, hangs
 * with some settings, and the process's next PMIx_Init, perhaps that of its MPI, crashes or never
 * returns (docs/hosts.md). No argument prevents that. So we call it only if all that it reads is as
 * Slurm sets it, or known to be harmless: PMIX_ variables, the user's file of PMIx parameters, the
 * user's id in a container, directories, and network interfaces.
 *
 * Threads:  any one thread. Reads the environment, as PMIx_Init does.
 * Errors:   -1; *why says what is in the way.
 * Host:     SLURM_JOB_UID; $HOME/.pmix/mca-params.conf, which may be missing.
 */
#ifndef NT_SYNC_PRECHECK_H
#define NT_SYNC_PRECHECK_H

#include "contract/reason.h"

int nt_precheck(struct nt_reason *why);

/* Its parts; pure. env ends with NULL. */
int nt_precheck_env(char *const *env, struct nt_reason *why);
/* text: a file of PMIx parameters. */
int nt_precheck_params(const char *text, struct nt_reason *why);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longplace.h - where the long form of a step's record will be written, from its tasks'
 * environment
 *
 * In slurmstepd, as root: words are compared and passed on; what they name is opened by a process
 * with the user's rights (longform.h).
 *
 * Threads:  one at a time.
 * Memory:   the caller's.
 * Errors:   none: why there is no place is the arguments's to tell.
 */
#ifndef NT_LONGPLACE_H
#define NT_LONGPLACE_H

#include "site/conf.h"
#include "spank/profile-env.h"
#include "spank/arguments.h"

/* Fills in long_mib, long_dir, long_parents and run; uid must be there. memory: the user's, as the
 * ticket says; "": it says none. */
void nt_longplace(struct nt_arguments *arguments, const struct nt_task_env *env,
		  const struct nt_conf *conf, const char *memory);

#endif

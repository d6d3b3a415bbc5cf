/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* long-dir.h - where a step's long form will be written, by its tasks' environment
 *
 * In slurmstepd, as root: texts are only compared and passed on; a process with the user's rights
 * opens the directory (longform.h).
 *
 * Threads:  one at a time.
 * Memory:   the caller's.
 * Errors:   none: the arguments have the reason if there is none.
 */
#ifndef NT_LONG_DIR_H
#define NT_LONG_DIR_H

#include "site/conf.h"
#include "spank/arguments.h"
#include "spank/step/env.h"

/* Fills in long_mib, long_dir, long_parents and run; uid must be set. memory: the user's, as in the
 * ticket; "": none. */
void nt_long_dir_find(struct nt_arguments *arguments, const struct nt_task_env *env,
		      const struct nt_conf *conf, const char *memory);

#endif

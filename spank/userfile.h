/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* userfile.h - the user's file of settings, for srun, sbatch and salloc
 *
 * It lies in the user's home, which may hang: `nt-launch user-file` reads it, a process of its own
 * with a deadline, and the command goes on without the file when that is slow.
 *
 * Threads:  any one at a time.
 * Memory:   values.
 * Errors:   -1 and *err: the file holds a mistake, or nothing could be read in time.
 * Units:    milliseconds.
 */
#ifndef NT_USERFILE_H
#define NT_USERFILE_H

#include <stdbool.h>
#include "spank/option.h"

#define NT_USERFILE_MS 1000

/* text gets pairs of a policy, "" on an error or without a file. *late: there was no answer in
 * time, and another look into the user's home would not do better. */
int nt_userfile_read(const struct nt_site *site, char text[NT_POLICY_MAX], bool *late,
		     struct nt_error *err);

#endif

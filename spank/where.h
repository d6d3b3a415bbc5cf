/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* where.h - two options of srun's command line, with which PMIx must not be asked for
 *
 * SPANK does not tell them, and Slurm calls the plugin before it has read its options. The value of
 * another option may be taken for one of these; the step then has PMIx only if its user asks.
 *
 * Threads:  any.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_WHERE_H
#define NT_WHERE_H

#include <stdbool.h>
#include <stddef.h>

/* args: words, each with its NUL, as in /proc/self/cmdline; the first is the program. */

/* Does srun have the option --async (26.05)? Any abbreviation that srun accepts counts. */
bool nt_where_is_async(const char *args, size_t bytes);

/* Does srun start a heterogeneous step: `srun A : B`, or --het-group with several groups? */
bool nt_where_is_het(const char *args, size_t bytes);

/* The command line of this process: words, each with its NUL. */
size_t nt_where_command_line(char *out, size_t out_bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* where.h - the partition, account and QOS that a command of Slurm's is told to use
 *
 * No interface of SPANK's tells them before there is a job, and Slurm calls back for an option
 * before it has read those behind it. So the command line is read once more. What this finds is for
 * messages only: an option of a value that looks like one of these may be taken for it.
 *
 * Threads:  one at a time, for the environment.
 * Memory:   results point into args, into where's texts or into the environment.
 * Errors:   what cannot be told is NULL.
 */
#ifndef NT_WHERE_H
#define NT_WHERE_H

#include "site/rules.h"

/* args: words, each with its NUL, as in /proc/self/cmdline; the first is the program. */
struct nt_step_where nt_where_words(const char *args, size_t bytes);

/* Does srun have the option --async (26.05)? Any cut of it that srun takes counts. */
bool nt_where_is_async(const char *args, size_t bytes);

/* What srun, sbatch or salloc is told by its command line, else by its variables SLURM_PARTITION
 * and so on; variable is its environment twin (nt_option_variable). A list of partitions is none.
 */
struct nt_step_where nt_where_told(const char *args, size_t bytes, const char *variable);

/* What this process's environment says. In a job's prolog slurmd has made it; elsewhere users may
 * have, and it is for messages only. */
struct nt_step_where nt_where_environment(void);

/* The command line of this process: words, each with its NUL. */
size_t nt_where_command_line(char *out, size_t out_bytes);

#endif

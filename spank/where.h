/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* where.h - the partition, account and QOS that a command line of Slurm names
 *
 * SPANK does not provide them before there is a job, and Slurm calls back for an option before it
 * has read those after it. So the command line is parsed once more. The result is only used in
 * messages: the value of another option may be taken for one of these.
 *
 * Threads:  one at a time, for the environment.
 * Memory:   results point into args, into where's texts or into the environment.
 * Errors:   what is unknown is NULL.
 */
#ifndef NT_WHERE_H
#define NT_WHERE_H

#include "site/rules.h"

/* args: words, each with its NUL, as in /proc/self/cmdline; the first is the program. */
struct nt_step_where nt_where_words(const char *args, size_t bytes);

/* Does srun have the option --async (26.05)? Any abbreviation that srun accepts counts. */
bool nt_where_is_async(const char *args, size_t bytes);

/* Does srun start a heterogeneous step: `srun A : B`, or --het-group with several groups? */
bool nt_where_is_het(const char *args, size_t bytes);

/* The values of srun's, sbatch's or salloc's command line, or of its variables SLURM_PARTITION and
 * so on; variable is the environment variable of the option (nt_option_variable). A list of
 * partitions counts as none.
 */
struct nt_step_where nt_where_told(const char *args, size_t bytes, const char *variable);

/* The values in this process's environment. In a job's prolog slurmd has set it; elsewhere users
 * may have, and it is only used in messages. */
struct nt_step_where nt_where_environment(void);

/* The command line of this process: words, each with its NUL. */
size_t nt_where_command_line(char *out, size_t out_bytes);

#endif

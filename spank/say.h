/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - Slurm's log functions, for texts that hold what users wrote
 *
 * A job's name for a file, an option's value or a variable may hold line ends and escapes, and
 * would write lines of its own into slurmd's log. Under this header slurm_error() and the others
 * make a line of one line of printable ASCII, whatever its parts are: nobody has to think of
 * cleaning one. Slurm's own are reached in say.c alone.
 *
 * Threads:  those of Slurm's functions.
 * Errors:   none; a line longer than NT_SAY_BYTES is cut.
 */
#ifndef NT_SAY_H
#define NT_SAY_H

#include <slurm/slurm.h>
#include <slurm/spank.h>

#define NT_SAY_BYTES 1024

void nt_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nt_say_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nt_say_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifndef NT_SAY_ITSELF
#define slurm_error nt_say_error
#define slurm_info nt_say_info
#define slurm_verbose nt_say_verbose
#endif

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - Slurm's log functions, for texts that contain what users wrote
 *
 * A file name, an option's value or a variable of a user may contain line ends and escapes, which
 * would forge lines in slurmd's log. With this header, slurm_error() and the others write one line
 * "nccl-tune: ..." of printable ASCII, whatever its parts contain. Only say.c calls Slurm's own
 * functions.
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

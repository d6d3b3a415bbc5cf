/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the name of a step's program
 *
 * Programs make different calls, so their measurements are kept apart. The name is the last path
 * component of the script or binary, or the module after -m, whatever starts it: shells with their
 * -c text, env and other prefixes, containers, profilers, mpirun, Python, torchrun and the like.
 * Behind a script or a program that is not known here, the name is that of the first Python script
 * among its arguments, or of what a Python or shell among them runs; else its own. Of the commands
 * of a text it is the last that starts ranks, else the last that runs a file, else the last; what
 * only prepares (cd, export, pip) does not count. Where none is found, as of `python -c TEXT` or
 * $COMMAND, the name is "", and nothing is known of the program.
 *
 * It says what runs, not how: tasks and ranks a node, containers and launchers are not in it, and
 * what a script starts is not read.
 *
 * Threads:  pure.
 * Memory:   the caller's.
 * Errors:   none; "" for no words.
 */
#ifndef NT_LAUNCH_PROGRAM_H
#define NT_LAUNCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Characters other than letters, digits, '.', '_' and '-' become '_'; of a long name the end is
 * kept. Returns out. */
char *nt_program_name(int count, char *const words[], char *out, size_t out_bytes);

#define NT_PROGRAM_NAME 48 /* in tickets and memories, with its NUL */

/* The characters of words in a memory: programs, hosts, drivers. */
#define NT_PLAIN_WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Is it a valid name? "" is not. */
bool nt_program_valid(const char *name, size_t size);

#endif

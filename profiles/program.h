/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the name of a step's program
 *
 * Programs make different calls, so their measurements are kept apart. The name is the last path
 * component of the first word that ends in .py or .sh, else the module after -m, else the last path
 * component of the first word: it does not depend on launchers and options around the program.
 *
 * Threads:  pure.
 * Memory:   the caller's.
 * Errors:   none; "" for no words.
 */
#ifndef NT_LAUNCH_PROGRAM_H
#define NT_LAUNCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Characters other than letters, digits, '.', '_' and '-' become '_'. Returns out. */
char *nt_program_name(int count, char *const words[], char *out, size_t out_bytes);

#define NT_PROGRAM_NAME 48 /* in tickets and memories, with its NUL */

/* The characters of words in a memory: programs, hosts, drivers. */
#define NT_PLAIN_WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Is it a valid name? "" is not. */
bool nt_program_valid(const char *name, size_t room);

#endif

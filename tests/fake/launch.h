/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - the set of launch variables in this process's environment
 *
 * A set is written "none" or NAME=VALUE+NAME=VALUE..., in any order. Only variables that were added
 * count: a set is in force if each of its variables has its value in the environment and none of
 * the other added ones is set.
 *
 * Threads:  any, while no thread changes the environment.
 * Memory:   the caller's storage.
 * Errors:   -1 and *err: an invalid set.
 */
#ifndef NT_FAKE_LAUNCH_H
#define NT_FAKE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "tests/fake/limits.h"

#define NT_LAUNCH_NAME 64

struct nt_launch_names {
	char name[NT_MAX_LAUNCH_NAMES][NT_LAUNCH_NAME];
	unsigned count;
};

/* Adds the variables of a set; "" is "none". */
int nt_launch_names_add(struct nt_launch_names *names, const char *set, struct nt_error *err);

bool nt_launch_in_force(const struct nt_launch_names *names, const char *set);

/* Do they have the same variables with the same values? */
bool nt_launch_same(const char *a, const char *b);

/* The set in force, in the order in which its variables were added; cut if it does not fit. */
void nt_launch_text(const struct nt_launch_names *names, char *out, size_t out_bytes);

#endif

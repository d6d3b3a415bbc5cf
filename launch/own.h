/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - which start-up variables a user, or a site, has set himself
 *
 * Out of an environment, and out of the files that NCCL reads in its tasks: $NCCL_CONF_FILE or
 * ~/.nccl.conf, and /etc/nccl.conf. Only variables that a profile could set, or that NCCL reads
 * together with one of these, are of interest. What a launch profile has set in the step around
 * this one is not the user's.
 *
 * Threads:  pure but for files.
 * Memory:   a value; nothing is allocated beyond a call. More than fit are counted, not kept.
 * Errors:   -1 and *err; a file that is not there sets nothing.
 */
#ifndef NT_LAUNCH_OWN_H
#define NT_LAUNCH_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"

#define NT_OWN_MAX 32
#define NT_OWN_NAME 40
#define NT_OWN_VALUE 64
#define NT_OWN_FILE_MAX 65536 /* bytes */
#define NT_OWN_SITE_FILE "/etc/nccl.conf"

struct nt_own_variable {
	char name[NT_OWN_NAME], value[NT_OWN_VALUE]; /* the value is cut */
	bool from_file;
};

struct nt_own {
	unsigned count;
	struct nt_own_variable variable[NT_OWN_MAX];
};

void nt_own_init(struct nt_own *own);
/* Adds what variables hold, but for what launched (NCCL_TUNE_LAUNCH's value; NULL: none) says that
 * a profile has set. An empty value counts as none, as it does in NCCL. */
void nt_own_environment(struct nt_own *own, char *const variables[], const char *launched);
/* Adds NAME=VALUE lines. flags: launch/file.h's. */
int nt_own_file(struct nt_own *own, const char *path, unsigned flags, struct nt_error *err);
/* The file of the user's that NCCL would read; "" if there can be none. */
void nt_own_user_file(char *out, size_t out_bytes);

bool nt_own_has(const struct nt_own *own, const char *name);
/* Equal where the same variables have the same values; 0 if there are none. */
uint32_t nt_own_hash(const struct nt_own *own);

/* Whether NCCL_TUNE_LAUNCH's text (NULL: none) says that a profile set the variable to this. */
bool nt_launched(const char *launched, const char *name, const char *value);

#endif

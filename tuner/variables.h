/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* variables.h - the variables of NCCL that a process has, and which of them it was started with
 *
 * A network plugin may set some in its init where they are not set, as aws-ofi-nccl does; NCCL sets
 * those of its own files, and a program its own. So the record tells what was in force, not only
 * what a launch profile has set. Those that name our plugins, and NCCL_DEBUG*, are left out.
 *
 * Threads:  pure functions; a text belongs to its caller.
 * Memory:   values. A value is cut at 64 characters; what does not fit is left out.
 * Errors:   none.
 */
#ifndef NT_VARIABLES_H
#define NT_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#define NT_VARIABLES_MAX 1024

struct nt_variables {
	char text[NT_VARIABLES_MAX]; /* "NCCL_A=1 NCCL_B=x" */
	bool cut; /* not all are there */
};

/* If word is NAME=VALUE of one of NCCL's */
void nt_variables_add(struct nt_variables *variables, const char *word);
/* Each of those of now goes into one text: outside if the process was started with it, or if not
 * all that it was started with are known; else inside. */
void nt_variables_split(const struct nt_variables *now, const struct nt_variables *started,
			char outside[NT_VARIABLES_MAX], char inside[NT_VARIABLES_MAX]);

#endif

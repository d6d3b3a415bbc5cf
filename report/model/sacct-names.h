/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct-names.h - the names of jobs and of their steps, from accounting
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   nt_sacct_names_fini frees all.
 * Errors:   none: names that cannot be asked are missing.
 * Host:     the command sacct.
 */
#ifndef NT_SACCT_NAMES_H
#define NT_SACCT_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "report/model/jobid.h"

struct nt_sacct_name {
	char label[NT_JOB_LABEL_MAX + NT_STEP_NAME_MAX]; /* "12_3", of a step "12_3.0" */
	char name[64]; /* of the job; of a step that of its program, as a rule */
};

struct nt_sacct_names {
	struct nt_sacct_name *items;
	size_t count;
};

/* Add the jobs in list, separated by commas, and their steps. */
void nt_sacct_names_load(struct nt_sacct_names *names, const char *list);
void nt_sacct_names_fini(struct nt_sacct_names *names);

/* step NULL: the job itself. NULL: accounting does not say. */
const struct nt_sacct_name *nt_sacct_names_find(const struct nt_sacct_names *names, const char *job,
						const char *step);

#endif

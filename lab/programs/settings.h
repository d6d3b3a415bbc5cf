/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the environment that Slurm gives a task
 *
 * Threads:  one.
 * Errors:   -1 and *err.
 */
#ifndef NT_PROGRAMS_SETTINGS_H
#define NT_PROGRAMS_SETTINGS_H

#include "lib/error.h"

struct nt_task_place {
	unsigned task, tasks, local, node, nodes;
};

/* policy: in option form; shm: the file of that node's memory; library: the plugin. */
int nt_settings_apply(const char *policy, const char *shm, const char *library,
		      const struct nt_task_place *task, struct nt_error *err);

#endif

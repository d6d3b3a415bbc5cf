/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the environment that Slurm gives a node's one task
 *
 * Threads:  one.
 * Errors:   -1 and *err.
 */
#ifndef NT_PROGRAMS_SETTINGS_H
#define NT_PROGRAMS_SETTINGS_H

#include "contract/error.h"

/* policy: in option form; dir: the step's on that node; library: the plugin. */
int nt_settings_apply(const char *policy, const char *dir, const char *library, unsigned node,
		      unsigned nodes, struct nt_error *err);

#endif

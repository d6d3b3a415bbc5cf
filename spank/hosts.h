/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - expand a Slurm host list, "n[1-3,07],gpu-[1-2]-[1-4]"
 *
 * Threads:  pure.
 * Memory:   heap while it runs.
 * Errors:   -1 and *err if it is not a list, or from take(); earlier names were taken.
 */
#ifndef NT_LAUNCH_HOSTS_H
#define NT_LAUNCH_HOSTS_H

#include "lib/error.h"

/* Gets each name; -1 ends the expansion. */
typedef int nt_host_take(void *context, const char *name);

/* Most names; more are an error. */
int nt_hosts_each(const char *list, unsigned most, nt_host_take *take, void *context,
		  struct nt_error *err);

#endif

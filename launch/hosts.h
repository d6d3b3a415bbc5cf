/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - the names in a list of hosts as Slurm writes it, "n[1-3,07],gpu-[1-2]-[1-4]"
 *
 * Threads:  pure.
 * Memory:   heap while it runs.
 * Errors:   -1 and *err for what is no list, or when take() says so; names before it were taken.
 */
#ifndef NT_LAUNCH_HOSTS_H
#define NT_LAUNCH_HOSTS_H

#include "contract/error.h"

/* Gets each name; -1 ends it all. */
typedef int nt_host_take(void *context, const char *name);

/* At most so many names; more are an error. */
int nt_hosts_each(const char *list, unsigned most, nt_host_take *take, void *context,
		  struct nt_error *err);

#endif

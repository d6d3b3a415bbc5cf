/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - the names in a Slurm host list, "n[1-3,07],gpu-[1-2]-[1-4]"
 *
 * Threads:  any.
 * Memory:   nt_hosts_free() frees the names.
 * Errors:   NULL and *err: Slurm does not take the list, it has more than most names, or there is
 *           no memory.
 * Host:     libslurm, without slurm_init().
 */
#ifndef NT_HOSTS_H
#define NT_HOSTS_H

#include "lib/error.h"

/* The last one is NULL. */
char **nt_hosts_names(const char *list, unsigned most, struct nt_error *err);
void nt_hosts_free(char **names); /* NULL: none */

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* node-shm.h - a node's memory, a file: what is agreed in it, and the rank records
 *
 * Threads:  one.
 * Errors:   NULL, or no record.
 */
#ifndef NT_PROGRAMS_NODE_SHM_H
#define NT_PROGRAMS_NODE_SHM_H

#include <stddef.h>

struct nt_shm;

/* Mapped until the program ends. */
const struct nt_shm *nt_node_shm_open(const char *path);
void nt_node_shm_records(const char *path,
			 void (*visit)(void *argument, const char *text, size_t bytes),
			 void *argument);

#endif

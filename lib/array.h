/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - an array that grows by doubling
 *
 * Threads:  one array, one thread.
 * Memory:   the caller frees the array, which is NULL while empty.
 * Errors:   NULL or false: max items, or no memory; nothing has changed.
 */
#ifndef NT_ARRAY_H
#define NT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Adds an item, all zero, and counts it in *count. items: the address of the array. */
void *nt_array_add(void *items, size_t *count, size_t max, size_t item_bytes);

/* Ensures room for bytes in all; *size is what there is. data: the address of the buffer. */
bool nt_array_reserve(void *data, size_t *size, size_t bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - an array that grows item by item, by doubling
 *
 * Threads:  one array, one thread.
 * Memory:   the array is the caller's to free; NULL while it is empty.
 * Errors:   NULL: it has max items, or there is no memory; nothing has changed then.
 */
#ifndef NT_ARRAY_H
#define NT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* One more item, all zero, at the end; counted in *count. items: the address of the array. */
void *nt_array_add(void *items, size_t *count, size_t max, size_t item_bytes);

/* Room for so many bytes in all, of which *room is what there is already. data: the address of the
 * buffer. false: there is no memory. */
bool nt_array_room(void *data, size_t *room, size_t bytes);

#endif

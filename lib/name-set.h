/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* name-set.h - a bounded set of names, numbered from 0 in order of addition
 *
 * Threads:  one at a time for one set.
 * Memory:   grows with the names, up to max; nt_names_fini frees all.
 * Errors:   -1: not found, full, or no memory.
 */
#ifndef NT_REPORT_NAMES_H
#define NT_REPORT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NT_NAME_BYTES 160 /* longer ones are cut */

struct nt_names {
	char (*name)[NT_NAME_BYTES];
	uint32_t *slot; /* number + 1 by hash; 0: none */
	size_t count, slots, max;
};

void nt_names_init(struct nt_names *names, size_t max);
void nt_names_fini(struct nt_names *names);
int nt_names_find(const struct nt_names *names, const char *name);
int nt_names_add(struct nt_names *names, const char *name); /* or find it */

/* The same, and each name has an item in an array of the caller's, at first all zero. items: the
 * address of the array. */
int nt_names_item(struct nt_names *names, const char *name, void *items, size_t item_bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* round-robin.h - the order in which files of many users are processed
 *
 * Some files of each user in turn: a user with a thousand files delays others by a portion only.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_round_robin_order allocates for the length of its call.
 * Errors:   -1: no memory; the order is then unspecified.
 */
#ifndef NT_ROUND_ROBIN_H
#define NT_ROUND_ROBIN_H

#include <stddef.h>
#include <stdint.h>

struct nt_round_robin {
	uint32_t uid;
	void *item; /* not looked at */
};

/* The items of a user stay in their order, `portion` of them together; it begins with the user who
 * has item `first`. */
int nt_round_robin_order(struct nt_round_robin *items, size_t count, size_t portion, size_t first);

#endif

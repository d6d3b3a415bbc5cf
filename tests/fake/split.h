/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - how an application splits the job's ranks into communicators
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_FAKE_SPLIT_H
#define NT_FAKE_SPLIT_H

#include <stdint.h>
#include "lib/error.h"
#include "tests/fake/limits.h"

enum nt_split_kind {
	NT_SPLIT_WORLD,
	NT_SPLIT_NODE, /* ranks of one node */
	NT_SPLIT_BLOCK, /* size ranks side by side, from rank `from` on */
	NT_SPLIT_REVERSE, /* the same with the highest rank first */
	NT_SPLIT_ROLL, /* the same, shifted by one rank in each generation */
	NT_SPLIT_STRIDE, /* every size-th rank */
	NT_SPLIT_STAGES, /* size ranks as far apart as possible */
	NT_SPLIT_COLORS, /* a letter for each rank, repeated; '-': not in a communicator */
};

struct nt_split {
	enum nt_split_kind kind;
	unsigned size, from;
	char name[32]; /* as it was given */
};

/* "world", "node", "tp:K", "block:K@FROM", "rev:K", "roll:K", "dp:K", "pp:K", "split:COLORS". */
int nt_split_parse(struct nt_split *s, const char *text, struct nt_error *err);

/* The node name of a rank. */
typedef const char *(*nt_split_node)(const void *arg, unsigned rank);

/* The members of rank's communicator in order; returns their number, 0: it is in none. color:
 * different for each communicator of this split. */
unsigned nt_split_members(const struct nt_split *s, unsigned ranks, unsigned rank,
			  unsigned generation, nt_split_node node, const void *arg,
			  unsigned *member, uint64_t *color);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* parallelism.h - guess the kind of parallelism of a communicator, from its name, shape and calls
 *
 * Must be shown as a guess.
 *
 * Threads:  pure functions.
 */
#ifndef NT_PARALLELISM_H
#define NT_PARALLELISM_H

#include <stdint.h>
#include "contract/coll.h"

/* clang-format off */
#define NT_PARALLELS(X) \
	X(UNKNOWN, "") \
	X(TENSOR, "tensor") /* inside a node, many calls in each step of the program */ \
	X(DATA, "data") /* across nodes, its buckets once a step */ \
	X(PIPELINE, "pipeline") /* send and receive only */ \
	X(EXPERT, "expert") /* all to all */ \
	X(WORLD, "world") /* all ranks; a few calls */
/* clang-format on */

#define NT_PARALLEL_ID(id, name) NT_PARALLEL_##id,
enum nt_parallel { NT_PARALLELS(NT_PARALLEL_ID) NT_PARALLEL_COUNT };
#undef NT_PARALLEL_ID

/* What is known of a family of communicators. */
struct nt_parallelism {
	const char *name; /* the framework's; "" */
	uint32_t ranks, nodes;
	uint32_t step_ranks; /* of the step; 0 unknown */
	int64_t steps; /* of the program; -1 unknown */
	int64_t calls; /* of collectives, of a rank */
	double bytes; /* of them together */
	int64_t p2p; /* sends and receives */
	int64_t alltoall;
};

enum nt_parallel nt_parallelism_parallel(const struct nt_parallelism *known);

/* "tensor"; "" if unknown. */
const char *nt_parallel_name(int parallel);

#endif

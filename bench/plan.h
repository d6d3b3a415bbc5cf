/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the calls to make in a communicator that is restricted to an arm
 *
 * A file with one call a line, COLLECTIVE BYTES ARM, as in "AllReduce 262144 TREE/SIMPLE"; without
 * a file, all calls for which NCCL has the arm's algorithm.
 *
 * Threads:  one.
 * Memory:   read and free are a pair.
 * Errors:   -1 and *err: the file, the line and the reason.
 */
#ifndef NT_BENCH_PLAN_H
#define NT_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include "bench/options.h"

struct nt_plan_line {
	int coll;
	size_t bytes;
	char arm[NT_BENCH_ARM_NAME];
};

struct nt_bench_plan {
	struct nt_plan_line *line; /* NULL: no file */
	size_t lines;
};

int nt_plan_read(struct nt_bench_plan *plan, const char *path, struct nt_error *err);
void nt_plan_free(struct nt_bench_plan *plan);

/* Is coll of this size called in a communicator that is restricted to the arm? */
bool nt_plan_has(const struct nt_bench_plan *plan, int coll, size_t bytes,
		 const struct nt_bench_arm *arm);

#endif

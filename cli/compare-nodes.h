/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-nodes.h - a step that times pairs of GPUs, and what it says of nodes
 *
 * Threads:  single-threaded programs only (run-step.h).
 * Memory:   the caller has the reference of what is returned.
 * Errors:   NULL or -1 and *err.
 * Units:    seconds.
 */
#ifndef NT_COMPARE_NODES_H
#define NT_COMPARE_NODES_H

#include <json.h>
#include <signal.h>
#include "cli/allocation.h"
#include "lib/error.h"

struct nt_node_comparison {
	const struct nt_allocation *allocation;
	const char *directory; /* the user's memory, where ranks meet */
	const char *mpi, *nodelist; /* as in calibrate-run.h */
	bool overlap, quiet;
	double time_s;
	const volatile sig_atomic_t *stop;
};

/* What was found (report/summary/compared-nodes.h). If the step was ended, what it had found by
 * then. */
json_object *nt_compare_nodes(const struct nt_node_comparison *comparison, struct nt_error *err);

/* As one line, in place of the file. */
int nt_compare_nodes_keep(json_object *compared, const char *path, struct nt_error *err);

#endif

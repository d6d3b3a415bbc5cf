/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-nodes.h - run a step that times pairs of GPUs, to find slow nodes
 *
 * Threads:  single-threaded programs only (run-step.h).
 * Memory:   the caller releases what is returned (json_object_put).
 * Errors:   NULL or -1 and *err.
 * Units:    seconds.
 */
#ifndef NT_COMPARE_NODES_H
#define NT_COMPARE_NODES_H

#include <json.h>
#include "cli/calibrate-run.h"

/* The result (report/summary/compared-nodes.h) within that time, on the nodes of run, which need
 * not have started. If the step was ended, its results so far. */
json_object *nt_compare_nodes(const struct nt_calrun *run, double time_s, struct nt_error *err);

/* Replaces the file at path by one line with the result. */
int nt_compare_nodes_keep(json_object *compared, const char *path, struct nt_error *err);

#endif

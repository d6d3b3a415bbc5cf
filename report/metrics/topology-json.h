/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology-json.h - what NCCL found on the nodes of a step, as JSON
 *
 * Threads, Memory, Errors: as lib/json.h.
 */
#ifndef NT_TOPOLOGY_JSON_H
#define NT_TOPOLOGY_JSON_H

#include "lib/json.h"
#include "record/job-summary.h"

/* The step's member "topology"; none if NCCL has told nothing. */
void nt_topology_json(json_object *object, const struct nt_summary *summary, size_t step, int *rc);

#endif

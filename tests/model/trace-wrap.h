/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-wrap.h - entries of logs as events of a trace, caught where files of pmix-sync call each
 *                other
 *
 * Linked with TRACE_WRAPPED functions wrapped (ld's --wrap), so that nothing of it is in the
 * product.
 *
 * Threads:  that of the node leader.
 */
#ifndef NT_MODEL_TRACE_WRAP_H
#define NT_MODEL_TRACE_WRAP_H

#include "pmix-sync/agree-state.h"
#include "tests/model/trace.h"

/* Of who links it: takes an event; says which node this is. */
void trace_give(const struct trace_event *event);
uint32_t trace_node_of(const struct nt_shm *shm);

/* Entries that are about to be in the node's log. */
void trace_append(uint32_t node, const uint8_t *bytes, size_t count);

#endif

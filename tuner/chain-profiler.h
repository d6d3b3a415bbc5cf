/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-profiler.h - a chained profiler's events and handles (tuner/chain.h)
 *
 * Threads:  those of the entry points (tuner/abi.h). descr and args are of version `api`.
 */
#ifndef NT_CHAIN_PROFILER_H
#define NT_CHAIN_PROFILER_H

#include "tuner/chain.h"
#include "tuner/handle.h"
#include "tuner/open.h"

/* NCCL's context. NULL: neither we nor a chained plugin have one, or there was no memory. */
struct nt_ctx *nt_chain_profiler_open(struct nt_comm *comm, int *mask,
				      const struct nt_comm_identity *who, nt_nccl_log log);
void nt_chain_profiler_close(struct nt_ctx *ctx); /* NULL is fine */

union nt_chain_descr {
	struct nt_prof_descr_v4 v4;
	struct nt_prof_descr_v5 v5; /* and v6 */
	struct nt_prof_descr_v7 v7;
};

/* Converts an event descriptor from version `to` + 1 to `to`, one version at a time, as NCCL does
 * it (src/plugin/profiler/). False: that version has no such event. */
bool nt_chain_lower(int to, const union nt_chain_descr *from, union nt_chain_descr *out);

/* Does the mask bring events of this type? */
bool nt_chain_brings(uint32_t mask, uint64_t type);
void *nt_chain_start(const struct nt_ctx *ctx, void *descr, int api, void *ours);
/* theirs: of nt_handle_theirs(); NULL is fine. */
void nt_chain_stop(void *theirs);
void nt_chain_state(void *theirs, int state, union nt_prof_args_v4 *args);

/* The handle that NCCL gets, where `ours` is our side's. descr's parents are NCCL's handles. */
static inline void *nt_chain_event(const struct nt_ctx *ctx, void *descr, int api, void *ours)
{
	return ctx && nt_ctx_told(ctx) ? nt_chain_start(ctx, descr, api, ours)
				       : nt_handle_of_ours(ours);
}

#endif

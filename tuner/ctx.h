/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.h - the context that NCCL holds per communicator: ours, and that of a chained plugin
 *
 * Threads:  set by an init and then constant, except `told`, which any thread may read.
 * Memory:   never freed: late events come after everything else. If nothing is chained it is part
 *           of the communicator, and both halves share it.
 */
#ifndef NT_CTX_H
#define NT_CTX_H

#include <stdatomic.h>
#include <stdbool.h>

struct nt_comm;

struct nt_ctx {
	struct nt_comm *ours; /* NULL: none */
	void *theirs; /* as the chained plugin's init set it; may be NULL */
	/* The chained plugin's init succeeded and it was not finalized yet. */
	_Atomic bool told;
	bool direct; /* the chained plugin owns NCCL's event mask */
};

static inline bool nt_ctx_told(const struct nt_ctx *ctx)
{
	/* Set before NCCL has the context; cleared when NCCL makes no more calls with it. */
	return __builtin_expect(atomic_load_explicit(&ctx->told, memory_order_relaxed), 0);
}

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.h - NCCL's context of a communicator: ours, and a chained plugin's
 *
 * Threads:  an init sets it; then it is constant, except `told`, which any thread may read.
 * Memory:   never freed, since events may come after everything else. Where nothing is chained it
 *           is part of the communicator, and both halves share it.
 */
#ifndef NT_CTX_H
#define NT_CTX_H

#include <stdatomic.h>
#include <stdbool.h>

struct nt_comm;

struct nt_ctx {
	struct nt_comm *ours; /* NULL: none */
	void *theirs; /* what the chained plugin's init set; may be NULL */
	/* The chained plugin's init succeeded, and it is not finalized yet. */
	_Atomic bool told;
	bool direct; /* NCCL's event mask is the chained plugin's own */
};

static inline bool nt_ctx_told(const struct nt_ctx *ctx)
{
	/* Set before NCCL has the context; cleared when it makes no more calls with it. */
	return __builtin_expect(atomic_load_explicit(&ctx->told, memory_order_relaxed), 0);
}

#endif

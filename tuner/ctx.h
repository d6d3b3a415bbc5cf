/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.h - what NCCL holds for one of its communicators, and hands back with every call: ours, and
 * that of a plugin chained behind ours
 *
 * Threads:  fixed by an init, but `told`, which any thread may read.
 * Memory:   never given back: late events come after everything else. With nothing chained it is
 *           part of the communicator, and both halves have the same one.
 */
#ifndef NT_CTX_H
#define NT_CTX_H

#include <stdatomic.h>
#include <stdbool.h>

struct nt_comm;

struct nt_ctx {
	struct nt_comm *ours; /* NULL: none */
	void *theirs; /* as their init left it, NULL included */
	/* The chained plugin has to be told: its init succeeded, and there was no finalize yet. */
	_Atomic bool told;
	bool direct; /* NCCL's event mask is theirs alone */
};

static inline bool nt_ctx_told(const struct nt_ctx *ctx)
{
	/* Set before NCCL has the context; cleared where NCCL makes no calls with it any more. */
	return __builtin_expect(atomic_load_explicit(&ctx->told, memory_order_relaxed), 0);
}

#endif

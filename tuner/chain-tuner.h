/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-tuner.h - a chained tuner decides first; what it leaves in the table is the baseline
 *
 * Threads:  those of the entry points (tuner/abi.h).
 */
#ifndef NT_CHAIN_TUNER_H
#define NT_CHAIN_TUNER_H

#include "tuner/chain.h"
#include "tuner/open.h"

struct nt_chain_tuner_init {
	struct nt_comm_identity who;
	nt_nccl_log log;
	struct nt_tuner_nvl_v5 *nvl; /* NULL up to v4 */
	struct nt_tuner_constants_v5 *constants; /* of v5 and v6, else NULL */
	struct nt_tuner_constants_v7 *constants_v7; /* of v7, else NULL */
};

struct nt_ctx *nt_chain_tuner_open(struct nt_comm *comm, const struct nt_chain_tuner_init *init);
void nt_chain_tuner_close(struct nt_ctx *ctx); /* NULL is fine, as in the others */
/* The chained tuner's decision, then ours on top. comm NULL: only theirs. */
int nt_chain_decide(const struct nt_ctx *ctx, struct nt_comm *comm, const struct nt_call *call,
		    int pipe_ops);
/* NCCL 2.21 has no table: only the chained tuner decides. */
struct nt_chain_v2 {
	int coll;
	size_t bytes;
	int collnet, nvls, pipe_ops;
	int *algo, *proto, *channels;
};

void nt_chain_decide_v2(const struct nt_ctx *ctx, const struct nt_chain_v2 *call);
bool nt_chain_has_chunks(void);
void nt_chain_chunk(const struct nt_ctx *ctx, const struct nt_call *call, int algo, int proto,
		    int channels, size_t *chunk_bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* abi_v7.h - the part of abi.h for version 7 of tuner and profiler; abi.h includes it */
#ifndef NT_ABI_V7_H
#define NT_ABI_V7_H

#ifndef NT_ABI_H
#error "include tuner/abi.h"
#endif

/* v7: has one more row of compute capabilities, after the four (tuner/tuner_v7.h:20@2449986f) */
struct nt_tuner_constants_v7 {
	double base_latency[7][3];
	double hw_latency[3][7][3];
	double ll_max_bw[5][3];
	double ring_ll128_max_bw[5][3];
	double tree_ll128_max_bw[5][3];
	double tree_max_bw[5][3];
	double nvls_tree_max_bw[5][3];
};

/* v7: 2.32.6 (tuner/tuner_v7.h:56@2449986f). As v6, with other constants. From 2.31 on, in every
 * interface version: pipe_ops is at least 1 where NCCL asks for a call. With pipe_ops 0 it asks
 * about symmetric kernels and copy engines: once with a table of -1 alone, and again, with the
 * others' costs, where it may take one of those (src/scheduler/symmetric_sched.cc, src/ce_coll.cc,
 * src/tuning/tuning.cc@88980683). Of equal costs the last one wins, and a negative cost of a legal
 * pair counts as the lowest (ibid., ncclTuningSelectBestTuning). *channels can only lower NCCL's
 * number. */
struct nt_tuner_v7 {
	const char *name;
	int (*init)(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		    struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost,
			     int algos, int protos, int registered, int *channels);
	int (*finalize)(void *ctx);
	int (*get_chunk_size)(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
			      size_t *chunk_bytes);
};

/* v7: 2.31.2 (profiler/profiler_v7.h:14@88980683). As v6, but calls, tasks and copies end with the
 * user's tag. A task of a symmetric kernel has the kernel for an algorithm ("AGxLL_R") and "" for a
 * protocol; it counts in seq like any other. */
struct nt_prof_descr_v7 {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct nt_prof_group_api group_api;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool graph_captured;
			uint64_t tag;
		} coll_api;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			void *stream;
			bool graph_captured;
			uint64_t tag;
		} p2p_api;
		struct nt_prof_kernel_launch kernel_launch;
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels;
			uint8_t warps;
			const char *algo;
			const char *proto;
			void *group;
			const char *kernel; /* a symmetric kernel's name; else NULL */
			bool symmetric;
			uint64_t tag;
		} coll;
		struct {
			const char *func;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
			uint64_t tag;
		} p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
		struct nt_prof_kernel_ch kernel_ch;
		struct nt_prof_net_plugin net_plugin;
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			const char *sync_strategy;
			bool intra_batch_sync;
			uint32_t batch_ops;
			uint32_t batches;
			uint32_t ce_seq;
			void *stream;
			uint64_t tag;
		} ce_coll;
		struct {
			bool complete;
			int ranks;
		} ce_sync;
		struct {
			int ops;
			size_t bytes;
			bool intra_sync;
		} ce_batch;
		struct {
			uint8_t channel;
			uint8_t phase;
			const char *name;
			uint64_t start_ns;
		} kernel_phase;
	};
};

struct nt_prof_v7 { /* 2.31.2 (profiler/profiler_v7.h:142@88980683) */
	const char *name;
	int (*init)(void **ctx, uint64_t comm, int *mask, const char *comm_name, int nodes,
		    int ranks, int rank, nt_nccl_log log);
	int (*start)(void *ctx, void **event, struct nt_prof_descr_v7 *descr);
	int (*stop)(void *event);
	int (*state)(void *event, int state, union nt_prof_args_v4 *args);
	int (*finalize)(void *ctx);
};

NT_ABI_SIZE(struct nt_tuner_v7, 40);
NT_ABI_AT(struct nt_tuner_v7, get_chunk_size, 32);
NT_ABI_SIZE(struct nt_tuner_constants_v7, 1272);
NT_ABI_AT(struct nt_tuner_constants_v7, ll_max_bw, 672);
NT_ABI_AT(struct nt_tuner_constants_v7, nvls_tree_max_bw, 1152);
NT_ABI_SIZE(struct nt_prof_v7, 48);
NT_ABI_SIZE(struct nt_prof_descr_v7, 136);
NT_ABI_AT(struct nt_prof_descr_v7, coll_api.graph_captured, 64);
NT_ABI_AT(struct nt_prof_descr_v7, coll.seq, 24);
NT_ABI_AT(struct nt_prof_descr_v7, coll.proto, 96);
NT_ABI_AT(struct nt_prof_descr_v7, coll.group, 104);
NT_ABI_AT(struct nt_prof_descr_v7, coll.symmetric, 120);
NT_ABI_AT(struct nt_prof_descr_v7, kernel_ch.start_ns, 32);
NT_ABI_AT(struct nt_prof_descr_v7, ce_coll.tag, 112);
NT_ABI_AT(struct nt_prof_descr_v7, kernel_phase.start_ns, 40);

#endif

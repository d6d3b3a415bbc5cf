/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* abi_old.h - the part of abi.h for chained profilers without GPU times (v1..v3); abi.h
 * includes it */
#ifndef NT_ABI_OLD_H
#define NT_ABI_OLD_H

#ifndef NT_ABI_H
#error "include tuner/abi.h"
#endif

/* Parts that several versions share */
struct nt_prof_proxy_op {
	pid_t pid;
	uint8_t channel;
	int peer;
	int steps;
	int chunk_bytes;
	int is_send;
};

struct nt_prof_proxy_step {
	int step;
};

struct nt_prof_net_plugin {
	int64_t id;
	void *data;
};

/* v1: 2.23.4 (src/include/nccl_profiler.h:20@v2.23.4-1; profiler/profiler_v1.h:11). Has numbers
 * where others have names. */
struct nt_prof_descr_v1 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm;
			uint64_t seq;
			uint8_t func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			uint8_t datatype;
			uint32_t op;
			size_t traffic_bytes;
			uint8_t channels;
			uint8_t warps;
			uint8_t algo;
			uint8_t proto;
			int is_collnet;
			int is_nvls;
		} coll;
		struct {
			const char *name;
			uint64_t comm;
			uint8_t func;
			void *buffer;
			uint8_t datatype;
			size_t count;
			int peer;
		} p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
	};
};

/* v2 and v3: a send or receive (profiler/profiler_v2.h:33) */
struct nt_prof_p2p_v2 {
	const char *name;
	uint64_t comm;
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
};

/* v2: 2.24.3 (src/include/nccl_profiler.h@v2.24.3-1; profiler/profiler_v2.h:11) */
struct nt_prof_descr_v2 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm;
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			size_t traffic_bytes;
			uint8_t channels;
			uint8_t warps;
			const char *algo;
			const char *proto;
		} coll;
		struct nt_prof_p2p_v2 p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
	};
};

/* v3: 2.26.2 (profiler/profiler_v3.h:11). KernelCh has no time. */
struct nt_prof_descr_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm;
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
		} coll;
		struct nt_prof_p2p_v2 p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
		struct {
			uint8_t channel;
		} kernel_ch;
		struct nt_prof_net_plugin net_plugin;
	};
};

/* Argument of recordEventState, v1..v3 (profiler/profiler_v1.h:61) */
union nt_prof_args_v1 {
	struct {
		size_t bytes;
		int steps;
	} proxy_op;
	struct {
		int appended;
	} proxy_ctrl;
};

struct nt_prof_v1 { /* 2.23.4 (profiler/profiler_v1.h:72) */
	const char *name;
	int (*init)(void **ctx, int *mask);
	int (*start)(void *ctx, void **event, struct nt_prof_descr_v1 *descr);
	int (*stop)(void *event);
	int (*state)(void *event, int state, union nt_prof_args_v1 *args);
	int (*finalize)(void *ctx);
};

struct nt_prof_v2 { /* 2.24.3 (profiler/profiler_v2.h:69) */
	const char *name;
	int (*init)(void **ctx, int *mask);
	int (*start)(void *ctx, void **event, struct nt_prof_descr_v2 *descr);
	int (*stop)(void *event);
	int (*state)(void *event, int state, union nt_prof_args_v1 *args);
	int (*finalize)(void *ctx);
};

struct nt_prof_v3 { /* 2.26.2 (profiler/profiler_v3.h:77) */
	const char *name;
	int (*init)(void **ctx, int *mask);
	int (*start)(void *ctx, void **event, struct nt_prof_descr_v3 *descr);
	int (*stop)(void *event);
	int (*state)(void *event, int state, union nt_prof_args_v1 *args);
	int (*finalize)(void *ctx);
};

NT_ABI_SIZE(struct nt_prof_v1, 48);
NT_ABI_SIZE(struct nt_prof_v2, 48);
NT_ABI_SIZE(struct nt_prof_v3, 48);
NT_ABI_SIZE(union nt_prof_args_v1, 16);
NT_ABI_SIZE(struct nt_prof_descr_v1, 120);
NT_ABI_SIZE(struct nt_prof_descr_v2, 128);
NT_ABI_SIZE(struct nt_prof_descr_v3, 120);
NT_ABI_AT(struct nt_prof_descr_v1, coll.func, 48);
NT_ABI_AT(struct nt_prof_descr_v1, coll.is_nvls, 112);
NT_ABI_AT(struct nt_prof_descr_v2, coll.algo, 112);
NT_ABI_AT(struct nt_prof_descr_v3, coll.channels, 96);
NT_ABI_AT(struct nt_prof_descr_v3, coll.proto, 112);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - NCCL's tuner (v2..v7) and profiler (v4..v7) plugin interfaces, in our own words
 *
 * A plugin exports tables named `ncclTunerPlugin_v<N>` and `ncclProfiler_v<N>`; NCCL takes the
 * newest one that both know. A layout never changes after the release that brought it (checked from
 * 2.21.5 to 2.30.7; v7 from the development after 2.31).
 *
 * Threads:  profiler init, then tuner init: one thread per communicator. get_coll_info: the thread
 *           that ends the group, one call of a communicator at a time. Events: that thread, or a
 *           CUDA callback thread for replayed graphs. KernelCh events: the proxy progress thread,
 *           from 2.31 on a thread of the profiler's own (src/plugin/profiler.cc@88980683).
 * Memory:   names in descriptors are NCCL's constants; comm_name is the user's: copy it.
 * Errors:   every function returns NT_NCCL_OK, whatever NCCL's headers promise: else init fails the
 *           communicator and get_coll_info the collective (init.cc:1355, enqueue.cc:1942
 *           @v2.28.9-1).
 * Units:    sizes in bytes, costs in microseconds, pTimer in nanoseconds of the GPU's clock.
 * Host:     64-bit Linux. References are to NCCL's src/include/plugin/ at v2.30.7-1 unless said;
 *           @2449986f and @88980683 are commits after 2.31, of which single files were read.
 */
#ifndef NT_ABI_H
#define NT_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a C++ compiler makes of NCCL's own headers on x86-64 and aarch64 */
#define NT_ABI_AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define NT_ABI_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

/* ncclResult_t (src/nccl.h.in:44) */
enum nt_nccl_result {
	NT_NCCL_OK = 0,
	NT_NCCL_CUDA_ERROR = 1,
	NT_NCCL_SYSTEM_ERROR = 2,
	NT_NCCL_INTERNAL_ERROR = 3,
	NT_NCCL_INVALID_ARGUMENT = 4,
	NT_NCCL_INVALID_USAGE = 5,
	NT_NCCL_REMOTE_ERROR = 6,
	NT_NCCL_IN_PROGRESS = 7,
};

/* ncclDebugLogLevel, ncclDebugLogSubSys (src/include/nccl_common.h:27, :36). PROFILE since 2.22. */
enum nt_nccl_level {
	NT_NCCL_LOG_NONE = 0,
	NT_NCCL_LOG_VERSION = 1,
	NT_NCCL_LOG_WARN = 2,
	NT_NCCL_LOG_INFO = 3,
	NT_NCCL_LOG_ABORT = 4,
	NT_NCCL_LOG_TRACE = 5,
};

#define NT_NCCL_SUB_INIT 0x1ul
#define NT_NCCL_SUB_COLL 0x2ul
#define NT_NCCL_SUB_GRAPH 0x20ul
#define NT_NCCL_SUB_TUNING 0x40ul
#define NT_NCCL_SUB_ENV 0x80ul
#define NT_NCCL_SUB_PROFILE 0x4000ul
#define NT_NCCL_SUB_ALL (~0ul)

/* ncclDebugLogger_t (src/include/nccl_common.h:58). NCCL filters by level and NCCL_DEBUG_SUBSYS. */
typedef void (*nt_nccl_log)(int level, unsigned long subsystems, const char *file, int line,
			    const char *format, ...);

/* Tuner. Numbers are those of contract/coll.h. cost is one block of algos * protos floats, not an
 * array of pointers: entry [a * protos + p]. An entry below 0 is not legal and must stay so; 0
 * forces it. *channels: 0 leaves NCCL's number, any other is taken as it is, into an 8-bit signed
 * field. */
#define NT_TUNER_ALGOS_OLD 6 /* rows of the table up to 2.22; 2.23 added PAT */

/* v2: 2.21.5 (src/include/nccl_tuner.h:13@v2.21.5-1; tuner/tuner_v2.h:13). No table: set *algo and
 * *proto, or neither. */
struct nt_tuner_v2 {
	const char *name;
	int (*init)(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
			     int *algo, int *proto, int *channels);
	int (*destroy)(void *ctx);
};

/* v3: 2.22.3 (src/include/nccl_tuner.h@v2.22.3-1; tuner/tuner_v3.h:13) */
struct nt_tuner_v3 {
	const char *name;
	int (*init)(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost,
			     int algos, int protos, int *channels);
	int (*destroy)(void *ctx);
};

/* v4: 2.24.3 (src/include/nccl_tuner.h@v2.24.3-1; tuner/tuner_v4.h:13). Ranks may differ in
 * registered. */
struct nt_tuner_v4 {
	const char *name;
	int (*init)(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost,
			     int algos, int protos, int registered, int *channels);
	int (*destroy)(void *ctx);
};

/* v5 to v7: NVLink domains (tuner/tuner_v5.h:13), and the ranks of the smallest and the largest */
struct nt_tuner_nvl_v5 {
	int domains;
	int min_ranks;
	int max_ranks;
};

/* v5 and v6: this communicator's constants of the cost model (tuner/tuner_v5.h:25). Edits have
 * effect up to 2.30; from 2.31 on they are overwritten (ncclTuningInit,
 * src/tuning/tuning.cc@88980683). */
struct nt_tuner_constants_v5 {
	double base_latency[7][3]; /* algorithm, protocol */
	double hw_latency[3][7][3]; /* NVLink, PCI, network */
	double ll_max_bw[4][3]; /* Volta Ampere Hopper Blackwell; 1, 2, 4+ nodes */
	double ring_ll128_max_bw[4][3]; /* per channel, as are the next ones */
	double tree_ll128_max_bw[4][3];
	double tree_max_bw[4][3];
	double nvls_tree_max_bw[4][3];
};

/* v5: 2.28.3 (tuner/tuner_v5.h:38). comm is the communicator's hash, which the profiler gets
 * too. */
struct nt_tuner_v5 {
	const char *name;
	int (*init)(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		    struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost,
			     int algos, int protos, int registered, int *channels);
	int (*finalize)(void *ctx);
};

/* v6: 2.30.3 (tuner/tuner_v6.h:19). get_chunk_size may be NULL. NCCL divides by the *chunk_bytes
 * that it gets back. */
struct nt_tuner_v6 {
	const char *name;
	int (*init)(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		    struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants);
	int (*get_coll_info)(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost,
			     int algos, int protos, int registered, int *channels);
	int (*finalize)(void *ctx);
	int (*get_chunk_size)(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
			      size_t *chunk_bytes);
};

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

/* Profiler: bits of the event mask (nccl_profiler.h:11), later ones with their first version */
#define NT_PROF_GROUP 0x1u
#define NT_PROF_COLL 0x2u
#define NT_PROF_P2P 0x4u
#define NT_PROF_PROXY_OP 0x8u
#define NT_PROF_PROXY_STEP 0x10u
#define NT_PROF_PROXY_CTRL 0x20u
#define NT_PROF_KERNEL_CH 0x40u
#define NT_PROF_NET_PLUGIN 0x80u
#define NT_PROF_GROUP_API 0x100u /* v5 */
#define NT_PROF_COLL_API 0x200u /* v5 */
#define NT_PROF_P2P_API 0x400u /* v5 */
#define NT_PROF_KERNEL_LAUNCH 0x800u /* v5 */
#define NT_PROF_CE_COLL 0x1000u /* v6 */
#define NT_PROF_CE_SYNC 0x2000u /* v6 */
#define NT_PROF_CE_BATCH 0x4000u /* v6 */
#define NT_PROF_KERNEL_PHASE 0x8000u /* v7; brings KernelCh with it */

/* The states of recordEventState that are used here (nccl_profiler.h:30) */
enum nt_prof_state {
	NT_PROF_STATE_CTRL_IDLE = 13,
	NT_PROF_STATE_CTRL_ACTIVE = 14,
	NT_PROF_STATE_OP_IN_PROGRESS = 19,
	NT_PROF_STATE_NET_UPDATE = 21,
	NT_PROF_STATE_KERNEL_CH_STOP = 22,
	NT_PROF_STATE_GROUP_START_DONE = 23, /* v5 */
	NT_PROF_STATE_GROUP_END_START = 24, /* v5: just before the group's decisions */
	NT_PROF_STATE_KERNEL_PHASE_STOP = 31, /* v7; has the argument of KERNEL_CH_STOP */
};

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

/* v4 to v7. The stop stamp comes with a state. */
struct nt_prof_kernel_ch {
	uint8_t channel;
	uint64_t start_ns;
};

/* What later versions' members begin with. seq counts a communicator's calls of this function;
 * count is in units of datatype, for AllGather and Broadcast in bytes (ncclInt8). */
#define NT_PROF_COLL_MEMBERS  \
	uint64_t seq;         \
	const char *func;     \
	const void *send;     \
	void *recv;           \
	size_t count;         \
	int root;             \
	const char *datatype; \
	uint8_t channels;     \
	uint8_t warps;        \
	const char *algo;     \
	const char *proto;

#define NT_PROF_P2P_MEMBERS   \
	const char *func;     \
	void *buffer;         \
	const char *datatype; \
	size_t count;         \
	int peer;             \
	uint8_t channels;

/* Of the API events, count is as the caller gave it. */
#define NT_PROF_COLL_API_MEMBERS \
	const char *func;        \
	size_t count;            \
	const char *datatype;    \
	int root;                \
	void *stream;            \
	bool graph_captured;

#define NT_PROF_P2P_API_MEMBERS \
	const char *func;       \
	size_t count;           \
	const char *datatype;   \
	void *stream;           \
	bool graph_captured;

/* v4: 2.27.3 (profiler/profiler_v4.h:11). A Coll's parent is the Group event. */
struct nt_prof_descr_v4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			NT_PROF_COLL_MEMBERS
		} coll;
		struct {
			NT_PROF_P2P_MEMBERS
		} p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
		struct nt_prof_kernel_ch kernel_ch;
		struct nt_prof_net_plugin net_plugin;
	};
};

/* What v7's begin with (profiler/profiler_v5.h:15) */
struct nt_prof_group_api {
	bool graph_captured;
	int depth;
};

struct nt_prof_kernel_launch {
	void *stream;
};

/* The Group event; the parent is the CollApi or P2pApi event. */
struct nt_prof_coll_v5 {
	NT_PROF_COLL_MEMBERS
	void *group;
};

struct nt_prof_p2p_v5 {
	NT_PROF_P2P_MEMBERS
	void *group;
};

/* v5: 2.28.3 (profiler/profiler_v5.h:11). Its type is wider. v6 (2.29.2, profiler/profiler_v6.h:14)
 * has events of copy engines, too, whose members nobody here reads, and the same size. */
struct nt_prof_descr_v5 {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct nt_prof_group_api group_api;
		struct {
			NT_PROF_COLL_API_MEMBERS
		} coll_api;
		struct {
			NT_PROF_P2P_API_MEMBERS
		} p2p_api;
		struct nt_prof_kernel_launch kernel_launch;
		struct nt_prof_coll_v5 coll;
		struct nt_prof_p2p_v5 p2p;
		struct nt_prof_proxy_op proxy_op;
		struct nt_prof_proxy_step proxy_step;
		struct nt_prof_kernel_ch kernel_ch;
		struct nt_prof_net_plugin net_plugin;
	};
};

/* Argument of recordEventState, v4..v7 (profiler/profiler_v4.h:64) */
union nt_prof_args_v4 {
	struct {
		size_t bytes;
	} proxy_step;
	struct {
		int appended;
	} proxy_ctrl;
	struct {
		void *data;
	} net_plugin;
	struct {
		uint64_t stop_ns;
	} kernel_ch;
};

/* *mask is one int for all communicators of the process. NCCL reads it whenever it appends a task,
 * and it may change at any time (profiler.cc:218@v2.28.9-1). From 2.31 on NCCL's RAS service may
 * overwrite it at any moment, and again after every init (ncclProfilerSetRasOverride,
 * src/plugin/profiler.cc@88980683). start must always write *event: NCCL does not clear it. */
struct nt_prof_v4 { /* 2.27.3 (profiler/profiler_v4.h:82); init has another order */
	const char *name;
	int (*init)(void **ctx, int *mask, const char *comm_name, uint64_t comm, int nodes,
		    int ranks, int rank, nt_nccl_log log);
	int (*start)(void *ctx, void **event, struct nt_prof_descr_v4 *descr);
	int (*stop)(void *event);
	int (*state)(void *event, int state, union nt_prof_args_v4 *args);
	int (*finalize)(void *ctx);
};

/* v5: 2.28.3 (profiler/profiler_v5.h:110), v6: 2.29.2 (profiler/profiler_v6.h:128), v7: 2.31.2
 * (profiler/profiler_v7.h:142@88980683) */
#define NT_PROF_TABLE(version, descriptor)                                               \
	struct nt_prof_v##version {                                                      \
		const char *name;                                                        \
		int (*init)(void **ctx, uint64_t comm, int *mask, const char *comm_name, \
			    int nodes, int ranks, int rank, nt_nccl_log log);            \
		int (*start)(void *ctx, void **event, struct descriptor *descr);         \
		int (*stop)(void *event);                                                \
		int (*state)(void *event, int state, union nt_prof_args_v4 *args);       \
		int (*finalize)(void *ctx);                                              \
	}

NT_PROF_TABLE(5, nt_prof_descr_v5);
NT_PROF_TABLE(6, nt_prof_descr_v5);

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
			NT_PROF_COLL_API_MEMBERS
			uint64_t tag;
		} coll_api;
		struct {
			NT_PROF_P2P_API_MEMBERS
			uint64_t tag;
		} p2p_api;
		struct nt_prof_kernel_launch kernel_launch;
		struct {
			NT_PROF_COLL_MEMBERS
			void *group;
			const char *kernel; /* a symmetric kernel's name; else NULL */
			bool symmetric;
			uint64_t tag;
		} coll;
		struct {
			NT_PROF_P2P_MEMBERS
			void *group;
			uint64_t tag;
		} p2p;
		struct nt_prof_kernel_ch kernel_ch;
		/* and those that nobody here reads: of the network, copies, a kernel's phases */
	};
};

NT_PROF_TABLE(7, nt_prof_descr_v7);

NT_ABI_SIZE(void *, 8);
NT_ABI_SIZE(bool, 1);
NT_ABI_SIZE(pid_t, 4);
NT_ABI_SIZE(struct nt_tuner_v2, 32);
NT_ABI_SIZE(struct nt_tuner_v3, 32);
NT_ABI_SIZE(struct nt_tuner_v4, 32);
NT_ABI_SIZE(struct nt_tuner_v5, 32);
NT_ABI_SIZE(struct nt_tuner_v6, 40);
NT_ABI_AT(struct nt_tuner_v2, destroy, 24);
NT_ABI_AT(struct nt_tuner_v5, finalize, 24);
NT_ABI_AT(struct nt_tuner_v6, get_chunk_size, 32);
NT_ABI_SIZE(struct nt_tuner_nvl_v5, 12);
NT_ABI_SIZE(struct nt_tuner_constants_v5, 1152);
NT_ABI_AT(struct nt_tuner_constants_v5, hw_latency, 168);
NT_ABI_AT(struct nt_tuner_constants_v5, ll_max_bw, 672);
NT_ABI_AT(struct nt_tuner_constants_v5, nvls_tree_max_bw, 1056);
NT_ABI_SIZE(struct nt_tuner_v7, 40);
NT_ABI_AT(struct nt_tuner_v7, get_chunk_size, 32);
NT_ABI_SIZE(struct nt_tuner_constants_v7, 1272);
NT_ABI_AT(struct nt_tuner_constants_v7, ll_max_bw, 672);
NT_ABI_AT(struct nt_tuner_constants_v7, nvls_tree_max_bw, 1152);

NT_ABI_SIZE(struct nt_prof_v4, 48);
NT_ABI_SIZE(struct nt_prof_v5, 48);
NT_ABI_SIZE(struct nt_prof_v6, 48);
NT_ABI_SIZE(union nt_prof_args_v4, 8);

NT_ABI_SIZE(struct nt_prof_descr_v4, 104);
NT_ABI_SIZE(struct nt_prof_descr_v5, 112);
NT_ABI_AT(struct nt_prof_descr_v4, parent, 8);
NT_ABI_AT(struct nt_prof_descr_v4, rank, 16);
NT_ABI_AT(struct nt_prof_descr_v4, coll.count, 56);
NT_ABI_AT(struct nt_prof_descr_v4, coll.channels, 80);
NT_ABI_AT(struct nt_prof_descr_v4, coll.proto, 96);
NT_ABI_AT(struct nt_prof_descr_v4, kernel_ch.start_ns, 32);
NT_ABI_AT(struct nt_prof_descr_v5, parent, 8);
NT_ABI_AT(struct nt_prof_descr_v5, rank, 16);
NT_ABI_AT(struct nt_prof_descr_v5, coll.seq, 24);
NT_ABI_AT(struct nt_prof_descr_v5, coll.count, 56);
NT_ABI_AT(struct nt_prof_descr_v5, coll.channels, 80);
NT_ABI_AT(struct nt_prof_descr_v5, coll.proto, 96);
NT_ABI_AT(struct nt_prof_descr_v5, coll.group, 104);
NT_ABI_AT(struct nt_prof_descr_v5, coll_api.graph_captured, 64);
NT_ABI_AT(struct nt_prof_descr_v5, kernel_ch.start_ns, 32);
NT_ABI_SIZE(struct nt_prof_v7, 48);
NT_ABI_SIZE(struct nt_prof_descr_v7, 136);
NT_ABI_AT(struct nt_prof_descr_v7, coll_api.graph_captured, 64);
NT_ABI_AT(struct nt_prof_descr_v7, coll.seq, 24);
NT_ABI_AT(struct nt_prof_descr_v7, coll.proto, 96);
NT_ABI_AT(struct nt_prof_descr_v7, coll.group, 104);
NT_ABI_AT(struct nt_prof_descr_v7, coll.symmetric, 120);
NT_ABI_AT(struct nt_prof_descr_v7, kernel_ch.start_ns, 32);

#endif

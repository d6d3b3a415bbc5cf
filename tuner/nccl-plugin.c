/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-plugin.c - the entry points that NCCL looks up, for all versions of its two interfaces
 *
 * Each version is brought to one form and passed on. Every entry point returns success, whatever
 * fails behind it, except for a decision where going on alone would be unsafe (nt_comm_decide). A
 * forked child and a process without a policy get no context and mask 0.
 *
 * Plugins that NCCL would have loaded without us are chained (tuner/chain.h): a context is a struct
 * nt_ctx, a handle has tuner/handle.h's form.
 *
 * Tuner v1 (NCCL 2.19, 2.20) has no context per communicator and is not offered. v2 and v3, which
 * NCCL asks for up to 2.23, are there for the sake of a chained tuner. Profilers v1 to v3 (up to
 * 2.26) name no communicator and have no GPU times, and are not offered.
 */
#include <stddef.h>
#include "tuner/abi.h"
#include "tuner/decide.h"
#include "tuner/chain-profiler.h"
#include "tuner/chain-tuner.h"
#include "tuner/dumps.h"
#include "tuner/event.h"
#include "tuner/apply-plan.h"
#include "tuner/open.h"
#include "tuner/helper-thread.h"
#include "tuner/p2p-watch.h"

#define NAME "nccl-tune"

/* NULL: none, or not in this process. */
static struct nt_comm *ours_of(const struct nt_ctx *ctx)
{
	struct nt_comm *comm = ctx ? ctx->ours : NULL;

	return comm && !nt_process_inert(comm->fixed.process) ? comm : NULL;
}

static struct nt_process *start_process(nt_nccl_log log)
{
	struct nt_process *process = nt_process_start(log, &nt_helper_thread_work);

	return process && !nt_process_inert(process) ? process : NULL;
}

/* Tuner */

extern struct nt_tuner_v6 ncclTunerPlugin_v6;
extern struct nt_tuner_v7 ncclTunerPlugin_v7;

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int chunk_size(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
		      size_t *chunk_bytes)
{
	const struct nt_call call = { .coll = coll, .bytes = bytes };

	nt_chain_chunk(ctx, &call, algo, proto, channels, chunk_bytes);
	return NT_NCCL_OK;
}

/* NCCL must ask for chunk sizes only if a chained tuner has some. It reads the table each time,
 * first on this thread; 2.32 once, after this. */
static void offer_chunks(int api)
{
	if (!nt_chain_has_chunks())
		return;
	if (api == 6)
		__atomic_store_n(&ncclTunerPlugin_v6.get_chunk_size, chunk_size, __ATOMIC_RELAXED);
	if (api == 7)
		__atomic_store_n(&ncclTunerPlugin_v7.get_chunk_size, chunk_size, __ATOMIC_RELAXED);
}

static int open_tuner(void **ctx, const struct nt_chain_tuner_init *init)
{
	struct nt_process *process = start_process(init->log);

	*ctx = nt_chain_tuner_open(process ? nt_comm_open_tuner(process, &init->who) : NULL, init);
	offer_chunks(init->who.api);
	return NT_NCCL_OK;
}

#define TUNER_INIT_OLD(v)                                                                        \
	static int tuner_init_v##v(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)      \
	{                                                                                        \
		return open_tuner(                                                               \
			ctx,                                                                     \
			&(struct nt_chain_tuner_init){                                           \
				.who = { .rank = -1, .ranks = ranks, .nodes = nodes, .api = v }, \
				.log = log });                                                   \
	}

#define TUNER_INIT(v, type, member)                                                      \
	/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */                \
	static int tuner_init_v##v(void **ctx, uint64_t id, size_t ranks, size_t nodes,  \
				   nt_nccl_log log, struct nt_tuner_nvl_v5 *nvl,         \
				   struct type *constants)                               \
	{                                                                                \
		return open_tuner(ctx, &(struct nt_chain_tuner_init){                    \
					       .who = { id, NULL, -1, ranks, nodes, v }, \
					       .log = log,                               \
					       .nvl = nvl,                               \
					       .member = constants });                   \
	}

TUNER_INIT_OLD(2)
TUNER_INIT_OLD(3)
TUNER_INIT_OLD(4)
TUNER_INIT(5, nt_tuner_constants_v5, constants)
TUNER_INIT(6, nt_tuner_constants_v5, constants)
TUNER_INIT(7, nt_tuner_constants_v7, constants_v7)

static int tuner_finalize(void *ctx)
{
	struct nt_comm *comm = ours_of(ctx);

	nt_chain_tuner_close(ctx);
	nt_comm_close_tuner(comm);
	return NT_NCCL_OK;
}

/* v2 has no table: no pair is known to be legal, so nothing is forced. */
/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v2(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
		     int *algo, int *proto, int *channels)
{
	nt_chain_decide_v2(ctx, &(struct nt_chain_v2){ coll, bytes, collnet, nvls, pipe_ops, algo,
						       proto, channels });
	return NT_NCCL_OK;
}

/* Inline, because every collective pays for it. */
static inline int decide(const struct nt_ctx *ctx, const struct nt_call *call, int pipe_ops)
{
	struct nt_comm *comm = ours_of(ctx);

	/* The chained profiler's mask may change while no event comes. */
	nt_chain_sync();
	if (ctx && nt_ctx_told(ctx))
		return nt_chain_decide(ctx, comm, call, pipe_ops);
	/* pipe_ops 0 is no task: NCCL only asks (tuner/abi.h). */
	return comm && pipe_ops > 0 ? nt_comm_decide(comm, call) : NT_NCCL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int *channels)
{
	const struct nt_call call = { .coll = coll,
				      .bytes = bytes,
				      .cost = (float *)cost,
				      .algos = algos,
				      .protos = protos,
				      .channels = channels };

	return decide(ctx, &call, pipe_ops);
}

/* v4 to v7. The table is one block of floats, whatever its type says. */
/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v4(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int registered, int *channels)
{
	const struct nt_call call = { .coll = coll,
				      .bytes = bytes,
				      .cost = (float *)cost,
				      .algos = algos,
				      .protos = protos,
				      .registered = registered != 0,
				      .channels = channels };

	return decide(ctx, &call, pipe_ops);
}

#define TUNER(v, decide)                                                                     \
	extern const struct nt_tuner_v##v ncclTunerPlugin_v##v;                              \
	NT_EXPORT const struct nt_tuner_v##v ncclTunerPlugin_v##v = { NAME, tuner_init_v##v, \
								      decide, tuner_finalize };

TUNER(2, decide_v2)
TUNER(3, decide_v3)
TUNER(4, decide_v4)
TUNER(5, decide_v4)

NT_EXPORT struct nt_tuner_v6 ncclTunerPlugin_v6 = { NAME, tuner_init_v6, decide_v4, tuner_finalize,
						    NULL };
NT_EXPORT struct nt_tuner_v7 ncclTunerPlugin_v7 = { NAME, tuner_init_v7, decide_v4, tuner_finalize,
						    NULL };

/* Profiler */

static int open_profiler(void **ctx, int *mask, const struct nt_comm_identity *who, nt_nccl_log log)
{
	struct nt_process *process = start_process(log);
	struct nt_comm *comm = NULL;

	if (process) {
		nt_p2p_watch_begin(process, who->api);
		nt_mask_attach(&process->mask, mask);
		nt_dumps_leave(&process->policy, process->map.fd, who);
		comm = nt_comm_open_profiler(process, who);
	} else {
		__atomic_store_n(mask, 0, __ATOMIC_RELAXED);
	}
	*ctx = nt_chain_profiler_open(comm, mask, who, log);
	return NT_NCCL_OK;
}

static int profiler_finalize(void *ctx)
{
	struct nt_comm *comm = ours_of(ctx);

	nt_chain_profiler_close(ctx);
	nt_comm_close_profiler(comm);
	return NT_NCCL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int profiler_init_v4(void **ctx, int *mask, const char *name, uint64_t id, int nodes,
			    int ranks, int rank, nt_nccl_log log)
{
	const struct nt_comm_identity who = { id, name, rank, (size_t)ranks, (size_t)nodes, 4 };

	return open_profiler(ctx, mask, &who, log);
}

#define PROFILER_INIT(v)                                                                    \
	/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */                   \
	static int profiler_init_v##v(void **ctx, uint64_t id, int *mask, const char *name, \
				      int nodes, int ranks, int rank, nt_nccl_log log)      \
	{                                                                                   \
		const struct nt_comm_identity who = {                                       \
			id, name, rank, (size_t)ranks, (size_t)nodes, v                     \
		};                                                                          \
                                                                                            \
		return open_profiler(ctx, mask, &who, log);                                 \
	}

PROFILER_INIT(5)
PROFILER_INIT(6)
PROFILER_INIT(7)

/* In v4 to v7 the Coll part has the same members. A symmetric kernel shows only as an empty
 * protocol name, in v7 too (tuner/abi.h). */
#define COLL_EVENT(descr)                                                       \
	&(struct nt_coll_event)                                                 \
	{                                                                       \
		.func = (descr)->coll.func, .datatype = (descr)->coll.datatype, \
		.algo = (descr)->coll.algo, .proto = (descr)->coll.proto,       \
		.seq = (descr)->coll.seq, .count = (descr)->coll.count,         \
		.channels = (descr)->coll.channels,                             \
		.symmetric = (descr)->coll.proto && !*(descr)->coll.proto       \
	}

#define P2P_EVENT(from, is_captured)                                                     \
	&(struct nt_p2p_event)                                                           \
	{                                                                                \
		.func = (from).func, .datatype = (from).datatype, .count = (from).count, \
		.captured = (is_captured)                                                \
	}

/* Our handle of an event; NULL: none. */
static void *take_v4(struct nt_comm *comm, const struct nt_prof_descr_v4 *descr)
{
	switch (descr->type) {
	case NT_PROF_GROUP: return nt_event_group_v4(comm);
	case NT_PROF_COLL: return nt_event_coll(comm, COLL_EVENT(descr));
	case NT_PROF_P2P:
		nt_event_p2p_call(comm, P2P_EVENT(descr->p2p, false));
		return nt_event_p2p(comm);
	case NT_PROF_KERNEL_CH:
		return nt_event_kernel(comm, nt_handle_ours(descr->parent),
				       descr->kernel_ch.channel, descr->kernel_ch.start_ns);
	default: break;
	}
	return NULL;
}

/* Of every event that we ask for, a v6 or v7 descriptor begins as v5's. */
static void *take_v5(struct nt_comm *comm, const struct nt_prof_descr_v5 *descr)
{
	switch (descr->type) {
	case NT_PROF_COLL_API: nt_event_call(comm, descr->coll_api.graph_captured); break;
	case NT_PROF_GROUP_API: nt_event_group_call(comm, descr->group_api.graph_captured); break;
	case NT_PROF_P2P_API:
		nt_event_p2p_call(comm, P2P_EVENT(descr->p2p_api, descr->p2p_api.graph_captured));
		break;
	case NT_PROF_P2P: return nt_event_p2p(comm);
	case NT_PROF_KERNEL_LAUNCH: nt_event_launch(comm); break;
	case NT_PROF_GROUP: return nt_event_group(comm);
	case NT_PROF_COLL: return nt_event_coll(comm, COLL_EVENT(descr));
	case NT_PROF_KERNEL_CH:
		return nt_event_kernel(comm, nt_handle_ours(descr->parent),
				       descr->kernel_ch.channel, descr->kernel_ch.start_ns);
	default: break;
	}
	return NULL;
}

_Static_assert(offsetof(struct nt_prof_descr_v7, coll.group) ==
			       offsetof(struct nt_prof_descr_v5, coll.group) &&
		       offsetof(struct nt_prof_descr_v7, coll_api.graph_captured) ==
			       offsetof(struct nt_prof_descr_v5, coll_api.graph_captured),
	       "v7 only adds events, and members at the end");

#define START(v, descriptor, ours)                                               \
	static int start_v##v(void *ctx, void **event, struct descriptor *descr) \
	{                                                                        \
		struct nt_comm *comm = ours_of(ctx);                             \
                                                                                 \
		*event = nt_chain_event(ctx, descr, v, comm ? (ours) : NULL);    \
		return NT_NCCL_OK;                                               \
	}

START(4, nt_prof_descr_v4, take_v4(comm, descr))
START(5, nt_prof_descr_v5, take_v5(comm, descr))
START(6, nt_prof_descr_v5, take_v5(comm, descr))
START(7, nt_prof_descr_v7, take_v5(comm, (struct nt_prof_descr_v5 *)descr))

static int stop(void *event)
{
	void *ours = nt_handle_ours(event), *theirs = nt_handle_theirs(event);
	struct nt_process *process = ours ? nt_process_now() : NULL;

	if (theirs)
		nt_chain_stop(theirs);
	if (process && !nt_process_inert(process))
		nt_event_group_stop(process, ours);
	return NT_NCCL_OK;
}

/* Of the events with states only a measured call's first kernel has our handle. */
static int record_state(void *event, int state, union nt_prof_args_v4 *args)
{
	void *ours = nt_handle_ours(event);
	struct nt_process *process = ours ? nt_process_now() : NULL;

	if (process && state == NT_PROF_STATE_KERNEL_CH_STOP && args && !nt_process_inert(process))
		nt_event_kernel_end(process, ours, args->kernel_ch.stop_ns);
	nt_chain_state(nt_handle_theirs(event), state, args);
	return NT_NCCL_OK;
}

#define PROFILER(v)                                                                         \
	extern const struct nt_prof_v##v ncclProfiler_v##v;                                 \
	NT_EXPORT const struct nt_prof_v##v ncclProfiler_v##v = {                           \
		NAME, profiler_init_v##v, start_v##v, stop, record_state, profiler_finalize \
	};

PROFILER(4)
PROFILER(5)
PROFILER(6)
PROFILER(7)

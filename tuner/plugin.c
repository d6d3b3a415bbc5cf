/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - every entry point that NCCL looks up, for all versions of its two interfaces
 *
 * Thin: each version is brought to one form and handed on. Every entry point answers success,
 * whatever goes wrong behind it; the one exception is a decision that going on alone would make
 * unsafe (nt_comm_decide). A forked child and a process without a policy are left alone: no
 * context, mask 0.
 *
 * Tuner v1 (NCCL 2.19, 2.20) has no context for each communicator and is not offered.
 */
#include <stddef.h>
#include "tuner/abi.h"
#include "tuner/comm.h"

#define NAME "nccl-tune"

static bool is_alive(const struct nt_comm *comm)
{
	return comm && !nt_session_inert(comm->session);
}

static struct nt_session *session_of(nt_nccl_log log)
{
	struct nt_session *session = nt_session_start(log);

	return session && !nt_session_inert(session) ? session : NULL;
}

/* Tuner. */

static int open_tuner(void **ctx, const struct nt_comm_identity *who, nt_nccl_log log)
{
	struct nt_session *session = session_of(log);

	*ctx = session ? nt_comm_open_tuner(session, who) : NULL;
	return NT_NCCL_OK;
}

static int tuner_finalize(void *ctx)
{
	if (is_alive(ctx))
		nt_comm_close_tuner(ctx);
	return NT_NCCL_OK;
}

static int tuner_init_v2(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	return open_tuner(
		ctx,
		&(struct nt_comm_identity){ .rank = -1, .ranks = ranks, .nodes = nodes, .api = 2 },
		log);
}

static int tuner_init_v3(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	return open_tuner(
		ctx,
		&(struct nt_comm_identity){ .rank = -1, .ranks = ranks, .nodes = nodes, .api = 3 },
		log);
}

static int tuner_init_v4(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	return open_tuner(
		ctx,
		&(struct nt_comm_identity){ .rank = -1, .ranks = ranks, .nodes = nodes, .api = 4 },
		log);
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int tuner_init_v5(void **ctx, uint64_t id, size_t ranks, size_t nodes, nt_nccl_log log,
			 struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	const struct nt_comm_identity who = {
		.id = id, .rank = -1, .ranks = ranks, .nodes = nodes, .api = 5
	};

	(void)nvl;
	(void)constants;
	return open_tuner(ctx, &who, log);
}

extern struct nt_tuner_v6 ncclTunerPlugin_v6;

/* Of the table only where chunk sizes may be tried: NCCL must not ask for nothing. */
/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int chunk_size(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
		      size_t *chunk_bytes)
{
	(void)bytes, (void)channels;
	if (is_alive(ctx) && (unsigned)proto < NT_PROTOS)
		nt_comm_chunk(ctx, coll, algo * NT_PROTOS + proto, chunk_bytes);
	return NT_NCCL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int tuner_init_v6(void **ctx, uint64_t id, size_t ranks, size_t nodes, nt_nccl_log log,
			 struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	const struct nt_comm_identity who = {
		.id = id, .rank = -1, .ranks = ranks, .nodes = nodes, .api = 6
	};

	(void)nvl;
	(void)constants;
	open_tuner(ctx, &who, log);
	/* NCCL looks at the table each time, on this thread first. */
	if (*ctx && ((struct nt_comm *)*ctx)->chunks)
		__atomic_store_n(&ncclTunerPlugin_v6.get_chunk_size, chunk_size, __ATOMIC_RELAXED);
	return NT_NCCL_OK;
}

/* v2 shows no table: nothing can be forced that is known to be legal. */
/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v2(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
		     int *algo, int *proto, int *channels)
{
	(void)ctx, (void)coll, (void)bytes, (void)collnet, (void)nvls, (void)pipe_ops;
	(void)algo, (void)proto, (void)channels;
	return NT_NCCL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int *channels)
{
	const struct nt_call call = { coll, bytes, (float *)cost, algos, protos, false, channels };

	(void)pipe_ops;
	return is_alive(ctx) ? nt_comm_decide(ctx, &call) : NT_NCCL_OK;
}

/* v4 to v6. The table is one block of floats, whatever its type says. */
/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		  int protos, int registered, int *channels)
{
	const struct nt_call call = {
		coll, bytes, (float *)cost, algos, protos, registered != 0, channels
	};

	(void)pipe_ops;
	return is_alive(ctx) ? nt_comm_decide(ctx, &call) : NT_NCCL_OK;
}

extern const struct nt_tuner_v2 ncclTunerPlugin_v2;
extern const struct nt_tuner_v3 ncclTunerPlugin_v3;
extern const struct nt_tuner_v4 ncclTunerPlugin_v4;
extern const struct nt_tuner_v5 ncclTunerPlugin_v5;

NT_EXPORT const struct nt_tuner_v2 ncclTunerPlugin_v2 = { NAME, tuner_init_v2, decide_v2,
							  tuner_finalize };
NT_EXPORT const struct nt_tuner_v3 ncclTunerPlugin_v3 = { NAME, tuner_init_v3, decide_v3,
							  tuner_finalize };
NT_EXPORT const struct nt_tuner_v4 ncclTunerPlugin_v4 = { NAME, tuner_init_v4, decide,
							  tuner_finalize };
NT_EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { NAME, tuner_init_v5, decide,
							  tuner_finalize };
NT_EXPORT struct nt_tuner_v6 ncclTunerPlugin_v6 = { NAME, tuner_init_v6, decide,
							  tuner_finalize, NULL };

/* Profiler. */

static int open_profiler(void **ctx, int *mask, const struct nt_comm_identity *who, nt_nccl_log log)
{
	struct nt_session *session = session_of(log);

	*ctx = NULL;
	if (!session) {
		__atomic_store_n(mask, 0, __ATOMIC_RELAXED);
		return NT_NCCL_OK;
	}
	nt_mask_attach(&session->mask, mask);
	*ctx = nt_comm_open_profiler(session, who);
	return NT_NCCL_OK;
}

static int profiler_finalize(void *ctx)
{
	if (is_alive(ctx))
		nt_comm_close_profiler(ctx);
	return NT_NCCL_OK;
}

/* v1 to v3 name no communicator and carry no GPU times: no events are asked for. */
static int profiler_init_old(void **ctx, int *mask)
{
	(void)nt_session_start(NULL);
	*ctx = NULL;
	__atomic_store_n(mask, 0, __ATOMIC_RELAXED);
	return NT_NCCL_OK;
}

static int finalize_old(void *ctx)
{
	(void)ctx;
	return NT_NCCL_OK;
}

static int start_v1(void *ctx, void **event, struct nt_prof_descr_v1 *descr)
{
	(void)ctx, (void)descr;
	*event = NULL;
	return NT_NCCL_OK;
}

static int start_v2(void *ctx, void **event, struct nt_prof_descr_v2 *descr)
{
	(void)ctx, (void)descr;
	*event = NULL;
	return NT_NCCL_OK;
}

static int start_v3(void *ctx, void **event, struct nt_prof_descr_v3 *descr)
{
	(void)ctx, (void)descr;
	*event = NULL;
	return NT_NCCL_OK;
}

static int stop_old(void *event)
{
	(void)event;
	return NT_NCCL_OK;
}

static int state_old(void *event, int state, union nt_prof_args_v1 *args)
{
	(void)event, (void)state, (void)args;
	return NT_NCCL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int profiler_init_v4(void **ctx, int *mask, const char *name, uint64_t id, int nodes,
			    int ranks, int rank, nt_nccl_log log)
{
	const struct nt_comm_identity who = { id, name, rank, (size_t)ranks, (size_t)nodes, 4 };

	return open_profiler(ctx, mask, &who, log);
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int profiler_init_v5(void **ctx, uint64_t id, int *mask, const char *name, int nodes,
			    int ranks, int rank, nt_nccl_log log)
{
	const struct nt_comm_identity who = { id, name, rank, (size_t)ranks, (size_t)nodes, 5 };

	return open_profiler(ctx, mask, &who, log);
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int profiler_init_v6(void **ctx, uint64_t id, int *mask, const char *name, int nodes,
			    int ranks, int rank, nt_nccl_log log)
{
	const struct nt_comm_identity who = { id, name, rank, (size_t)ranks, (size_t)nodes, 6 };

	return open_profiler(ctx, mask, &who, log);
}

/* The Coll part has the same members in v4, v5 and v6. */
#define COLL_EVENT(descr)                                                       \
	&(struct nt_coll_event)                                                 \
	{                                                                       \
		.func = (descr)->coll.func, .datatype = (descr)->coll.datatype, \
		.algo = (descr)->coll.algo, .proto = (descr)->coll.proto,       \
		.seq = (descr)->coll.seq, .count = (descr)->coll.count,         \
		.channels = (descr)->coll.channels                              \
	}

static int start_v4(void *ctx, void **event, struct nt_prof_descr_v4 *descr)
{
	struct nt_comm *comm = ctx;

	*event = NULL;
	if (!is_alive(comm))
		return NT_NCCL_OK;
	if (descr->type == NT_PROF_COLL)
		*event = nt_event_coll(comm, COLL_EVENT(descr));
	else if (descr->type == NT_PROF_KERNEL_CH)
		nt_event_kernel(comm, descr->parent, descr->kernel_ch.channel,
				descr->kernel_ch.start_ns);
	return NT_NCCL_OK;
}

/* A v6 descriptor is a v5 one for every event that is asked for. */
static int start_v5(void *ctx, void **event, struct nt_prof_descr_v5 *descr)
{
	struct nt_comm *comm = ctx;

	*event = NULL;
	if (!is_alive(comm))
		return NT_NCCL_OK;
	switch (descr->type) {
	case NT_PROF_COLL_API: nt_event_call(comm, descr->coll_api.graph_captured); break;
	case NT_PROF_P2P_API:
		if (descr->p2p_api.graph_captured)
			nt_comm_freeze(comm);
		break;
	case NT_PROF_KERNEL_LAUNCH: nt_event_launch(comm); break;
	case NT_PROF_GROUP: *event = nt_event_group(comm); break;
	case NT_PROF_COLL: *event = nt_event_coll(comm, COLL_EVENT(descr)); break;
	case NT_PROF_KERNEL_CH:
		nt_event_kernel(comm, descr->parent, descr->kernel_ch.channel,
				descr->kernel_ch.start_ns);
		break;
	default: break;
	}
	return NT_NCCL_OK;
}

static int start_v6(void *ctx, void **event, struct nt_prof_descr_v6 *descr)
{
	_Static_assert(offsetof(struct nt_prof_descr_v6, coll) ==
				       offsetof(struct nt_prof_descr_v5, coll) &&
			       sizeof(struct nt_prof_descr_v6) >= sizeof(struct nt_prof_descr_v5),
		       "v6 only adds events");
	return start_v5(ctx, event, (struct nt_prof_descr_v5 *)descr);
}

static int stop(void *event)
{
	struct nt_session *session = event ? nt_session_now() : NULL;

	if (session && !nt_session_inert(session))
		nt_event_group_stop(session, event);
	return NT_NCCL_OK;
}

/* No event that has states is given a handle. */
static int record_state(void *event, int state, union nt_prof_args_v4 *args)
{
	(void)event, (void)state, (void)args;
	return NT_NCCL_OK;
}

extern const struct nt_prof_v1 ncclProfiler_v1;
extern const struct nt_prof_v2 ncclProfiler_v2;
extern const struct nt_prof_v3 ncclProfiler_v3;
extern const struct nt_prof_v4 ncclProfiler_v4;
extern const struct nt_prof_v5 ncclProfiler_v5;
extern const struct nt_prof_v6 ncclProfiler_v6;

NT_EXPORT const struct nt_prof_v1 ncclProfiler_v1 = { NAME,	profiler_init_old, start_v1,
						      stop_old, state_old,	   finalize_old };
NT_EXPORT const struct nt_prof_v2 ncclProfiler_v2 = { NAME,	profiler_init_old, start_v2,
						      stop_old, state_old,	   finalize_old };
NT_EXPORT const struct nt_prof_v3 ncclProfiler_v3 = { NAME,	profiler_init_old, start_v3,
						      stop_old, state_old,	   finalize_old };
NT_EXPORT const struct nt_prof_v4 ncclProfiler_v4 = { NAME, profiler_init_v4, start_v4,
						      stop, record_state,     profiler_finalize };
NT_EXPORT const struct nt_prof_v5 ncclProfiler_v5 = { NAME, profiler_init_v5, start_v5,
						      stop, record_state,     profiler_finalize };
NT_EXPORT const struct nt_prof_v6 ncclProfiler_v6 = { NAME, profiler_init_v6, start_v6,
						      stop, record_state,     profiler_finalize };

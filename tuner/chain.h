/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - the profiler and the tuner that NCCL would have loaded without us, behind ours
 *
 * Found as NCCL finds them (src/plugin/plugin_open.cc:79@v2.30.7-1): by the name in
 * NCCL_TUNE_CHAINED_PROFILER or _TUNER ("none": nothing), else by NCCL's defaults, the network
 * plugin included. The newest interface that both NCCL and the plugin have is spoken
 * (docs/decisions/0006-chaining.md).
 *
 * Threads:  as of the entry points (tuner/abi.h); loading at the first init, under a lock.
 * Memory:   nothing is given back: late events come after everything else. What NCCL holds is a
 *           struct nt_ctx (tuner/ctx.h) for a communicator and one form of number for an event
 *           (tuner/handle.h), whether or not something is chained; where nothing is, an entry point
 *           pays for a load and a comparison.
 * Errors:   what a chained plugin returns is counted and goes no further.
 */
#ifndef NT_CHAIN_H
#define NT_CHAIN_H

#include "tuner/comm.h"

enum nt_chained { NT_CHAINED_PROFILER, NT_CHAINED_TUNER, NT_CHAINED_ALL };

struct nt_chain_plugin {
	const void *table; /* their struct nt_prof_v* or nt_tuner_v*; NULL: none */
	int version;
	char name[64]; /* as it calls itself */
	char file[256]; /* what was asked for */
	struct nt_error error; /* why it was not loaded, "" if it was or none was asked for */
};

struct nt_chain {
	pthread_mutex_t lock;
	bool tried[NT_CHAINED_ALL]; /* lock */
	bool said[NT_CHAINED_ALL]; /* lock */
	_Atomic bool on[NT_CHAINED_ALL]; /* fixed before NCCL has a context */
	struct nt_chain_plugin plugin[NT_CHAINED_ALL]; /* fixed with it */
	int wish; /* the mask that a chained profiler writes, in its own time */
	_Atomic int seen; /* of it */
	_Atomic uint32_t shown; /* types that it wants, or wanted a moment ago */
	uint32_t types; /* that its interface knows */
	uint64_t dropped_ms; /* lock */
};

extern struct nt_chain nt_chain;

static inline bool nt_chain_on(enum nt_chained which)
{
	/* Whoever has a context sees what was set before it was made. */
	return atomic_load_explicit(&nt_chain.on[which], memory_order_relaxed);
}

/* In the child of a fork, before anything else of ours. */
void nt_chain_forked(void);

/* Looks for the plugin at the first call; api is the interface that NCCL speaks. True: it is
 * there. */
bool nt_chain_load(enum nt_chained which, int api, nt_nccl_log log);
/* What NCCL is given where this plugin is chained; NULL: no memory. */
struct nt_ctx *nt_chain_wrap(struct nt_comm *comm);
/* What NCCL is given where it is not; NULL: nothing of ours either. */
struct nt_ctx *nt_chain_plain(struct nt_comm *comm);
void nt_chain_count(int rc);
/* Once a plugin, with its first logger: that it is chained, or why not. */
void nt_chain_say(enum nt_chained which, nt_nccl_log log);

/* For the record: "NAME (vN)", "FILE: not loaded: REASON", or "" where there is nothing to say. */
void nt_chain_describe(enum nt_chained which, char *out, size_t out_bytes);

/* The chained profiler has changed its mask. */
void nt_chain_follow(void);
/* Helper: the same, and what it no longer wants is no longer shown. */
void nt_chain_tick(uint64_t ms);

static inline void nt_chain_sync(void)
{
	if (__builtin_expect(__atomic_load_n(&nt_chain.wish, __ATOMIC_RELAXED) !=
				     atomic_load_explicit(&nt_chain.seen, memory_order_relaxed),
			     0))
		nt_chain_follow();
}

#endif

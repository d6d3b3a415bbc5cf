/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - the profiler and tuner plugins that NCCL would have loaded without us, behind ours
 *
 * Found as NCCL finds them (src/plugin/plugin_open.cc:79@v2.30.7-1): by the name in
 * NCCL_TUNE_CHAINED_PROFILER or _TUNER ("none": nothing), or else by NCCL's defaults, the network
 * plugin included. The newest interface that NCCL and the plugin both know is used
 * (docs/decisions/chaining.md).
 *
 * Threads:  those of the entry points (tuner/abi.h). The first init loads, under a lock.
 * Memory:   never freed, since events may come after everything else. Chained or not, NCCL holds a
 *           struct nt_ctx (tuner/comm.h) per communicator and handles of one form (tuner/handle.h);
 *           without a chained plugin an entry point costs a load and a comparison more.
 * Errors:   a chained plugin's error codes are counted and not passed on.
 */
#ifndef NT_CHAIN_H
#define NT_CHAIN_H

#include "tuner/comm.h"

enum nt_chained { NT_CHAINED_PROFILER, NT_CHAINED_TUNER, NT_CHAINED_ALL };

struct nt_chain_plugin {
	const void *table; /* struct nt_prof_v* or nt_tuner_v*; NULL: none */
	int version;
	char name[64]; /* what it calls itself */
	char file[256]; /* the file asked for */
	struct nt_error error; /* why it was not loaded; "": it was, or none was asked for */
	_Atomic int refused; /* what its newest failed init returned; 0: none failed */
};

struct nt_chain {
	pthread_mutex_t lock;
	bool tried[NT_CHAINED_ALL]; /* lock */
	bool said[NT_CHAINED_ALL]; /* lock */
	_Atomic bool on[NT_CHAINED_ALL]; /* set before NCCL has a context, then constant */
	struct nt_chain_plugin plugin[NT_CHAINED_ALL]; /* set with `on` */
	int wish; /* its mask, which the chained profiler may write at any time */
	_Atomic int seen; /* the `wish` that was handled last */
	_Atomic uint32_t shown; /* types that it wants, or wanted until recently */
	uint32_t types; /* types that its interface knows */
	uint64_t dropped_ms; /* lock */
};

extern struct nt_chain nt_chain;

static inline bool nt_chain_on(enum nt_chained which)
{
	/* Whoever has a context sees what was set before it. */
	return atomic_load_explicit(&nt_chain.on[which], memory_order_relaxed);
}

/* First of all in the child of a fork */
void nt_chain_forked(void);

/* Looks for the plugin at the first call, and logs what came of it. api: NCCL's interface version.
 * True: it is loaded. */
bool nt_chain_load(enum nt_chained which, int api, nt_nccl_log log);
/* NCCL's context if this plugin is chained; NULL: no memory. */
struct nt_ctx *nt_chain_wrap(struct nt_comm *comm);
/* NCCL's context if it is not; NULL: we have none either. */
struct nt_ctx *nt_chain_plain(struct nt_comm *comm);
void nt_chain_count(int rc);
/* What its init of a communicator returned. After a failure it hears no more of that
 * communicator. */
void nt_chain_started(enum nt_chained which, struct nt_ctx *ctx, int rc);

/* For the record: "NAME (vN)"; or why it is not loaded (contract/reason.h); or "": none was asked
 * for. */
void nt_chain_describe(enum nt_chained which, char *out, size_t out_bytes);

/* The chained profiler may have changed its mask. */
void nt_chain_follow(void);
/* Helper thread: the same, and show no more events that it no longer wants. */
void nt_chain_tick(uint64_t ms);

static inline void nt_chain_sync(void)
{
	if (__builtin_expect(__atomic_load_n(&nt_chain.wish, __ATOMIC_RELAXED) !=
				     atomic_load_explicit(&nt_chain.seen, memory_order_relaxed),
			     0))
		nt_chain_follow();
}

#endif

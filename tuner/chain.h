/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - the profiler and tuner plugins that NCCL would have loaded without us, chained behind
 * ours
 *
 * Found as NCCL finds them (src/plugin/plugin_open.cc:79@v2.30.7-1): by the name in
 * NCCL_TUNE_CHAINED_PROFILER or _TUNER ("none": nothing), otherwise by NCCL's defaults, including
 * the network plugin. The newest interface that both NCCL and the plugin know is used
 * (docs/decisions/0006-chaining.md).
 *
 * Threads:  those of the entry points (tuner/abi.h); loading happens at the first init, under a
 *           lock.
 * Memory:   never freed: late events come after everything else. NCCL holds a struct nt_ctx
 *           (tuner/ctx.h) per communicator and one form of handle per event (tuner/handle.h),
 *           whether or not a plugin is chained; if none is, an entry point costs a load and a
 *           comparison more.
 * Errors:   a chained plugin's error codes are counted and not passed on.
 */
#ifndef NT_CHAIN_H
#define NT_CHAIN_H

#include "tuner/comm.h"

enum nt_chained { NT_CHAINED_PROFILER, NT_CHAINED_TUNER, NT_CHAINED_ALL };

struct nt_chain_plugin {
	const void *table; /* its struct nt_prof_v* or nt_tuner_v*; NULL: none */
	int version;
	char name[64]; /* its name of itself */
	char file[256]; /* the file asked for */
	struct nt_error error; /* why it was not loaded; "" if it was, or none was asked for */
	_Atomic int refused; /* the error of its newest init that failed; 0: none did */
};

struct nt_chain {
	pthread_mutex_t lock;
	bool tried[NT_CHAINED_ALL]; /* lock */
	bool said[NT_CHAINED_ALL]; /* lock */
	_Atomic bool on[NT_CHAINED_ALL]; /* set before NCCL has a context, then constant */
	struct nt_chain_plugin plugin[NT_CHAINED_ALL]; /* set with `on` */
	int wish; /* mask written by the chained profiler at any time */
	_Atomic int seen; /* last value of `wish` that was handled */
	_Atomic uint32_t shown; /* event types that it wants, or wanted until recently */
	uint32_t types; /* event types that its interface knows */
	uint64_t dropped_ms; /* lock */
};

extern struct nt_chain nt_chain;

static inline bool nt_chain_on(enum nt_chained which)
{
	/* Whoever has a context sees what was set before it. */
	return atomic_load_explicit(&nt_chain.on[which], memory_order_relaxed);
}

/* Call first in the child of a fork. */
void nt_chain_forked(void);

/* Look for the plugin at the first call; api: NCCL's interface version. True: it is loaded. */
bool nt_chain_load(enum nt_chained which, int api, nt_nccl_log log);
/* Context for NCCL if this plugin is chained; NULL: no memory. */
struct nt_ctx *nt_chain_wrap(struct nt_comm *comm);
/* Context for NCCL if it is not; NULL: none of ours either. */
struct nt_ctx *nt_chain_plain(struct nt_comm *comm);
void nt_chain_count(int rc);
/* The result of its init of a communicator: after a failure it is told nothing more of it. */
void nt_chain_started(enum nt_chained which, struct nt_ctx *ctx, int rc);
/* Log once per plugin, with its first logger: that it is chained, or why not. */
void nt_chain_say(enum nt_chained which, nt_nccl_log log);

/* For the record: "NAME (vN)", why it is not loaded as contract/reason.h has it, or "" if there is
 * none. */
void nt_chain_describe(enum nt_chained which, char *out, size_t out_bytes);

/* Handle a change of the chained profiler's mask. */
void nt_chain_follow(void);
/* Helper thread: the same, and stop showing events it no longer wants. */
void nt_chain_tick(uint64_t ms);

static inline void nt_chain_sync(void)
{
	if (__builtin_expect(__atomic_load_n(&nt_chain.wish, __ATOMIC_RELAXED) !=
				     atomic_load_explicit(&nt_chain.seen, memory_order_relaxed),
			     0))
		nt_chain_follow();
}

#endif

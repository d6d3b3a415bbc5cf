/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/open.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/capabilities.h"
#include "tuner/gpu-times.h"
#include "tuner/ll128.h"
#include "tuner/nccl-log.h"
#include "tuner/comm-status.h"

#define MINIMUM_API 5 /* least version of both halves, which tells turns and captures (NCCL 2.28) */
/* ... if the user promises that nothing is captured (NCCL 2.27) */
#define MINIMUM_API_NO_GRAPHS 4

/* From a profiler's init to the tuner's of the same communicator, on one thread */
static _Thread_local struct nt_comm *handed_over;

#define NEW_SOCKETS 23200 /* the first release that can encrypt its sockets */

/* Version of the NCCL that has the logger; 0: unknown. out: its shared library; "": perhaps a part of
 * the program. */
static uint32_t find_nccl(nt_nccl_log log, char out[NT_LIBRARY_MAX])
{
	int (*get_version)(int *version) = NULL;
	void *library = NULL;
	int version = 0;
	Dl_info info;

	out[0] = '\0';
	if (log && dladdr((void *)(uintptr_t)log, &info) && info.dli_fname) {
		const char *name = strrchr(info.dli_fname, '/');

		library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
		if (info.dli_fname[0] == '/' && strlen(info.dli_fname) < NT_LIBRARY_MAX &&
		    strstr(name, ".so"))
			memcpy(out, info.dli_fname, strlen(info.dli_fname) + 1);
	}
	*(void **)&get_version = dlsym(library ? library : RTLD_DEFAULT, "ncclGetVersion");
	if (get_version && get_version(&version) != NT_NCCL_OK)
		version = 0;
	if (library)
		dlclose(library);
	return version > 0 ? (uint32_t)version : 0;
}

/* The lock is held. NULL: all are alive. */
static struct nt_comm *oldest_ended(struct nt_process *process)
{
	struct nt_comm *oldest = NULL;

	for (uint32_t i = 0; i < process->comms; i++) {
		struct nt_comm *comm = process->comm[i];

		if (comm->kept.halves == 0 &&
		    (!oldest || comm->fixed.opened < oldest->fixed.opened))
			oldest = comm;
	}
	return oldest;
}

/* The lock is held. Only its index in the list and its array of durations stay. */
static struct nt_comm *take_entry(struct nt_process *process)
{
	_Atomic uint32_t *observed = NULL;
	struct nt_comm *comm = NULL;
	uint32_t index = process->comms;

	if (index < NT_COMMS_MAX) {
		comm = calloc(1, sizeof(*comm));
		if (comm && process->policy.mode == NT_MODE_OBSERVE)
			observed = calloc((size_t)NT_LOCAL_KEYS * NT_OBSERVED_MAX,
					  sizeof(*observed));
	}
	if (comm) {
		process->comm[process->comms++] = comm;
	} else {
		comm = oldest_ended(process);
		if (!comm)
			return NULL;
		nt_event_slot_forget(&process->slots, comm);
		observed = comm->fixed.observed;
		index = comm->fixed.index;
		memset(comm, 0, sizeof(*comm));
	}
	comm->fixed.index = index;
	comm->fixed.observed = observed;
	return comm;
}

static int least_api(const struct nt_process *process)
{
	return process->policy.graphs == NT_GRAPHS_NEVER ? MINIMUM_API_NO_GRAPHS : MINIMUM_API;
}

static enum nt_idle idle_of(const struct nt_comm_fixed *fixed)
{
	struct nt_process *process = fixed->process;
	int least = least_api(process);

	if (!nt_mode_chooses(process->policy.mode))
		return NT_IDLE_MODE;
	if (!process->map.shm)
		return NT_IDLE_SHM;
	if (fixed->tuner_api == 0 || fixed->profiler_api == 0)
		return NT_IDLE_HALF;
	if (fixed->tuner_api < least || fixed->profiler_api < least)
		return NT_IDLE_API;
	return nt_gpu_times_lack(process);
}

static void fill_caps(struct nt_comm_fixed *fixed)
{
	const struct nt_process *process = fixed->process;
	struct nt_capabilities *caps = &fixed->caps;

	caps->fingerprint = process->node_step.fingerprint;
	caps->build = process->build;
	caps->policy = process->policy_hash;
	caps->nccl = atomic_load(&process->nccl);
	caps->warm = process->warm.hash;
	caps->api = (uint32_t)(fixed->tuner_api * 256 + fixed->profiler_api);
	caps->idle = idle_of(fixed);
	caps->active = caps->idle == NT_IDLE_NO;
	caps->rank = fixed->rank;
	caps->task = process->in_step ? process->task : (uint32_t)fixed->rank;
	caps->risks = atomic_load(&process->risks);
}

/* From 2.29.2 on NCCL makes Broadcast's tasks anew without their events, unless told not to
 * (ncclPrepareTasks, src/enqueue.cc:367@v2.30.7-1): its turn is never known. */
static bool is_broadcast_mute(uint32_t nccl)
{
	const char *text = getenv("NCCL_ALLGATHERV_ENABLE");

	return nccl >= 22902 && !(text && strcmp(text, "0") == 0);
}

/* From 2.29.2 on, with all ranks on NVLink and buffers in windows, NCCL asks what it would use, and
 * if that is LL takes a symmetric kernel, of which no event tells
 * (src/scheduler/symmetric_sched.cc:98@v2.29.2-1). An exploration would then never advance; and
 * where LL is NCCL's own choice, another pair would displace that kernel (tuner/decide.c). An
 * unknown version may be one of these. */
static uint32_t allowed_pairs(uint32_t nccl, uint32_t nodes)
{
	return nodes > 1 || (nccl != 0 && nccl < 22902) ? NT_PAIRS_ALL
							: NT_PAIRS_ALL & ~NT_PAIRS_LL;
}

/* With this variable, from 2.31 on, NCCL asks one question for symmetric kernels and all others: a
 * forced pair would displace a faster symmetric kernel (fillCollTuningInput,
 * src/enqueue/task_prep/task_pretuning.cc@88980683). */
static bool asks_for_all(uint32_t nccl)
{
	const char *text = getenv("NCCL_ENQUEUE_REARCH_ENABLE");

	return (nccl == 0 || nccl >= 23100) && text && strtol(text, NULL, 0) != 0;
}

/* ncclTuningSelectBestTuning, src/tuning/tuning.cc@88980683: it inserts at the head of its list. If
 * the version is unknown, the interface tells. */
static bool is_last_taken(const struct nt_comm_fixed *fixed)
{
	return fixed->caps.nccl != 0 ? fixed->caps.nccl >= 23100 : fixed->profiler_api >= 7;
}

/* On a platform of its own: the helper thread may not have looked yet, or may be looking now. */
static int fabric_now(const struct nt_process *process)
{
	struct nt_platform platform = { .driver = "" };
	int fabric;

	memcpy(platform.net, process->platform.net, sizeof(platform.net));
	memcpy(platform.library, process->platform.library, sizeof(platform.library));
	platform.new_sockets = process->platform.new_sockets;
	nt_platform_look(&platform, &nt_platform_paths);
	fabric = nt_fabric_parse(platform.fabric);
	return fabric < 0 ? NT_FABRIC_ANY : fabric;
}

/* The lock is held. Check the remembered arms against NCCL, fabric and hardware; log once if they
 * are refused. */
static void check_warm(struct nt_process *process)
{
	struct nt_process_warm *warm = &process->warm;
	/* The arms may be of one node without NVLink: its calls will show it, and there were
	 * none. */
	bool any = warm->arms.fabric == NT_FABRIC_ANY || warm->arms.fabric == NT_FABRIC_PCIE;

	if (!warm->offered || warm->checked)
		return;
	if (nt_process_warm_check(warm, atomic_load(&process->nccl),
				  any ? NT_FABRIC_ANY : fabric_now(process),
				  process->node_step.fingerprint))
		NT_WARN(process->log, "remembered arms are not used: %s", warm->refused.text);
}

/* Only the profiler gets the rank: was it not loaded, or does this NCCL not pass it? */
static int rank_unknown(const struct nt_comm_fixed *fixed)
{
	const bool old = fixed->caps.nccl != 0 ? fixed->caps.nccl < 22703 /* profiler v4 */
					       : fixed->tuner_api < least_api(fixed->process);

	return fixed->profiler_api == 0 && !old ? NT_REASON_HALF : NT_REASON_RANK_UNKNOWN;
}

/* The lock is held. A rank that takes no plans publishes its capabilities too, if it can: the
 * others must know. */
static void take_slot(struct nt_comm *comm)
{
	struct nt_comm_fixed *fixed = &comm->fixed;
	struct nt_process *process = fixed->process;

	check_warm(process);
	fill_caps(fixed);
	fixed->allowed = allowed_pairs(fixed->caps.nccl, fixed->nodes);
	fixed->last_wins = is_last_taken(fixed);
	if (!nt_mode_chooses(process->policy.mode)) {
		nt_reason_setf(&fixed->why, NT_REASON_MODE, "%s",
			       nt_mode_name(process->policy.mode));
	} else if (!process->map.shm) {
		fixed->why = process->no_shm;
	} else if (fixed->rank < 0 || fixed->id == 0) {
		nt_reason_set(&fixed->why, rank_unknown(fixed));
	} else if (nt_shm_join(process->map.shm, fixed->id, fixed->ranks, fixed->nodes,
			       &fixed->caps, &fixed->slot, &fixed->why) == 0) {
		fixed->shm = &process->map.shm->comm[fixed->slot.comm];
		fixed->mute_broadcast = is_broadcast_mute(fixed->caps.nccl);
		fixed->joined = fixed->caps.active;
		if (asks_for_all(fixed->caps.nccl))
			nt_comm_flag(comm, NT_PARTICIPANT_PROBES);
	}
}

static void identify_comm(struct nt_comm_fixed *fixed, const struct nt_comm_identity *who,
			  enum nt_half half)
{
	static _Atomic uint32_t order;

	fixed->id = who->id;
	fixed->rank = who->rank;
	fixed->ranks = (uint32_t)who->ranks;
	fixed->nodes = (uint32_t)who->nodes;
	fixed->opened = atomic_fetch_add_explicit(&order, 1, memory_order_relaxed) + 1;
	*(half == NT_HALF_TUNER ? &fixed->tuner_api : &fixed->profiler_api) = who->api;
	snprintf(fixed->name, sizeof(fixed->name), "%s", who->name ? who->name : "");
}

static struct nt_comm *create_comm(struct nt_process *process, const struct nt_comm_identity *who,
				   enum nt_half half)
{
	struct nt_comm *comm;

	pthread_mutex_lock(&process->lock);
	comm = take_entry(process);
	if (comm) {
		comm->fixed.process = process;
		comm->fixed.ctx.ours = comm;
		identify_comm(&comm->fixed, who, half);
		comm->fixed.calls = nt_calls_add(process->calls, comm->fixed.index, who->id,
						 who->rank, comm->fixed.ranks, comm->fixed.nodes);
		comm->kept.halves = half;
		if (half == NT_HALF_PROFILER)
			nt_gpu_times_admit(process);
		/* Another tuner is in force: ours will not be called, and the other ranks must
		 * know. */
		if (half == NT_HALF_TUNER ||
		    process->node_step.flags & (NT_FLAG_NO_TUNER | NT_FLAG_OTHER_TUNER))
			take_slot(comm);
	}
	pthread_mutex_unlock(&process->lock);
	if (!comm) {
		nt_process_count(process, NT_COUNT_NO_COMM);
		nt_mask_forbid(&process->mask); /* nothing counts its pool */
	}
	return comm;
}

/* Calls NCCL and the loader, so not under a lock of ours. */
static void learn_platform(struct nt_process *process)
{
	char library[NT_LIBRARY_MAX], net[NT_NET_MAX];
	uint32_t version;

	nt_net_plugin(net);
	atomic_fetch_or(&process->risks, nt_ll128_look(net[0] != '\0'));
	if (atomic_load(&process->nccl) != 0)
		return;
	version = find_nccl(process->log, library);
	pthread_mutex_lock(&process->lock);
	if (!process->learnt) {
		nt_platform_ask(&process->platform, net);
		memcpy(process->platform.library, library, sizeof(library));
		process->platform.new_sockets = version >= NEW_SOCKETS;
	}
	process->learnt = true;
	pthread_mutex_unlock(&process->lock);
	atomic_store(&process->nccl, version);
}

/* Not before NCCL's own threads, which it starts between the two halves: where the process may
 * start only those, ours is the one that is missing. */
static void start_helper(struct nt_process *process)
{
	if (nt_process_help(process))
		return;
	pthread_mutex_lock(&process->lock);
	nt_gpu_times_refuse(process);
	pthread_mutex_unlock(&process->lock);
}

struct nt_comm *nt_comm_open_profiler(struct nt_process *process,
				      const struct nt_comm_identity *who)
{
	learn_platform(process);
	if (process->node_step.flags & NT_FLAG_NO_TUNER)
		start_helper(process);
	handed_over = create_comm(process, who, NT_HALF_PROFILER);
	return handed_over;
}

/* What the profiler's init left on this thread, if it is of the same communicator and has no tuner
 * yet */
static struct nt_comm *take_over(struct nt_process *process, const struct nt_comm_identity *who)
{
	struct nt_comm *comm = handed_over;
	struct nt_comm_fixed *fixed;

	handed_over = NULL;
	if (!comm)
		return NULL;
	pthread_mutex_lock(&process->lock);
	fixed = &comm->fixed;
	if (fixed->process != process || fixed->shm || comm->kept.halves != NT_HALF_PROFILER ||
	    fixed->ranks != who->ranks || fixed->nodes != who->nodes ||
	    (who->id && fixed->id && who->id != fixed->id)) {
		comm = NULL;
	} else {
		comm->kept.halves |= NT_HALF_TUNER;
		fixed->tuner_api = who->api;
		take_slot(comm);
	}
	pthread_mutex_unlock(&process->lock);
	return comm;
}

struct nt_comm *nt_comm_open_tuner(struct nt_process *process, const struct nt_comm_identity *who)
{
	struct nt_comm *comm;

	learn_platform(process);
	start_helper(process);
	comm = take_over(process, who);
	if (!comm)
		comm = create_comm(process, who, NT_HALF_TUNER);
	return comm;
}

static void close_half(struct nt_comm *comm, enum nt_half half)
{
	pthread_mutex_lock(&comm->fixed.process->lock);
	comm->kept.halves &= ~(uint32_t)half;
	if (comm->kept.halves == 0)
		nt_calls_leave(comm->fixed.calls);
	pthread_mutex_unlock(&comm->fixed.process->lock);
}

static void say_end(const struct nt_comm *comm)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	unsigned keys = 0, committed = 0;
	uint64_t calls = 0;

	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		if (nt_comm_key_id(comm, i) == 0)
			continue;
		keys++;
		calls += nt_key_calls(&comm->key[i]);
		committed += nt_key_state(&comm->key[i]) == NT_LOCAL_COMMITTED;
	}
	NT_INFO(fixed->process->log,
		"communicator %016llx %s rank %d of %u: %llu decisions, %u keys, %u not on AUTO",
		(unsigned long long)fixed->id, fixed->name, fixed->rank, fixed->ranks,
		(unsigned long long)calls, keys, committed);
}

void nt_comm_close_tuner(struct nt_comm *comm)
{
	if (!comm)
		return;
	nt_comm_take(comm);
	for (unsigned i = 0; i < nt_comm_keys(comm); i++)
		nt_comm_drop_key(comm, &comm->key[i]);
	nt_comm_untake(comm);
	if (comm->fixed.shm) {
		/* What the helper thread has not published yet */
		for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
			struct nt_shm_key *shared = comm->key[i].fixed.shared;

			if (shared)
				atomic_store(&shared->calls[comm->fixed.slot.index],
					     nt_key_calls(&comm->key[i]));
		}
		nt_comm_status_leave(comm);
	}
	say_end(comm);
	close_half(comm, NT_HALF_TUNER);
}

void nt_comm_close_profiler(struct nt_comm *comm)
{
	if (!comm)
		return;
	if (handed_over == comm)
		handed_over = NULL;
	/* With a tuner, that one's finalize has left the slot. */
	if (comm->fixed.shm && comm->fixed.tuner_api == 0)
		nt_comm_status_leave(comm);
	close_half(comm, NT_HALF_PROFILER);
}

void nt_comm_leave_all(struct nt_process *process)
{
	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm *comm = process->comm[i];

		if (comm->fixed.shm && (comm->kept.halves & NT_HALF_TUNER))
			nt_shm_leave(&comm->fixed.slot);
	}
}

void nt_comm_free_all(struct nt_process *process)
{
	for (uint32_t i = 0; i < process->comms; i++) {
		free(process->comm[i]->fixed.observed);
		free(process->comm[i]);
	}
}

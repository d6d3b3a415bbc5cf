/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/gpu-times.h"

#include "tuner/proxy-pool.h"

/* May the communicator's ranks here still have to open their pools? */
static bool owes_pool(const struct nt_comm *comm)
{
	const struct nt_process *process = comm->fixed.process;

	return comm->kept.halves & NT_HALF_PROFILER &&
	       !atomic_load_explicit(&comm->laps.timed, memory_order_relaxed) &&
	       nt_proxy_pool_opened(atomic_load(&process->nccl), comm->fixed.profiler_api);
}

/* Ranks of one communicator in this process count once. */
static bool is_first(const struct nt_process *process, uint32_t index)
{
	const uint64_t id = process->comm[index]->fixed.id;

	for (uint32_t i = 0; id != 0 && i < index; i++) {
		if (process->comm[i]->fixed.id == id && owes_pool(process->comm[i]))
			return false;
	}
	return true;
}

/* all: the node's ranks open theirs, too. */
static unsigned pools_owed(const struct nt_process *process, bool all)
{
	unsigned comms = 0, owed = 0, ranks = process->node_ranks;

	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm_fixed *fixed = &process->comm[i]->fixed;
		unsigned here;

		if (!owes_pool(process->comm[i]))
			continue;
		owed++;
		comms += is_first(process, i);
		here = fixed->nodes ? (fixed->ranks + fixed->nodes - 1) / fixed->nodes : 1;
		ranks = here > ranks ? here : ranks;
	}
	return all ? comms * ranks : owed;
}

static void deny_times(struct nt_process *process, enum nt_idle lack)
{
	atomic_store_explicit(&process->lack, lack, memory_order_relaxed);
	nt_mask_forbid(&process->mask);
	if (process->policy.mode == NT_MODE_POLICY)
		return;
	for (uint32_t i = 0; i < process->comms; i++)
		nt_comm_flag(process->comm[i],
			     lack == NT_IDLE_ROOM ? NT_PARTICIPANT_ROOM : NT_PARTICIPANT_LIMITS);
}

static void look_at_room(struct nt_process *process, unsigned pools)
{
	struct nt_proxy_room room;

	nt_proxy_pool_look(&room);
	if (!nt_proxy_pool_fits(&room, pools))
		deny_times(process, NT_IDLE_ROOM);
}

static bool is_denied(const struct nt_process *process)
{
	return atomic_load_explicit(&process->lack, memory_order_relaxed) != NT_IDLE_NO;
}

void nt_gpu_times_admit(struct nt_process *process)
{
	const unsigned pools = pools_owed(process, true);

	if (is_denied(process) || pools == 0)
		return;
	if (!nt_proxy_pool_limits(process->node_ranks))
		deny_times(process, NT_IDLE_LIMITS);
	else
		look_at_room(process, pools);
	nt_mask_ask_anew(&process->mask);
}

void nt_gpu_times_look(struct nt_process *process)
{
	const unsigned pools = is_denied(process) || nt_mask_asked(&process->mask)
				       ? 0
				       : pools_owed(process, false);

	if (pools > 0)
		look_at_room(process, pools);
}

void nt_gpu_times_refuse(struct nt_process *process)
{
	deny_times(process, NT_IDLE_LIMITS);
}

enum nt_idle nt_gpu_times_lack(struct nt_process *process)
{
	if (process->policy.mode == NT_MODE_POLICY && !process->helper.failed)
		return NT_IDLE_NO;
	return (enum nt_idle)atomic_load_explicit(&process->lack, memory_order_relaxed);
}

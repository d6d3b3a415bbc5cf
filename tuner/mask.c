/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - see mask.h */
#include "tuner/mask.h"

#include "tuner/abi.h"

/* KernelLaunch tells on which thread a plan is launched, and so whether its Coll events come on
 * that thread too; P2pApi tells of captures of sends and receives. */
#define OPEN_BITS ((int)(NT_PROF_COLL | NT_PROF_KERNEL_LAUNCH | NT_PROF_P2P_API))
#define MEASURE_BITS ((int)NT_PROF_KERNEL_CH)

/* A chained profiler's bits that bring launches or Group events. Then both are asked for, and the
 * calls that tell of captures, whatever we want ourselves: a launch without its Group event would
 * be taken for one that was left to CUDA's callback thread (tuner/event.c). */
#define LAUNCH_BITS                                                            \
	((int)(NT_PROF_GROUP | NT_PROF_COLL | NT_PROF_P2P | NT_PROF_PROXY_OP | \
	       NT_PROF_PROXY_STEP | NT_PROF_KERNEL_CH | NT_PROF_NET_PLUGIN |   \
	       NT_PROF_KERNEL_LAUNCH | NT_PROF_KERNEL_PHASE))
#define STORY_BITS \
	((int)(NT_PROF_GROUP | NT_PROF_KERNEL_LAUNCH | NT_PROF_COLL_API | NT_PROF_P2P_API))

void nt_mask_init(struct nt_mask *mask)
{
	*mask = (struct nt_mask){ .targets = 0 };
	pthread_mutex_init(&mask->lock, NULL);
}

void nt_mask_fini(struct nt_mask *mask)
{
	pthread_mutex_destroy(&mask->lock);
}

/* The lock is held. NCCL reads its int without one, hence the builtin. */
static void store(struct nt_mask *mask)
{
	int value = (mask->open ? OPEN_BITS : 0) |
		    (mask->measuring && !mask->forbidden ? MEASURE_BITS : 0);

	atomic_store_explicit(&mask->value, value, memory_order_relaxed);
	value |= mask->chained | (mask->chained & LAUNCH_BITS ? STORY_BITS : 0);
	for (unsigned i = 0; i < mask->targets; i++)
		__atomic_store_n(mask->target[i], value, __ATOMIC_RELAXED);
}

void nt_mask_attach(struct nt_mask *mask, int *target)
{
	unsigned i = 0;

	pthread_mutex_lock(&mask->lock);
	while (i < mask->targets && mask->target[i] != target)
		i++;
	if (i == mask->targets && i < NT_MASK_TARGETS)
		mask->target[mask->targets++] = target;
	store(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_open(struct nt_mask *mask, int delta)
{
	pthread_mutex_lock(&mask->lock);
	mask->open += (unsigned)delta;
	store(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_measure(struct nt_mask *mask, struct nt_mask_hold *hold, bool on)
{
	if (nt_mask_measures(hold) == on)
		return;
	pthread_mutex_lock(&mask->lock);
	if (nt_mask_measures(hold) != on) {
		atomic_store_explicit(&hold->on, on, memory_order_relaxed);
		mask->measuring += on ? 1u : -1u;
		store(mask);
	}
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_forbid(struct nt_mask *mask)
{
	if (atomic_load_explicit(&mask->forbidden, memory_order_relaxed))
		return;
	pthread_mutex_lock(&mask->lock);
	atomic_store_explicit(&mask->forbidden, true, memory_order_relaxed);
	store(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_chain(struct nt_mask *mask, int bits)
{
	pthread_mutex_lock(&mask->lock);
	mask->chained = bits;
	store(mask);
	pthread_mutex_unlock(&mask->lock);
}

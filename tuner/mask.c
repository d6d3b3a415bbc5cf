/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/mask.h"

#include <string.h>
#include "lib/clock.h"
#include "tuner/abi.h"

#define UNDONE_MS 20u /* what NCCL read before an init it may write back for so long */

/* KernelLaunch shows on which thread a plan is launched, and so whether its Coll events come there
 * too; P2pApi shows captures of sends and receives. */
#define OPEN_BITS ((int)(NT_PROF_COLL | NT_PROF_KERNEL_LAUNCH | NT_PROF_P2P_API))
/* KernelCh brings Coll and Group events, but no KernelLaunch (profiler.cc@v2.28.9-1): without the
 * launch they would look like another thread's (tuner/event.c). */
#define MEASURE_BITS ((int)(NT_PROF_KERNEL_CH | NT_PROF_KERNEL_LAUNCH))

/* A chained profiler's bits that bring launches or Group events. With one of them both must be on,
 * and the calls that show captures: a launch without its Group event would look like one left to
 * CUDA's callback thread (tuner/event.c). */
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

/* The lock is held. What we and a chained profiler want */
static int own_bits(struct nt_mask *mask)
{
	int value = (mask->open ? OPEN_BITS : 0) |
		    (mask->measuring && !mask->forbidden ? MEASURE_BITS : 0);
	int chained = nt_mask_overridden(mask) ? 0 : mask->chained;

	atomic_store_explicit(&mask->value, value, memory_order_relaxed);
	if (value & (int)NT_PROF_KERNEL_CH)
		atomic_store_explicit(&mask->asked, true, memory_order_relaxed);
	if (chained & (int)NT_PROF_KERNEL_PHASE)
		chained |= (int)NT_PROF_KERNEL_CH; /* as NCCL does (tuner/abi.h) */
	return value | mask->counting | chained | (chained & LAUNCH_BITS ? STORY_BITS : 0);
}

static int wanted_bits(struct nt_mask *mask)
{
	return own_bits(mask) | mask->foreign;
}

/* The lock is held. Did we once store what NCCL has now written back? */
static bool is_undone(const struct nt_mask *mask, int found)
{
	bool ours = false;

	for (unsigned i = 0; i < NT_MASK_PREVIOUS; i++)
		ours |= mask->previous[i] == found;
	return ours && nt_clock_ms() - mask->attached_ms < UNDONE_MS;
}

/* The lock is held. Another party has stored this. */
static void take_over(struct nt_mask *mask, int found)
{
	bool lost = (mask->ours & ~mask->counting & ~found) != 0;

	if (!is_undone(mask, found)) {
		mask->foreign = found;
		if (lost)
			atomic_store_explicit(&mask->overridden, true, memory_order_relaxed);
	}
	if (lost)
		atomic_fetch_add_explicit(&mask->losses, 1, memory_order_relaxed);
}

/* The lock is held. NCCL reads its int without one, hence the builtins. The first `known` targets
 * held what was stored last. Done twice: what is found in one target changes what goes to all. */
static void store_after(struct nt_mask *mask, unsigned known)
{
	unsigned targets = atomic_load_explicit(&mask->targets, memory_order_relaxed);
	int put[NT_MASK_TARGETS], value = 0;

	for (unsigned i = 0; i < NT_MASK_TARGETS; i++)
		put[i] = atomic_load_explicit(&mask->stored, memory_order_relaxed);
	for (unsigned i = 0; i < 2 * known; i++) {
		int *target = mask->target[i % known], found = put[i % known];

		value = wanted_bits(mask);
		while (!__atomic_compare_exchange_n(target, &found, value, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED)) {
			take_over(mask, found);
			value = wanted_bits(mask);
		}
		put[i % known] = value;
	}
	value = wanted_bits(mask);
	for (unsigned i = known; i < targets; i++)
		__atomic_store_n(mask->target[i], value, __ATOMIC_RELAXED);
	mask->ours = own_bits(mask);
	memmove(mask->previous, mask->previous + 1,
		sizeof(mask->previous) - sizeof(mask->previous[0]));
	mask->previous[NT_MASK_PREVIOUS - 1] = atomic_load_explicit(&mask->stored,
								    memory_order_relaxed);
	atomic_store_explicit(&mask->stored, value, memory_order_relaxed);
}

static void store_mask(struct nt_mask *mask)
{
	store_after(mask, atomic_load_explicit(&mask->targets, memory_order_relaxed));
}

void nt_mask_attach(struct nt_mask *mask, int *target)
{
	unsigned i = 0, targets;

	pthread_mutex_lock(&mask->lock);
	mask->attached_ms = nt_clock_ms();
	targets = atomic_load_explicit(&mask->targets, memory_order_relaxed);
	while (i < targets && mask->target[i] != target)
		i++;
	if (i == targets && i < NT_MASK_TARGETS) {
		mask->target[i] = target;
		/* Pairs with the acquire in nt_mask_intact(). */
		atomic_store_explicit(&mask->targets, targets + 1, memory_order_release);
	}
	store_after(mask, targets);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_restore(struct nt_mask *mask)
{
	pthread_mutex_lock(&mask->lock);
	store_mask(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_open(struct nt_mask *mask, int delta)
{
	pthread_mutex_lock(&mask->lock);
	mask->open += (unsigned)delta;
	store_mask(mask);
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
		store_mask(mask);
	}
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_forbid(struct nt_mask *mask)
{
	if (atomic_load_explicit(&mask->forbidden, memory_order_relaxed))
		return;
	pthread_mutex_lock(&mask->lock);
	atomic_store_explicit(&mask->forbidden, true, memory_order_relaxed);
	store_mask(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_ask_anew(struct nt_mask *mask)
{
	pthread_mutex_lock(&mask->lock);
	atomic_store_explicit(&mask->asked, mask->measuring && !mask->forbidden,
			      memory_order_relaxed);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_chain(struct nt_mask *mask, int bits)
{
	pthread_mutex_lock(&mask->lock);
	mask->chained = bits;
	store_mask(mask);
	pthread_mutex_unlock(&mask->lock);
}

void nt_mask_count(struct nt_mask *mask, int bits)
{
	pthread_mutex_lock(&mask->lock);
	if (mask->counting != bits) {
		mask->counting = bits;
		store_mask(mask);
	}
	pthread_mutex_unlock(&mask->lock);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* interleave.h - lets somebody else act between two accesses to shared memory
 *
 * Included in front of every file of nt-agree-sim, those of pmix-sync/ too. Node leader and ranks
 * are one thread there; each atomic access may first hand over to the other side
 * (sim_interleave), so that they meet at any point of each other's code and not between their
 * steps alone. Relaxed accesses order nothing and are left out. What is found is what
 * sequentially consistent memory allows.
 */
#ifndef NT_TESTS_INTERLEAVE_H
#define NT_TESTS_INTERLEAVE_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

extern int64_t sim_countdown; /* accesses until the other side may act */
void sim_interleave(void);

/* Stores, and loads that the protocol's order rests on, are where the other side matters most. */
#define SIM_WEIGHT_LOAD 1
#define SIM_WEIGHT_ORDERED 40

static inline void sim_point(int weight)
{
	sim_countdown -= weight;
	if (__builtin_expect(sim_countdown <= 0, 0))
		sim_interleave();
}

/* Who waits for the other side cannot see it move within one step. */
static inline int sim_pause(const struct timespec *pause, struct timespec *left)
{
	(void)pause;
	(void)left;
	return 0;
}

#define nanosleep sim_pause

#define SIM_WEIGHT(order) ((order) == memory_order_relaxed ? 0 : SIM_WEIGHT_ORDERED)

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_compare_exchange_strong
#undef atomic_fetch_or
#undef atomic_fetch_sub
#define atomic_load(at) (sim_point(SIM_WEIGHT_LOAD), __atomic_load_n(at, __ATOMIC_SEQ_CST))
#define atomic_load_explicit(at, order) (sim_point(SIM_WEIGHT(order)), __atomic_load_n(at, order))
#define atomic_store(at, value) \
	(sim_point(SIM_WEIGHT_ORDERED), __atomic_store_n(at, value, __ATOMIC_SEQ_CST))
#define atomic_store_explicit(at, value, order) \
	(sim_point(SIM_WEIGHT(order)), __atomic_store_n(at, value, order))
#define atomic_compare_exchange_strong(at, was, value) \
	(sim_point(SIM_WEIGHT_ORDERED),                \
	 __atomic_compare_exchange_n(at, was, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define atomic_fetch_or(at, bits) \
	(sim_point(SIM_WEIGHT_ORDERED), __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST))
#define atomic_fetch_sub(at, less) \
	(sim_point(SIM_WEIGHT_ORDERED), __atomic_fetch_sub(at, less, __ATOMIC_SEQ_CST))

#endif

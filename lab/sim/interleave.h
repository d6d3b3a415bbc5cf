/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* interleave.h - lets somebody else act between two accesses to shared memory
 *
 * Included in front of every file of nt-agree-sim, those of pmix-sync/ too. Node leader and ranks
 * are one thread there; each atomic access may first hand over to the other side
 * (sim_interleave), so that they meet at any point of each other's code and not between their
 * steps alone. Relaxed accesses order nothing and are left out. What is found is what
 * sequentially consistent memory allows. Each access is also given to the trace (trace.c): a store
 * before it is made, a load with what it has read, and nobody acts between the two.
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

extern int sim_traced;
void sim_trace_store(const void *at, uint64_t value);
void sim_trace_load(const void *at, uint64_t value, int take);
void sim_trace_bits(const void *at, uint64_t bits);

/* Loads of a rank that the protocol rests on, and those of the leader behind the hold; other code
 * looks at the same words for records. */
#define SIM_IN(file) (__builtin_strstr(__FILE__, file) != 0)
#define SIM_ROLE (SIM_IN("pmix-sync/turn.h") || SIM_IN("pmix-sync/view.c"))

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_compare_exchange_strong
#undef atomic_fetch_or
#undef atomic_fetch_sub
#define SIM_LOAD(at, order, weight)                                                               \
	({                                                                                        \
		sim_point(weight);                                                                \
		__auto_type sim_value = __atomic_load_n(at, order);                               \
		if (sim_traced && SIM_ROLE)                                                       \
			sim_trace_load(at, (uint64_t)sim_value, (order) == memory_order_acquire); \
		sim_value;                                                                        \
	})
#define atomic_load(at) SIM_LOAD(at, __ATOMIC_SEQ_CST, SIM_WEIGHT_LOAD)
#define atomic_load_explicit(at, order) SIM_LOAD(at, order, SIM_WEIGHT(order))
/* Relaxed stores only clear, in memory that nobody uses. */
#define SIM_STORE(at, value, order)                                      \
	({                                                               \
		__typeof__(__atomic_load_n(at, 0)) sim_stored = (value); \
		sim_point(SIM_WEIGHT(order));                            \
		if (sim_traced && (order) != memory_order_relaxed)       \
			sim_trace_store(at, (uint64_t)sim_stored);       \
		__atomic_store_n(at, sim_stored, order);                 \
	})
#define atomic_store(at, value) SIM_STORE(at, value, __ATOMIC_SEQ_CST)
#define atomic_store_explicit(at, value, order) SIM_STORE(at, value, order)
#define atomic_compare_exchange_strong(at, was, value) \
	(sim_point(SIM_WEIGHT_ORDERED),                \
	 __atomic_compare_exchange_n(at, was, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define atomic_fetch_or(at, bits)                                                        \
	(sim_point(SIM_WEIGHT_ORDERED), sim_traced ? sim_trace_bits(at, bits) : (void)0, \
	 __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST))
#define atomic_fetch_sub(at, less) \
	(sim_point(SIM_WEIGHT_ORDERED), __atomic_fetch_sub(at, less, __ATOMIC_SEQ_CST))

#endif

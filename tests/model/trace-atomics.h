/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-atomics.h - writes down each atomic access to shared memory, in the order in which they
 *                   really happen
 *
 * Included in front of every file of pmix-sync/ and tuner/ in the traced plugin, which is built for
 * tests alone (nt-traced). One lock for all processes of a trace is held over an access and its
 * event, so the traced plugin is as slow as that is.
 */
#ifndef NT_MODEL_TRACE_ATOMICS_H
#define NT_MODEL_TRACE_ATOMICS_H

#include <stdatomic.h>
#include <stdint.h>

/* True: the place is one of which events are written, and the lock is held until the next call. */
int trace_store_begin(const void *at, uint64_t value);
int trace_load_begin(const void *at);
void trace_store_end(void);
void trace_load_end(const void *at, uint64_t value, int take);

/* Loads of a rank that the protocol rests on, and those of the leader behind the hold; other code
 * looks at the same words for records. */
#define TRACE_IN(file) (__builtin_strstr(__FILE__, file) != 0)
#define TRACE_ROLE (TRACE_IN("pmix-sync/turn.h") || TRACE_IN("pmix-sync/view.c"))

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_or
#define atomic_load_explicit(at, order)                                                          \
	({                                                                                       \
		__auto_type trace_at = (at);                                                     \
		int trace_on = TRACE_ROLE && trace_load_begin((const void *)trace_at);           \
		__auto_type trace_value = __atomic_load_n(trace_at, order);                      \
		if (trace_on)                                                                    \
			trace_load_end((const void *)trace_at, (uint64_t)(uintptr_t)trace_value, \
				       (order) == memory_order_acquire);                         \
		trace_value;                                                                     \
	})
#define atomic_load(at) atomic_load_explicit(at, memory_order_seq_cst)
/* Relaxed stores only clear, in memory that nobody uses. */
#define atomic_store_explicit(at, value, order)                                     \
	({                                                                          \
		__auto_type trace_at = (at);                                        \
		__typeof__(__atomic_load_n(trace_at, 0)) trace_value = (value);     \
		int trace_on = (order) != memory_order_relaxed &&                   \
			       trace_store_begin((const void *)trace_at,            \
						 (uint64_t)(uintptr_t)trace_value); \
		__atomic_store_n(trace_at, trace_value, order);                     \
		if (trace_on)                                                       \
			trace_store_end();                                          \
	})
#define atomic_store(at, value) atomic_store_explicit(at, value, memory_order_seq_cst)
#define atomic_fetch_or(at, bits)                                                            \
	({                                                                                   \
		__auto_type trace_at = (at);                                                 \
		int trace_on = trace_store_begin((const void *)trace_at, (uint64_t)(bits));  \
		__auto_type trace_was = __atomic_fetch_or(trace_at, bits, __ATOMIC_SEQ_CST); \
		if (trace_on)                                                                \
			trace_store_end();                                                   \
		trace_was;                                                                   \
	})

#endif

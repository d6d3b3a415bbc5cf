/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders.h - the real code of shared memory on a model of weak memory
 *
 * Included in front of every file of tests/model/orders.sh, those of pmix-sync/ and tuner/ too.
 * Each atomic access to shared memory becomes a call of the explorer (orders-explorer.c), which
 * says when it takes place and what it reads. GCC's -fsanitize=thread reports plain accesses; its
 * run-time library is not used.
 */
#ifndef NT_MODEL_ORDERS_H
#define NT_MODEL_ORDERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum model_access { MODEL_LOAD, MODEL_STORE, MODEL_CAS, MODEL_OR, MODEL_ADD };

/* An access in the source. `id`: 1 + its number, given at its first use. */
struct model_site {
	const char *file, *function, *at, *value;
	int line, order;
	enum model_access access;
	int id;
};

uint64_t model_access(struct model_site *site, const void *at, size_t bytes, uint64_t value,
		      uint64_t *expected);
void model_fence(int order);
int model_nanosleep(const struct timespec *pause, struct timespec *left);
void *model_memcpy(void *to, const void *from, size_t bytes);
void *model_memset(void *to, int value, size_t bytes);

#define memcpy model_memcpy
#define memset model_memset
#define nanosleep model_nanosleep

#define MODEL_TYPE(at) __typeof__(__atomic_load_n(at, 0))
#define MODEL_ACCESS(kind, at, value, expected, order)                                   \
	({                                                                               \
		static struct model_site site_ = { __FILE__, __func__, #at,  #value,     \
						   __LINE__, order,    kind, 0 };        \
		(MODEL_TYPE(at)) model_access(&site_, (const void *)(at), sizeof(*(at)), \
					      (uint64_t)(value), expected);              \
	})
#define MODEL_CAS_ACCESS(at, was, value, order)                                              \
	({                                                                                   \
		__typeof__(was) was_ = (was);                                                \
		uint64_t expected_ = *was_;                                                  \
		bool done_ = MODEL_ACCESS(MODEL_CAS, at, value, &expected_, order) == *was_; \
		*was_ = (__typeof__(*was_))expected_;                                        \
		done_;                                                                       \
	})

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_fetch_or
#undef atomic_fetch_sub
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_thread_fence
#define atomic_load_explicit(at, order) MODEL_ACCESS(MODEL_LOAD, at, 0, NULL, order)
#define atomic_load(at) MODEL_ACCESS(MODEL_LOAD, at, 0, NULL, memory_order_seq_cst)
#define atomic_store_explicit(at, value, order) \
	((void)MODEL_ACCESS(MODEL_STORE, at, value, NULL, order))
#define atomic_store(at, value) \
	((void)MODEL_ACCESS(MODEL_STORE, at, value, NULL, memory_order_seq_cst))
#define atomic_compare_exchange_strong(at, was, value) \
	MODEL_CAS_ACCESS(at, was, value, memory_order_seq_cst)
/* The order of a failure is relaxed wherever it is given. */
#define atomic_compare_exchange_strong_explicit(at, was, value, order, failed) \
	MODEL_CAS_ACCESS(at, was, value, order)
#define atomic_fetch_or(at, bits) MODEL_ACCESS(MODEL_OR, at, bits, NULL, memory_order_seq_cst)
#define atomic_fetch_sub(at, less) \
	MODEL_ACCESS(MODEL_ADD, at, -(int64_t)(less), NULL, memory_order_seq_cst)
#define atomic_fetch_add_explicit(at, more, order) MODEL_ACCESS(MODEL_ADD, at, more, NULL, order)
#define atomic_fetch_add(at, more) MODEL_ACCESS(MODEL_ADD, at, more, NULL, memory_order_seq_cst)
#define atomic_thread_fence(order) model_fence(order)

#endif

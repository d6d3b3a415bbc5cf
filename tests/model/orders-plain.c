/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-plain.c - what GCC's -fsanitize=thread calls at plain accesses; see orders-explorer.h */
#include "tests/model/orders-explorer.h"

#undef memcpy
#undef memset

void *model_memcpy(void *to, const void *from, size_t bytes)
{
	model_plain(from, bytes, false);
	model_plain(to, bytes, true);
	return memcpy(to, from, bytes);
}

void *model_memset(void *to, int value, size_t bytes)
{
	model_plain(to, bytes, true);
	return memset(to, value, bytes);
}

#define READ(name, bytes)                      \
	void name(const void *at);             \
	void name(const void *at)              \
	{                                      \
		model_plain(at, bytes, false); \
	}
#define WRITE(name, bytes)                    \
	void name(const void *at);            \
	void name(const void *at)             \
	{                                     \
		model_plain(at, bytes, true); \
	}
#define PLAIN(bytes)                              \
	READ(__tsan_read##bytes, bytes)           \
	WRITE(__tsan_write##bytes, bytes)         \
	READ(__tsan_unaligned_read##bytes, bytes) \
	WRITE(__tsan_unaligned_write##bytes, bytes)
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(const void *at, size_t bytes);
void __tsan_write_range(const void *at, size_t bytes);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_init(void);

void __tsan_read_range(const void *at, size_t bytes)
{
	model_plain(at, bytes, false);
}

void __tsan_write_range(const void *at, size_t bytes)
{
	model_plain(at, bytes, true);
}

void __tsan_func_entry(void *from)
{
	(void)from;
}

void __tsan_func_exit(void)
{
}

void __tsan_init(void)
{
}

/* Words of a thread's own, without a function of <stdatomic.h>. */
static const void *own(const volatile void *at)
{
	if (model_is_shared((const void *)at))
		model_bug("an access to shared memory without a function of stdatomic.h");
	return (const void *)at;
}

#define OWN(bits)                                                                                \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order); \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,      \
					 int order);                                             \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)  \
	{                                                                                        \
		(void)order;                                                                     \
		return *(const uint##bits##_t *)own(at);                                         \
	}                                                                                        \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,      \
					 int order)                                              \
	{                                                                                        \
		(void)order;                                                                     \
		*(uint##bits##_t *)own(at) = value;                                              \
	}
OWN(8)
OWN(32)
OWN(64)

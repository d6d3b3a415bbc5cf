/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simlib/reduce.h"

#include <string.h>
#include "tests/simlib/api.h"

static const struct {
	const char *name;
	size_t bytes;
} types[NT_TYPES] = {
	[NT_INT8] = { "ncclInt8", 1 },
	[NT_UINT8] = { "ncclUint8", 1 },
	[NT_INT32] = { "ncclInt32", 4 },
	[NT_UINT32] = { "ncclUint32", 4 },
	[NT_INT64] = { "ncclInt64", 8 },
	[NT_UINT64] = { "ncclUint64", 8 },
	[NT_FLOAT16] = { "ncclFloat16", 2 },
	[NT_FLOAT32] = { "ncclFloat32", 4 },
	[NT_FLOAT64] = { "ncclFloat64", 8 },
	[NT_BFLOAT16] = { "ncclBfloat16", 2 },
	[NT_FLOAT8E4M3] = { "ncclFloat8e4m3", 1 },
	[NT_FLOAT8E5M2] = { "ncclFloat8e5m2", 1 },
};

const char *nt_sim_type_name(int type)
{
	return type >= 0 && type < NT_TYPES ? types[type].name : NULL;
}

size_t nt_sim_type_bytes(int type)
{
	return types[type].bytes;
}

bool nt_sim_reduces(int type, int op)
{
	return op >= 0 && op < NT_OPS && type != NT_FLOAT16 && type < NT_FLOAT8E4M3;
}

#define REDUCE(name, type)                                                        \
	static void reduce_##name(int op, void *into, const void *from, size_t n) \
	{                                                                         \
		type *a = into;                                                   \
		const type *b = from;                                             \
                                                                                  \
		for (size_t i = 0; i < n; i++) {                                  \
			switch (op) {                                             \
			case NT_PROD: a[i] = (type)(a[i] * b[i]); break;          \
			case NT_MAX: a[i] = a[i] > b[i] ? a[i] : b[i]; break;     \
			case NT_MIN: a[i] = a[i] < b[i] ? a[i] : b[i]; break;     \
			default: a[i] = (type)(a[i] + b[i]); break;               \
			}                                                         \
		}                                                                 \
	}                                                                         \
	static void divide_##name(void *into, size_t n, unsigned by)              \
	{                                                                         \
		type *a = into;                                                   \
                                                                                  \
		for (size_t i = 0; i < n; i++)                                    \
			a[i] = (type)(a[i] / (type)by);                           \
	}

REDUCE(int8, int8_t)
REDUCE(uint8, uint8_t)
REDUCE(int32, int32_t)
REDUCE(uint32, uint32_t)
REDUCE(int64, int64_t)
REDUCE(uint64, uint64_t)
REDUCE(float32, float)
REDUCE(float64, double)

/* The upper half of a float. */
static float widen(uint16_t x)
{
	uint32_t bits = (uint32_t)x << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* To the nearest, ties to even. */
static uint16_t narrow(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if (f != f)
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void reduce_bfloat16(int op, void *into, const void *from, size_t n)
{
	uint16_t *a = into;
	const uint16_t *b = from;

	for (size_t i = 0; i < n; i++) {
		float x = widen(a[i]);
		const float y = widen(b[i]);

		reduce_float32(op, &x, &y, 1);
		a[i] = narrow(x);
	}
}

static void divide_bfloat16(void *into, size_t n, unsigned by)
{
	uint16_t *a = into;

	for (size_t i = 0; i < n; i++)
		a[i] = narrow(widen(a[i]) / (float)by);
}

static const struct {
	void (*reduce)(int op, void *into, const void *from, size_t n);
	void (*divide)(void *into, size_t n, unsigned by);
} functions[NT_TYPES] = {
	[NT_INT8] = { reduce_int8, divide_int8 },
	[NT_UINT8] = { reduce_uint8, divide_uint8 },
	[NT_INT32] = { reduce_int32, divide_int32 },
	[NT_UINT32] = { reduce_uint32, divide_uint32 },
	[NT_INT64] = { reduce_int64, divide_int64 },
	[NT_UINT64] = { reduce_uint64, divide_uint64 },
	[NT_FLOAT32] = { reduce_float32, divide_float32 },
	[NT_FLOAT64] = { reduce_float64, divide_float64 },
	[NT_BFLOAT16] = { reduce_bfloat16, divide_bfloat16 },
};

void nt_sim_reduce(int type, int op, void *into, const void *from, size_t count)
{
	functions[type].reduce(op, into, from, count);
}

void nt_sim_divide(int type, void *into, size_t count, unsigned by)
{
	functions[type].divide(into, count, by);
}

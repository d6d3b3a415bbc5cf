/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-litmus.c - does the explorer allow what C11 allows, and no more?
 *
 * Each test is known from the literature; "wrong" is the outcome that is asked for.
 */
#include "tests/model/orders-litmus.h"

static struct {
	_Atomic uint32_t x, y;
	uint32_t data;
} at;

static uint32_t r1, r2, r3, r4;

static void setup(void)
{
	r1 = r2 = r3 = r4 = 0;
}

#define STORE(word, value, order) atomic_store_explicit(&at.word, value, memory_order_##order)
#define LOAD(word, order) atomic_load_explicit(&at.word, memory_order_##order)

/* Store buffering: both loads miss the other's store. */
#define BUFFER(name, store, load)   \
	static void name##_1(void)  \
	{                           \
		STORE(x, 1, store); \
		r1 = LOAD(y, load); \
	}                           \
	static void name##_2(void)  \
	{                           \
		STORE(y, 1, store); \
		r2 = LOAD(x, load); \
	}
BUFFER(weak_buffer, release, acquire)
BUFFER(sc_buffer, seq_cst, seq_cst)

static void end_buffer(void)
{
	if (r1 == 0 && r2 == 0)
		model_wrong("neither saw the other");
}

/* Message passing: the second word is seen, and the first is not. */
#define MESSAGE(name, store, load)     \
	static void name##_1(void)     \
	{                              \
		STORE(x, 1, relaxed);  \
		STORE(y, 1, store);    \
	}                              \
	static void name##_2(void)     \
	{                              \
		r1 = LOAD(y, load);    \
		r2 = LOAD(x, relaxed); \
	}
MESSAGE(weak_message, relaxed, acquire)
MESSAGE(weak_reader, release, relaxed)
MESSAGE(message, release, acquire)

static void end_message(void)
{
	if (r1 == 1 && r2 == 0)
		model_wrong("the first word is old");
}

/* The same through a read-modify-write of a third thread. */
static void passes_on(void)
{
	atomic_fetch_add_explicit(&at.y, 1, memory_order_relaxed);
}

static void reads_sum(void)
{
	r1 = LOAD(y, acquire) == 2;
	r2 = LOAD(x, relaxed);
}

static void sum_1(void)
{
	STORE(x, 1, relaxed);
	atomic_fetch_add_explicit(&at.y, 1, memory_order_release);
}

/* A fence in place of acquire. */
static void fenced_reader(void)
{
	r1 = LOAD(y, relaxed);
	atomic_thread_fence(memory_order_acquire);
	r2 = LOAD(x, relaxed);
}

/* One word is read twice: the second time older. */
static void writes_twice(void)
{
	STORE(x, 1, relaxed);
	STORE(x, 2, relaxed);
}

static void reads_twice(void)
{
	r1 = LOAD(x, relaxed);
	r2 = LOAD(x, relaxed);
}

static void end_older(void)
{
	if (r1 > r2)
		model_wrong("the second is older");
}

/* Two read-modify-writes, and one is lost. */
static void adds(void)
{
	atomic_fetch_add_explicit(&at.x, 1, memory_order_relaxed);
}

static void end_added(void)
{
	if (LOAD(x, relaxed) != 2)
		model_wrong("one is lost");
}

/* Plain memory behind a word. */
static void writes_data(void)
{
	model_plain(&at.data, sizeof(at.data), true);
	STORE(y, 1, release);
}

static void reads_data(void)
{
	if (LOAD(y, acquire) == 1)
		model_plain(&at.data, sizeof(at.data), false);
}

static void reads_data_early(void)
{
	if (LOAD(y, relaxed) == 1)
		model_plain(&at.data, sizeof(at.data), false);
}

static void nothing(void)
{
}

const struct model_litmus model_litmus[] = {
	{ { "store buffering, release and acquire",
	    setup,
	    { weak_buffer_1, weak_buffer_2 },
	    end_buffer },
	  true },
	{ { "store buffering, seq_cst", setup, { sc_buffer_1, sc_buffer_2 }, end_buffer }, false },
	{ { "a message, relaxed store", setup, { weak_message_1, weak_message_2 }, end_message },
	  true },
	{ { "a message, relaxed load", setup, { weak_reader_1, weak_reader_2 }, end_message },
	  true },
	{ { "a message", setup, { message_1, message_2 }, end_message }, false },
	{ { "a message, acquire fence", setup, { message_1, fenced_reader }, end_message }, false },
	{ { "a message through a third thread",
	    setup,
	    { sum_1, passes_on, reads_sum },
	    end_message },
	  false },
	{ { "one word is read twice", setup, { writes_twice, reads_twice }, end_older }, false },
	{ { "two additions", setup, { adds, adds }, end_added }, false },
	{ { "plain memory", setup, { writes_data, reads_data }, nothing }, false },
	{ { "plain memory, relaxed load", setup, { writes_data, reads_data_early }, nothing },
	  true },
};

const unsigned model_litmus_count = sizeof(model_litmus) / sizeof(model_litmus[0]);

void model_litmus_memory(void)
{
	model_memory(&at, sizeof(at));
}

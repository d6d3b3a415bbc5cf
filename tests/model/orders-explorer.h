/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-explorer.h - every execution that C11 allows, of a few threads
 *
 * The model: each word has its stores in one order (the order in which they are made). A thread has
 * a view, which says up to which store of each word it must have seen; a load reads any store that
 * is not before that. A release store carries its thread's view, and an acquire load that reads it
 * takes it over; a read-modify-write reads the last store and passes on what that carried. A
 * seq_cst load also reads nothing before the last seq_cst store of its word. A plain access that is
 * not ordered with another one by such views is a race, and wrong.
 *
 * All choices (which thread is next, what is read) are searched depth-first, each run from the
 * start. Threads whose next accesses are to different words, or only read, can go in any order, so
 * one is searched (sleep sets).
 *
 * Not in it: loads that read what is stored later in time; stores that come before earlier ones of
 * another thread in their word's order; seq_cst fences. The first needs a load to be delayed beyond
 * a store of its thread: nothing here stores what does not follow from what was read. The second
 * needs two threads that store to one word without reading it.
 *
 * Threads:  one; those of the model are its coroutines.
 * Memory:   static, but for the stacks.
 */
#ifndef NT_MODEL_ORDERS_EXPLORER_H
#define NT_MODEL_ORDERS_EXPLORER_H

#include "tests/model/orders.h"

#define MODEL_THREADS 3
#define MODEL_SITES 256

struct model_case {
	const char *name;
	void (*setup)(void); /* memory is zero */
	void (*thread[MODEL_THREADS])(void); /* NULL: no more */
	void (*end)(void); /* model_wrong() if what the threads have noted is wrong */
};

struct model_count {
	uint64_t runs, pruned;
	unsigned steps; /* most in one run */
	const char *wrong; /* NULL: nothing; the search then went to its end */
};

/* The memory that all threads share. */
void model_memory(void *from, size_t bytes);
/* A choice of the scenario's own: 0 to count - 1. */
unsigned model_choose(unsigned count);
/* Wait for a store that this thread has not seen yet; a run may end here. */
void model_wait(const void *at);
/* End the run and the search. */
_Noreturn void model_wrong(const char *what);

/* A plain access; of memory that is not shared, nothing. */
void model_plain(const void *at, size_t bytes, bool writes);
bool model_is_shared(const void *at);
/* The explorer cannot go on: it lacks something, or room. */
_Noreturn void model_bug(const char *what);

/* Search a scenario. */
struct model_count model_search(const struct model_case *scenario, uint64_t limit, bool print);
/* Of orders.c, with their memory. */
extern const struct model_case model_cases[];
extern const unsigned model_case_count;
void model_cases_memory(void);

/* Accesses seen so far, by number from 1. NULL: no more. */
const struct model_site *model_site(int number);
/* From now on, the accesses of this number have this order. */
void model_weaken(int number, int order);
/* Did a thread of the last search come there? */
bool model_used(int number);
const char *model_order_name(int order);
/* The word accessed. */
const char *model_word(const struct model_site *site);

#endif

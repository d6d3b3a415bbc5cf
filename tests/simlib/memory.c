/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simlib/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GRAIN 512

enum state { WRITTEN, COMPUTED, STALE };

struct grain {
	uint32_t tick;
	uint8_t state;
};

struct block {
	char *at;
	size_t bytes;
	struct grain *grain;
	struct block *next;
};

static struct {
	pthread_mutex_t lock;
	struct block *first; /* lock */
	size_t used; /* lock */
	uint32_t tick; /* lock */
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER, .tick = 1 };

static size_t grains_of(size_t bytes)
{
	return (bytes + GRAIN - 1) / GRAIN;
}

void *nt_sim_memory_new(size_t bytes)
{
	struct block *b = calloc(1, sizeof(*b));
	void *at = MAP_FAILED;

	if (b && bytes)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at != MAP_FAILED)
		b->grain = calloc(grains_of(bytes), sizeof(b->grain[0]));
	if (at == MAP_FAILED || !b->grain) {
		free(b);
		return NULL;
	}
	b->at = at;
	b->bytes = bytes;
	pthread_mutex_lock(&memory.lock);
	b->next = memory.first;
	memory.first = b;
	memory.used += bytes;
	pthread_mutex_unlock(&memory.lock);
	return at;
}

void nt_sim_memory_free(void *at)
{
	struct block **where = &memory.first;
	struct block *b;

	pthread_mutex_lock(&memory.lock);
	while (*where && (*where)->at != (char *)at)
		where = &(*where)->next;
	b = *where;
	if (b) {
		*where = b->next;
		memory.used -= b->bytes;
		munmap(b->at, b->bytes);
		free(b->grain);
		free(b);
	}
	pthread_mutex_unlock(&memory.lock);
}

size_t nt_sim_memory_used(void)
{
	size_t used;

	pthread_mutex_lock(&memory.lock);
	used = memory.used;
	pthread_mutex_unlock(&memory.lock);
	return used;
}

/* lock: the grains of a range; false if it is not device memory. */
static bool find(const void *p, size_t bytes, struct grain **first, size_t *count)
{
	for (struct block *b = memory.first; b; b = b->next) {
		size_t offset = (size_t)((const char *)p - b->at);

		if ((const char *)p < b->at || offset >= b->bytes)
			continue;
		if (bytes > b->bytes - offset)
			bytes = b->bytes - offset;
		*first = &b->grain[offset / GRAIN];
		*count = grains_of(offset % GRAIN + bytes);
		return true;
	}
	return false;
}

struct nt_sim_look nt_sim_memory_look(const void *from, size_t bytes)
{
	struct nt_sim_look look = { .newest = 0 };
	struct grain *g;
	size_t n;

	pthread_mutex_lock(&memory.lock);
	if (!find(from, bytes, &g, &n)) {
		look.written = true;
		n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		look.newest = g[i].tick > look.newest ? g[i].tick : look.newest;
		look.written = look.written || g[i].state == WRITTEN;
		look.stale = look.stale || g[i].state == STALE;
	}
	pthread_mutex_unlock(&memory.lock);
	return look;
}

static uint32_t mark(const void *to, size_t bytes, enum state state)
{
	struct grain *g;
	uint32_t tick;
	size_t n;

	pthread_mutex_lock(&memory.lock);
	tick = memory.tick++;
	if (bytes && find(to, bytes, &g, &n)) {
		for (size_t i = 0; i < n; i++)
			g[i] = (struct grain){ .tick = tick, .state = (uint8_t)state };
	}
	pthread_mutex_unlock(&memory.lock);
	return tick;
}

void nt_sim_memory_wrote(const void *to, size_t bytes)
{
	mark(to, bytes, WRITTEN);
}

uint32_t nt_sim_memory_computed(const void *to, size_t bytes)
{
	return mark(to, bytes, COMPUTED);
}

void nt_sim_memory_stale(const void *to, size_t bytes)
{
	mark(to, bytes, STALE);
}

void nt_sim_memory_expect(const void *from, size_t bytes, const char *who)
{
	if (!nt_sim_memory_look(from, bytes).stale)
		return;
	fprintf(stderr,
		"simulated NCCL: %s reads a result that was not computed again; set "
		"NT_SIM_COMPUTE=always\n",
		who);
	fflush(NULL);
	_Exit(1);
}

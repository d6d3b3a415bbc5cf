/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - each place has two pages: one to use, and one that faults */
#include "tests/fake/guard.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN 0xa5
#define MARGIN 64

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void unmap(void *pages)
{
	munmap(pages, NT_GUARD_PLACES * 2 * (size_t)sysconf(_SC_PAGESIZE));
}

static void make_key(void)
{
	pthread_key_create(&key, unmap);
}

static unsigned char *end_of(enum nt_guard place)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages;

	pthread_once(&once, make_key);
	pages = pthread_getspecific(key);
	if (!pages) {
		pages = mmap(NULL, NT_GUARD_PLACES * 2 * page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED) {
			perror("nt-fake-nccl: mmap");
			abort();
		}
		for (size_t i = 0; i < NT_GUARD_PLACES; i++)
			mprotect(pages + (2 * i + 1) * page, page, PROT_NONE);
		pthread_setspecific(key, pages);
	}
	return pages + (2 * (size_t)place + 1) * page;
}

void *nt_guard_take(enum nt_guard place, size_t bytes)
{
	unsigned char *at = end_of(place) - bytes;

	memset(at - MARGIN, PATTERN, MARGIN);
	memset(at, 0, bytes);
	return at;
}

int nt_guard_check(enum nt_guard place, size_t bytes)
{
	const unsigned char *at = end_of(place) - bytes;

	for (int i = 1; i <= MARGIN; i++) {
		if (at[-i] != PATTERN)
			return -1;
	}
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* vtime.c - see vtime.h */
#include "tests/programs/vtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)
#define MAX_HELPERS 256

struct event {
	uint64_t ns, order;
	void (*fire)(void *arg);
	void *arg;
};

struct nt_fiber {
	ucontext_t context;
	void *stack;
	void (*body)(void *arg);
	void *arg;
	bool ended;
};

/* Somebody who waits for a condition, or for time to pass. */
struct waiter {
	const pthread_cond_t *cond; /* NULL: for time alone */
	uint64_t number; /* of this wait: what woke an older one is late */
	bool waits, signalled;
};

struct helper {
	struct waiter waiter;
	sem_t go;
	void *(*start)(void *arg);
	void *arg;
	unsigned node;
};

struct wake {
	struct helper *helper;
	uint64_t number;
};

static struct {
	bool on;
	uint64_t now_ns, order;
	struct event *heap;
	size_t events, room;
	ucontext_t loop; /* who resumed the fiber that runs */
	struct nt_fiber *fiber;
	sem_t back; /* a helper's turn is over */
	struct helper *helper[MAX_HELPERS];
	unsigned helpers;
	unsigned node;
	struct waiter main;
} v;

static _Thread_local struct helper *self;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "nt-programs: %s\n", what);
	_exit(1);
}

void nt_vtime_begin(void)
{
	if (!v.on && sem_init(&v.back, 0, 0) < 0)
		fail("no semaphore");
	v.on = true;
	v.now_ns = v.order = 0;
	v.events = 0;
}

bool nt_vtime_is_on(void)
{
	return v.on;
}

uint64_t nt_vtime_ns(void)
{
	return v.now_ns;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

void nt_vtime_at(uint64_t ns, void (*fire)(void *arg), void *arg)
{
	struct event e = { ns > v.now_ns ? ns : v.now_ns, v.order++, fire, arg };
	size_t at = v.events++;

	if (v.events > v.room) {
		v.room = v.room ? 2 * v.room : 1024;
		v.heap = realloc(v.heap, v.room * sizeof(v.heap[0]));
		if (!v.heap)
			fail("out of memory");
	}
	for (; at > 0 && before(&e, &v.heap[(at - 1) / 2]); at = (at - 1) / 2)
		v.heap[at] = v.heap[(at - 1) / 2];
	v.heap[at] = e;
}

static struct event take_first(void)
{
	struct event first = v.heap[0], last = v.heap[--v.events];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= v.events)
			break;
		if (child + 1 < v.events && before(&v.heap[child + 1], &v.heap[child]))
			child++;
		if (!before(&v.heap[child], &last))
			break;
		v.heap[at] = v.heap[child];
		at = child;
	}
	v.heap[at] = last;
	return first;
}

bool nt_vtime_run(const bool *done)
{
	while (!*done) {
		struct event e;

		if (!v.events)
			return false;
		e = take_first();
		v.now_ns = e.ns;
		e.fire(e.arg);
	}
	return true;
}

/* Fibers. */

static void resume(void *arg)
{
	struct nt_fiber *f = arg;

	v.fiber = f;
	if (swapcontext(&v.loop, &f->context) < 0)
		fail("cannot switch to a fiber");
	v.fiber = NULL;
	if (f->ended) {
		munmap(f->stack, STACK_BYTES);
		free(f);
	}
}

static void fiber_main(void)
{
	struct nt_fiber *f = v.fiber;

	f->body(f->arg);
	f->ended = true;
	setcontext(&v.loop);
}

struct nt_fiber *nt_fiber_start(void (*body)(void *arg), void *arg)
{
	struct nt_fiber *f = calloc(1, sizeof(*f));

	if (!f || getcontext(&f->context) < 0)
		fail("out of memory");
	f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (f->stack == MAP_FAILED)
		fail("out of memory");
	f->body = body;
	f->arg = arg;
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, fiber_main, 0);
	nt_vtime_at(v.now_ns, resume, f);
	return f;
}

struct nt_fiber *nt_fiber_self(void)
{
	return self ? NULL : v.fiber;
}

void nt_fiber_block(void)
{
	if (swapcontext(&v.fiber->context, &v.loop) < 0)
		fail("cannot leave a fiber");
}

void nt_fiber_wake(struct nt_fiber *fiber, uint64_t at_ns)
{
	nt_vtime_at(at_ns, resume, fiber);
}

void nt_fiber_sleep(uint64_t until_ns)
{
	if (until_ns <= v.now_ns)
		return;
	/* Nobody else is due: no need to leave. */
	if (!v.events || v.heap[0].ns > until_ns) {
		v.now_ns = until_ns;
		return;
	}
	nt_fiber_wake(v.fiber, until_ns);
	nt_fiber_block();
}

/* Helpers. */

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		if (errno != EINTR)
			fail("cannot wait");
}

static void hand_over(struct helper *h)
{
	struct nt_fiber *fiber = v.fiber;

	v.fiber = NULL;
	sem_post(&h->go);
	wait_for(&v.back);
	v.fiber = fiber;
}

static void wake_helper(void *arg)
{
	struct wake *w = arg;
	struct helper *h = w->helper;
	bool due = h->waiter.waits && h->waiter.number == w->number;

	free(w);
	if (!due)
		return;
	h->waiter.waits = false;
	hand_over(h);
}

static void wake_at(struct helper *h, uint64_t ns)
{
	struct wake *w = malloc(sizeof(*w));

	if (!w)
		fail("out of memory");
	*w = (struct wake){ h, h->waiter.number };
	nt_vtime_at(ns, wake_helper, w);
}

static void begin_wait(struct waiter *w, const pthread_cond_t *cond)
{
	w->cond = cond;
	w->number++;
	w->waits = true;
	w->signalled = false;
}

/* The helper that runs. */
static void leave_turn(const pthread_cond_t *cond, uint64_t until_ns)
{
	begin_wait(&self->waiter, cond);
	if (until_ns != NT_VTIME_NEVER)
		wake_at(self, until_ns);
	sem_post(&v.back);
	wait_for(&self->go);
}

static void *helper_main(void *arg)
{
	void *result;

	self = arg;
	wait_for(&self->go);
	result = self->start(self->arg);
	sem_post(&v.back);
	return result;
}

int nt_vtime_helper_start(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			  void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct helper *h = calloc(1, sizeof(*h));
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	if (!h || v.helpers == MAX_HELPERS || sem_init(&h->go, 0, 0) < 0)
		fail("too many threads");
	h->start = start;
	h->arg = arg;
	h->node = v.node;
	rc = real(thread, attr, helper_main, h);
	if (rc != 0)
		return rc;
	v.helper[v.helpers++] = h;
	begin_wait(&h->waiter, NULL);
	wake_at(h, v.now_ns);
	return 0;
}

bool nt_vtime_is_helper(void)
{
	return self != NULL;
}

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

void nt_vtime_sleep(uint64_t until_ns)
{
	bool done = false;

	if (self) {
		leave_turn(NULL, until_ns);
	} else if (v.fiber) {
		nt_fiber_sleep(until_ns);
	} else {
		nt_vtime_at(until_ns, set_flag, &done);
		nt_vtime_run(&done);
	}
}

int nt_vtime_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns)
{
	static bool nobody;
	struct waiter *w = self ? &self->waiter : &v.main;
	bool late = false;

	if (!self && v.fiber)
		fail("a rank waits for a condition");
	pthread_mutex_unlock(mutex);
	if (self) {
		leave_turn(cond, until_ns);
	} else {
		begin_wait(w, cond);
		if (until_ns != NT_VTIME_NEVER)
			nt_vtime_at(until_ns, set_flag, &late);
		while (!w->signalled && !late && v.events) {
			struct event e = take_first();

			v.now_ns = e.ns;
			e.fire(e.arg);
		}
		/* The event would write here later. */
		for (size_t i = 0; i < v.events; i++)
			if (v.heap[i].arg == &late)
				v.heap[i].arg = &nobody;
	}
	pthread_mutex_lock(mutex);
	return w->signalled ? 0 : ETIMEDOUT;
}

void nt_vtime_signal(const pthread_cond_t *cond)
{
	if (v.main.waits && v.main.cond == cond)
		v.main.signalled = true;
	for (unsigned i = 0; i < v.helpers; i++) {
		struct helper *h = v.helper[i];

		if (!h->waiter.waits || h->waiter.cond != cond || h->waiter.signalled)
			continue;
		h->waiter.signalled = true;
		wake_at(h, v.now_ns);
	}
}

void nt_vtime_set_node(unsigned node)
{
	v.node = node;
}

unsigned nt_vtime_node(void)
{
	return self ? self->node : v.node;
}

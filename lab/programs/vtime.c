/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/vtime.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)
#define HELPER_STACK_BYTES (8u << 20) /* as threads have it */
#define MAX_HELPERS 4096 /* with those that only show that a process may start one */

struct event {
	uint64_t ns, order;
	void (*fire)(void *arg);
	void *arg;
};

/* Somebody who waits for a condition, or for time to pass. */
struct waiter {
	const pthread_cond_t *cond; /* NULL: for time alone */
	uint64_t number; /* of this wait: what woke an older one is late */
	bool waits, signalled;
};

struct helper {
	struct waiter waiter;
	struct nt_fiber *fiber;
	void *(*start)(void *arg);
	void *arg;
	unsigned process;
};

struct nt_fiber {
	ucontext_t context; /* where it begins */
	jmp_buf left; /* where it left last */
	bool begun;
	void *stack;
	size_t stack_bytes;
	void (*body)(void *arg);
	void *arg;
	struct helper *helper; /* that it is; NULL: a rank */
	bool ended;
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
	jmp_buf loop; /* who resumed the fiber that runs */
	struct nt_fiber *fiber;
	struct helper *helper[MAX_HELPERS];
	unsigned helpers;
	unsigned process;
	struct waiter main;
} v;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "nt-programs: %s\n", what);
	_exit(1);
}

void nt_vtime_begin(void)
{
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

/* To a fiber. Only at first by ucontext, whose switches set the signal mask by a system call. */
static _Noreturn void enter(struct nt_fiber *f)
{
	if (f->begun)
		_longjmp(f->left, 1);
	f->begun = true;
	setcontext(&f->context);
	fail("cannot switch to a fiber");
}

static void resume(void *arg)
{
	struct nt_fiber *f = arg;

	v.fiber = f;
	if (_setjmp(v.loop) == 0)
		enter(f);
	f = v.fiber;
	v.fiber = NULL;
	if (f->ended) {
		munmap(f->stack, f->stack_bytes);
		free(f);
	}
}

static void fiber_main(void)
{
	struct nt_fiber *f = v.fiber;

	f->body(f->arg);
	f->ended = true;
	_longjmp(v.loop, 1);
}

static struct nt_fiber *new_fiber(void (*body)(void *arg), void *arg, size_t stack_bytes)
{
	struct nt_fiber *f = calloc(1, sizeof(*f));

	if (!f || getcontext(&f->context) < 0)
		fail("out of memory");
	f->stack_bytes = stack_bytes;
	f->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->stack == MAP_FAILED)
		fail("out of memory");
	f->body = body;
	f->arg = arg;
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = stack_bytes;
	makecontext(&f->context, fiber_main, 0);
	return f;
}

struct nt_fiber *nt_fiber_start(void (*body)(void *arg), void *arg)
{
	struct nt_fiber *f = new_fiber(body, arg, STACK_BYTES);

	nt_vtime_at(v.now_ns, resume, f);
	return f;
}

struct nt_fiber *nt_fiber_self(void)
{
	return v.fiber;
}

static struct helper *self(void)
{
	return v.fiber ? v.fiber->helper : NULL;
}

void nt_fiber_block(void)
{
	if (_setjmp(v.fiber->left) == 0)
		_longjmp(v.loop, 1);
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

static void wake_helper(void *arg)
{
	struct wake *w = arg;
	struct helper *h = w->helper;
	bool due = h->waiter.waits && h->waiter.number == w->number;

	free(w);
	if (!due)
		return;
	h->waiter.waits = false;
	resume(h->fiber);
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
static void leave_turn(struct helper *h, const pthread_cond_t *cond, uint64_t until_ns)
{
	begin_wait(&h->waiter, cond);
	if (until_ns != NT_VTIME_NEVER)
		wake_at(h, until_ns);
	nt_fiber_block();
}

static void helper_main(void *arg)
{
	struct helper *h = arg;

	h->start(h->arg);
}

void nt_vtime_helper_start(pthread_t *thread, void *(*start)(void *), void *arg)
{
	struct helper *h = calloc(1, sizeof(*h));

	if (!h || v.helpers == MAX_HELPERS)
		fail("too many threads");
	h->start = start;
	h->arg = arg;
	h->process = v.process;
	h->fiber = new_fiber(helper_main, h, HELPER_STACK_BYTES);
	h->fiber->helper = h;
	v.helper[v.helpers++] = h;
	*thread = (pthread_t)h;
	begin_wait(&h->waiter, NULL);
	wake_at(h, v.now_ns);
}

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

void nt_vtime_sleep(uint64_t until_ns)
{
	bool done = false;

	if (self()) {
		leave_turn(self(), NULL, until_ns);
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
	struct helper *h = self();
	struct waiter *w = h ? &h->waiter : &v.main;
	bool late = false;

	if (!h && v.fiber)
		fail("a rank waits for a condition");
	pthread_mutex_unlock(mutex);
	if (h) {
		leave_turn(h, cond, until_ns);
	} else {
		begin_wait(w, cond);
		if (until_ns != NT_VTIME_NEVER)
			nt_vtime_at(until_ns, set_flag, &late);
		while (!w->signalled && !late && v.events) {
			struct event e = take_first();

			v.now_ns = e.ns;
			e.fire(e.arg);
		}
		w->waits = false;
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

void nt_vtime_set_process(unsigned process)
{
	v.process = process;
}

unsigned nt_vtime_process(void)
{
	return self() ? self()->process : v.process;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - shared memory, and barriers on futexes: with more ranks than cores no rank may spin */
#include "tests/fake/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "contract/coll.h"
#include "tests/fake/wire_memory.h"

#define SLICE_NS 50000000 /* largest delay until a waiting rank sees the alarm */
#define LOCK_S 3

struct nt_wire {
	struct wire_memory *memory;
	char path[PATH_MAX]; /* empty: no file */
	unsigned timeout_s;
	struct nt_wire_comm comm[NT_MAX_COMMS + 1];
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	struct timespec slice = { .tv_nsec = SLICE_NS };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &slice, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static struct nt_wire *map(int fd, unsigned ranks, unsigned timeout_s, struct nt_error *err)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	struct nt_wire *w = calloc(1, sizeof(*w));

	if (!w) {
		nt_error_set(err, "out of memory");
		return NULL;
	}
	w->timeout_s = timeout_s;
	w->memory = mmap(NULL, sizeof(*w->memory), PROT_READ | PROT_WRITE, flags | MAP_NORESERVE,
			 fd, 0);
	if (w->memory == MAP_FAILED) {
		nt_error_set(err, "cannot map the wire: %m");
		free(w);
		return NULL;
	}
	atomic_store(&w->memory->ranks, ranks);
	for (int i = 0; i <= NT_MAX_COMMS; i++)
		w->comm[i] = (struct nt_wire_comm){ .wire = w, .memory = &w->memory->comm[i] };
	return w;
}

struct nt_wire *nt_wire_create(unsigned ranks, unsigned timeout_s, struct nt_error *err)
{
	return map(-1, ranks, timeout_s, err);
}

struct nt_wire *nt_wire_open(const char *dir, const char *name, unsigned ranks, unsigned processes,
			     unsigned timeout_s, struct nt_error *err)
{
	struct nt_wire *w = NULL;
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
		nt_error_set(err, "path of the wire is too long");
		return NULL;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct wire_memory)) < 0)
		nt_error_set(err, "cannot make %s: %m", path);
	else
		w = map(fd, ranks, timeout_s, err);
	if (fd >= 0)
		close(fd);
	if (!w)
		return NULL;
	memcpy(w->path, path, sizeof(path));
	if (atomic_fetch_add(&w->memory->attached, 1) + 1 == processes) {
		unlink(path);
		w->path[0] = 0;
	}
	return w;
}

void nt_wire_unlink(const struct nt_wire *w)
{
	if (w->path[0])
		unlink(w->path);
}

void nt_wire_close(struct nt_wire *w)
{
	if (!w)
		return;
	/* If not all processes arrive, one that leaves removes the name. */
	nt_wire_unlink(w);
	munmap(w->memory, sizeof(*w->memory));
	free(w);
}

void *nt_wire_report(struct nt_wire *w, unsigned rank)
{
	return w->memory->report[rank];
}

void nt_wire_report_done(struct nt_wire *w)
{
	atomic_fetch_add(&w->memory->reported, 1);
	futex_wake(&w->memory->reported);
}

void nt_wire_say_busy(struct nt_wire *w, unsigned look)
{
	atomic_store(&w->memory->busy[look], 1);
}

bool nt_wire_is_busy(const struct nt_wire *w, unsigned look)
{
	return atomic_load(&w->memory->busy[look]) != 0;
}

void nt_wire_hello(struct nt_wire *w, unsigned rank, const char *node, const char *launch,
		   uint64_t world_id)
{
	snprintf(w->memory->launch[rank], sizeof(w->memory->launch[rank]), "%s", launch);
	snprintf(w->memory->node[rank], sizeof(w->memory->node[rank]), "%s", node);
	if (rank == 0)
		w->memory->world = world_id;
}

const char *nt_wire_node(const struct nt_wire *w, unsigned rank)
{
	return w->memory->node[rank];
}

const char *nt_wire_launch(const struct nt_wire *w, unsigned rank)
{
	return w->memory->launch[rank];
}

uint64_t nt_wire_world(const struct nt_wire *w)
{
	return w->memory->world;
}

/* Its holder only loads and stores, for microseconds. One that was killed meanwhile never returns
 * it: the others take it from that ticket. */
static void lock(struct wire_memory *m)
{
	uint32_t ticket = atomic_fetch_add(&m->tickets, 1) + 1;
	uint32_t holder = 0;
	double until_s = 0;

	for (;;) {
		uint32_t now = 0;

		if (atomic_compare_exchange_strong(&m->lock, &now, ticket))
			return;
		if (now != holder)
			until_s = now_s() + LOCK_S;
		else if (now_s() > until_s &&
			 atomic_compare_exchange_strong(&m->lock, &now, ticket))
			return;
		holder = now;
		usleep(20);
	}
}

static void unlock(struct wire_memory *m)
{
	atomic_store(&m->lock, 0);
}

struct nt_wire_comm *nt_wire_comm(struct nt_wire *w, uint64_t id, uint32_t life, unsigned ranks)
{
	struct wire_comm *comm = w->memory->comm;
	unsigned found = 0;

	lock(w->memory);
	for (unsigned i = NT_MAX_COMMS; id && i > 0; i--) {
		if (atomic_load(&comm[i].id) == id && comm[i].life == life) {
			found = i;
			break;
		}
		if (!atomic_load(&comm[i].id))
			found = i;
	}
	if (found) {
		atomic_store(&comm[found].id, id);
		comm[found].life = life;
	}
	unlock(w->memory);
	if (id && !found)
		return NULL;
	atomic_store(&comm[found].ranks, ranks);
	return &w->comm[found];
}

static void clear_meet(struct wire_meet *m, unsigned ranks)
{
	atomic_store(&m->arrived, 0);
	atomic_store(&m->turn, 0);
	for (unsigned r = 0; r < ranks; r++)
		atomic_store(&m->came[r], 0);
}

void nt_wire_leave(struct nt_wire_comm *c)
{
	struct wire_memory *m = c->wire->memory;
	struct wire_comm *mem = c->memory;
	unsigned ranks = atomic_load(&mem->ranks);

	lock(m);
	if (++mem->left == ranks) {
		clear_meet(&mem->host, ranks);
		clear_meet(&mem->gpu, ranks);
		memset(mem->cursor, 0, sizeof(mem->cursor));
		for (unsigned r = 0; r < ranks; r++) {
			for (unsigned i = 0; i < NT_WIRE_RING; i++)
				atomic_store(&mem->ring[r][i].tag, 0);
		}
		atomic_store(&mem->aborted, false);
		mem->left = 0;
		atomic_store(&mem->id, 0);
	}
	unlock(m);
}

void nt_wire_abort(struct nt_wire_comm *c)
{
	atomic_store(&c->memory->aborted, true);
}

static bool alarmed(const struct nt_wire *w)
{
	return atomic_load(&w->memory->alarm) != 0;
}

/* The first rank to find a difference describes it. */
static void describe(char *out, size_t bytes, unsigned rank, const struct nt_wire_task *t)
{
	char size[24];

	if (t->connect)
		snprintf(out, bytes, "rank %u %s/%s (makes connections)", rank,
			 nt_algo_name(t->algo), nt_proto_name(t->proto));
	else
		snprintf(out, bytes, "rank %u %s%s/%s x%u/%u %s %s", rank,
			 t->symmetric ? "symmetric " : "", nt_algo_name(t->algo),
			 nt_proto_name(t->proto), t->channels, t->chunk_bytes,
			 nt_coll_name(t->coll), nt_size_text(t->bytes, size, sizeof(size)));
}

static void raise_alarm(struct nt_wire_comm *c, uint64_t op, unsigned a, unsigned b, unsigned task)
{
	struct wire_memory *m = c->wire->memory;
	struct wire_comm *mem = c->memory;
	char one[96], other[96];
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&m->alarm, &none, 1))
		return;
	describe(one, sizeof(one), a, &mem->ring[a][op % NT_WIRE_RING].task[task]);
	describe(other, sizeof(other), b, &mem->ring[b][op % NT_WIRE_RING].task[task]);
	snprintf(m->alarm_text, sizeof(m->alarm_text),
		 "MISMATCH comm %016" PRIx64 " seq %" PRIu64 " task %u of %u and %u: %s %s",
		 atomic_load(&mem->id), op, task, mem->ring[a][op % NT_WIRE_RING].tasks,
		 mem->ring[b][op % NT_WIRE_RING].tasks, one, other);
	atomic_store(&m->alarm, 2);
}

static bool same_task(const struct nt_wire_task *a, const struct nt_wire_task *b)
{
	return a->bytes == b->bytes && a->coll == b->coll && a->algo == b->algo &&
	       a->proto == b->proto && a->channels == b->channels && a->symmetric == b->symmetric &&
	       a->run == b->run && a->connect == b->connect && a->chunk_bytes == b->chunk_bytes &&
	       a->chunk_rest == b->chunk_rest && a->cap == b->cap;
}

/* Compares two ranks' published operations; both must have been published. */
static bool same_entry(struct nt_wire_comm *c, uint64_t op, unsigned a, unsigned b)
{
	const struct wire_entry *x = &c->memory->ring[a][op % NT_WIRE_RING];
	const struct wire_entry *y = &c->memory->ring[b][op % NT_WIRE_RING];

	for (unsigned i = 0; i < x->tasks && i < y->tasks; i++) {
		if (!same_task(&x->task[i], &y->task[i])) {
			raise_alarm(c, op, a, b, i);
			return false;
		}
	}
	if (x->tasks == y->tasks)
		return true;
	raise_alarm(c, op, a, b, x->tasks < y->tasks ? x->tasks : y->tasks);
	return false;
}

enum nt_wire_end nt_wire_publish(struct nt_wire_comm *c, unsigned rank, uint64_t op,
				 const struct nt_wire_task *task, unsigned tasks)
{
	struct wire_entry *e = &c->memory->ring[rank][op % NT_WIRE_RING];
	unsigned ranks = atomic_load(&c->memory->ranks);

	memset(e->task, 0, sizeof(e->task));
	memcpy(e->task, task, tasks * sizeof(task[0]));
	e->tasks = tasks;
	/* Sequentially consistent, as the loads below: at least one of two ranks sees the other. */
	atomic_store(&e->tag, op + 1);
	for (unsigned r = 0; r < ranks; r++) {
		struct wire_entry *other = &c->memory->ring[r][op % NT_WIRE_RING];

		if (r != rank && atomic_load(&other->tag) == op + 1)
			same_entry(c, op, rank, r);
	}
	return alarmed(c->wire) ? NT_WIRE_MISMATCH : NT_WIRE_OK;
}

/* quit, aborted: NULL for a wait that they do not end. */
static enum nt_wire_end wait_turn(const struct nt_wire *w, _Atomic uint32_t *turn, uint32_t seen,
				  _Atomic bool *quit, _Atomic bool *aborted)
{
	double until_s = now_s() + w->timeout_s;

	while (atomic_load_explicit(turn, memory_order_acquire) == seen) {
		if (alarmed(w))
			return NT_WIRE_MISMATCH;
		if ((quit && atomic_load(quit)) || (aborted && atomic_load(aborted)))
			return NT_WIRE_QUIT;
		if (now_s() > until_s)
			return NT_WIRE_GONE;
		futex_wait(turn, seen);
	}
	return alarmed(w) ? NT_WIRE_MISMATCH : NT_WIRE_OK;
}

static void next_turn(struct wire_meet *m, uint32_t turn)
{
	atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
	atomic_store_explicit(&m->turn, turn + 1, memory_order_release);
	futex_wake(&m->turn);
}

enum nt_wire_end nt_wire_barrier(struct nt_wire_comm *c, unsigned rank)
{
	struct wire_meet *m = &c->memory->host;
	uint32_t turn = atomic_load(&m->turn);
	enum nt_wire_end end;

	if (atomic_load(&c->memory->aborted))
		return NT_WIRE_QUIT;
	atomic_fetch_add(&m->came[rank], 1);
	if (atomic_fetch_add(&m->arrived, 1) + 1 == atomic_load(&c->memory->ranks))
		next_turn(m, turn);
	end = wait_turn(c->wire, &m->turn, turn, NULL, &c->memory->aborted);
	/* Threads of one process may synchronise through another process, which the thread
	 * sanitizer does not see: these accesses order them as well. */
	for (unsigned r = 0; r < atomic_load(&c->memory->ranks); r++)
		atomic_load(&m->came[r]);
	return end;
}

/* The last rank to arrive compares all ranks' operations again and determines the duration. */
static void resolve(struct nt_wire_comm *c, const struct nt_wire_call *call,
		    struct nt_wire_result *r)
{
	struct wire_comm *mem = c->memory;
	unsigned ranks = atomic_load(&mem->ranks);
	const struct wire_entry *e = &mem->ring[0][call->op % NT_WIRE_RING];

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < ranks; i++) {
		if (mem->start_ns[i] > r->latest_ns)
			r->latest_ns = mem->start_ns[i];
		if (i && !same_entry(c, call->op, 0, i))
			return;
	}
	call->resolve(call->arg, call->op, e->task, e->tasks, r, mem->cursor);
}

enum nt_wire_end nt_wire_meet(struct nt_wire_comm *c, unsigned rank,
			      const struct nt_wire_call *call, struct nt_wire_result *result)
{
	struct wire_comm *mem = c->memory;
	struct wire_meet *m = &mem->gpu;
	uint32_t turn = atomic_load(&m->turn);
	enum nt_wire_end end;

	/* A rank that no longer waits for the others must not arrive twice. */
	if (atomic_load(&mem->aborted))
		return NT_WIRE_QUIT;
	mem->start_ns[rank] = call->start_ns;
	atomic_fetch_add(&m->came[rank], 1);
	if (atomic_fetch_add(&m->arrived, 1) + 1 == atomic_load(&mem->ranks)) {
		resolve(c, call, &mem->result[turn % 2]);
		next_turn(m, turn);
	}
	end = wait_turn(c->wire, &m->turn, turn, call->quit, &mem->aborted);
	if (end != NT_WIRE_OK)
		return end;
	/* The operation after the next one, which writes here again, cannot end before this rank
	 * has arrived. */
	*result = mem->result[turn % 2];
	return end;
}

enum nt_wire_end nt_wire_report_wait(struct nt_wire *w)
{
	uint32_t ranks = atomic_load(&w->memory->ranks);
	uint32_t seen = atomic_load(&w->memory->reported);
	enum nt_wire_end end = NT_WIRE_OK;

	while (seen < ranks && end == NT_WIRE_OK) {
		end = wait_turn(w, &w->memory->reported, seen, NULL, NULL);
		seen = atomic_load(&w->memory->reported);
	}
	return end;
}

const char *nt_wire_alarm(const struct nt_wire *w)
{
	/* Raised, but not yet written: this takes microseconds. */
	while (atomic_load(&w->memory->alarm) == 1)
		usleep(100);
	return w->memory->alarm_text;
}

void nt_wire_missing(const struct nt_wire_comm *c, unsigned rank, char *out, size_t out_bytes)
{
	unsigned ranks = atomic_load(&c->memory->ranks);
	size_t used = 0;

	out[0] = 0;
	for (unsigned r = 0; r < ranks && used + 8 < out_bytes; r++) {
		if (atomic_load(&c->memory->host.came[r]) <
			    atomic_load(&c->memory->host.came[rank]) ||
		    atomic_load(&c->memory->gpu.came[r]) < atomic_load(&c->memory->gpu.came[rank]))
			used += (size_t)snprintf(out + used, out_bytes - used, " %u", r);
	}
}

void nt_wire_mourn(struct nt_wire *w)
{
	double until_s = now_s() + 2;

	atomic_fetch_add(&w->memory->mourners, 1);
	while (atomic_load(&w->memory->mourners) < atomic_load(&w->memory->ranks) &&
	       now_s() < until_s)
		usleep(1000);
	nt_wire_unlink(w);
}

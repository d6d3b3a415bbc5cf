/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/orders-explorer.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#undef memcpy
#undef memset

#define WORDS 192 /* atomic words that are used */
#define STORES 48 /* ... and stores of each in a run */
#define CHOICES 4096
#define STACK_BYTES 65536
#define BYTES 65536 /* of memory */

struct view {
	uint8_t seen[WORDS];
	uint8_t clock[MODEL_THREADS + 1];
};

struct store {
	uint64_t value;
	struct view view; /* what an acquire load takes over */
};

struct word {
	const void *at;
	unsigned stores, newest_sc; /* newest_sc: the last seq_cst one */
	struct store store[STORES];
};

struct plain { /* four bytes */
	uint8_t writer, written, read[MODEL_THREADS + 1];
};

/* What a thread is about to do. */
struct next {
	const struct model_site *site; /* NULL: wait */
	unsigned word;
	bool writes;
};

struct thread {
	ucontext_t context;
	jmp_buf resume;
	bool started, over, waits;
	struct view view, taken, fence; /* taken: by an acquire fence; fence: by a release fence */
	struct next next;
	void *stack;
};

struct choice {
	unsigned taken, count;
	uint8_t option[MODEL_THREADS + 1]; /* of threads: which */
};

static struct {
	uint8_t *from;
	size_t bytes;
	uint16_t word_of[BYTES]; /* 1 + index */
	struct word word[WORDS];
	unsigned words;
	struct plain plain[BYTES / 4 + 1];

	struct thread thread[MODEL_THREADS + 1]; /* 0: setup and end */
	unsigned threads, current;
	unsigned sleeping; /* threads that need not go next, by bits */
	jmp_buf back;
	ucontext_t main;

	struct choice choice[CHOICES];
	unsigned choices, depth, steps;
	const char *wrong;
	const struct model_case *scenario;

	struct model_site site[MODEL_SITES];
	bool used[MODEL_SITES]; /* by number: in the search that is running, or was last */
	int sites;
	int order[MODEL_SITES]; /* 1 + the order of an access, by number; 0: its own */
	bool print;
} m;

enum { RUN_OVER = 1, RUN_PRUNED, RUN_WRONG };

void model_bug(const char *what)
{
	fprintf(stderr, "orders: %s\n", what);
	exit(2);
}

void model_wrong(const char *what)
{
	m.wrong = what;
	longjmp(m.back, RUN_WRONG);
}

static void join(struct view *into, const struct view *from)
{
	for (unsigned i = 0; i < WORDS; i++)
		into->seen[i] = from->seen[i] > into->seen[i] ? from->seen[i] : into->seen[i];
	for (unsigned i = 0; i <= MODEL_THREADS; i++)
		into->clock[i] = from->clock[i] > into->clock[i] ? from->clock[i] : into->clock[i];
}

bool model_is_shared(const void *at)
{
	return (const uint8_t *)at >= m.from && (const uint8_t *)at < m.from + m.bytes;
}

/* The word at an address, with what memory holds as its first store. */
static unsigned word_at(const void *at, size_t bytes)
{
	const size_t offset = (size_t)((const uint8_t *)at - m.from);
	struct word *word;

	if (m.word_of[offset] != 0)
		return m.word_of[offset] - 1u;
	if (m.words == WORDS)
		model_bug("too many words");
	word = &m.word[m.words];
	word->at = at;
	word->stores = 1;
	word->newest_sc = 0;
	word->store[0] = (struct store){ .value = 0 };
	memcpy(&word->store[0].value, at, bytes);
	m.word_of[offset] = (uint16_t)++m.words;
	return m.words - 1;
}

/* The next choice of a run: as the search has it, or the first. */
static struct choice *choose(unsigned count)
{
	struct choice *choice = &m.choice[m.depth];

	if (m.depth == CHOICES)
		model_bug("too many choices");
	if (m.depth == m.choices) {
		choice->taken = 0;
		choice->count = count;
		m.choices++;
	}
	if (choice->count != count)
		model_bug("a run does not repeat itself");
	m.depth++;
	return choice;
}

unsigned model_choose(unsigned count)
{
	return count < 2 ? 0 : choose(count)->taken;
}

static bool enabled(const struct thread *thread)
{
	return !thread->over &&
	       (!thread->waits ||
		m.word[thread->next.word].stores > thread->view.seen[thread->next.word] + 1u);
}

static bool independent(const struct next *a, const struct next *b)
{
	return a->word != b->word || (!a->writes && !b->writes);
}

/* Which thread makes the next access? One that is asleep was searched before at this place. */
static unsigned schedule(void)
{
	uint8_t option[MODEL_THREADS + 1];
	unsigned count = 0, alive = 0, taken = 0, asleep = m.sleeping, after = 0;

	for (unsigned i = 0; i < m.threads; i++) {
		const unsigned which = 1 + (m.current + i + m.threads - 1) % m.threads;

		if (!enabled(&m.thread[which]))
			continue;
		alive++;
		if (!(asleep & 1u << which))
			option[count++] = (uint8_t)which;
	}
	if (count == 0)
		longjmp(m.back, alive ? RUN_PRUNED : RUN_OVER);
	if (count > 1)
		taken = choose(count)->taken;
	for (unsigned i = 0; i < taken; i++)
		asleep |= 1u << option[i];
	for (unsigned which = 1; which <= m.threads; which++) {
		if (asleep & 1u << which &&
		    independent(&m.thread[which].next, &m.thread[option[taken]].next))
			after |= 1u << which;
	}
	m.sleeping = after;
	return option[taken];
}

static void switch_to(unsigned which)
{
	m.current = which;
	longjmp(m.thread[which].resume, 1);
}

/* Until it is this thread's turn. The first time: until all threads have come to an access. */
static void pause_here(const struct model_site *site, unsigned word, bool writes)
{
	struct thread *thread = &m.thread[m.current];
	unsigned which;

	thread->next = (struct next){ site, word, writes };
	if (!thread->started) {
		thread->started = true;
		if (setjmp(thread->resume) == 0)
			setcontext(&m.main);
		return;
	}
	which = schedule();
	if (which != m.current && setjmp(thread->resume) == 0)
		switch_to(which);
}

static void body(unsigned which)
{
	m.scenario->thread[which - 1]();
	m.thread[which].over = true;
	if (!m.thread[which].started) {
		m.thread[which].started = true;
		setcontext(&m.main);
	}
	switch_to(schedule());
}

static void enter(unsigned which)
{
	struct thread *thread = &m.thread[which];

	if (!thread->stack)
		thread->stack = malloc(STACK_BYTES);
	thread->started = thread->over = thread->waits = false;
	thread->view = m.thread[0].view;
	thread->view.clock[which] = 1;
	memset(&thread->taken, 0, sizeof(thread->taken));
	memset(&thread->fence, 0, sizeof(thread->fence));
	getcontext(&thread->context);
	thread->context.uc_stack.ss_sp = thread->stack;
	thread->context.uc_stack.ss_size = STACK_BYTES;
	thread->context.uc_link = NULL;
	makecontext(&thread->context, (void (*)(void))body, 1, which);
	m.current = which;
	swapcontext(&m.main, &thread->context);
}

static bool same(const struct model_site *a, const struct model_site *b)
{
	return a->line == b->line && a->access == b->access && strcmp(a->at, b->at) == 0 &&
	       strcmp(a->file, b->file) == 0;
}

/* A header's access has one number in all files. */
static void number(struct model_site *site)
{
	if (site->id != 0 || m.current == 0)
		return;
	for (int i = 0; i < m.sites && site->id == 0; i++) {
		if (same(&m.site[i], site))
			site->id = 1 + i;
	}
	if (site->id != 0)
		return;
	if (m.sites == MODEL_SITES - 1)
		model_bug("too many accesses");
	site->id = m.sites + 1;
	m.site[m.sites++] = *site;
}

const struct model_site *model_site(int which)
{
	return which <= m.sites ? &m.site[which - 1] : NULL;
}

void model_weaken(int which, int order)
{
	m.order[which] = 1 + order;
}

bool model_used(int which)
{
	return m.used[which];
}

const char *model_word(const struct model_site *site)
{
	static char name[64];
	const char *end = strchr(site->at, '\0'), *from;

	if (end > site->at && end[-1] == ')')
		end--;
	if (end > site->at && end[-1] == ']') {
		for (int open = 0; end > site->at;) {
			end--;
			open += (*end == ']') - (*end == '[');
			if (open == 0 && end[-1] != ']')
				break;
		}
	}
	for (from = end; from > site->at && from[-1] != '>' && from[-1] != '.';)
		from--;
	snprintf(name, sizeof(name), "%.*s", (int)(end - from), from);
	return name;
}

const char *model_order_name(int order)
{
	switch (order) {
	case memory_order_relaxed: return "relaxed";
	case memory_order_acquire: return "acquire";
	case memory_order_release: return "release";
	case memory_order_acq_rel: return "acq_rel";
	default: return "seq_cst";
	}
}

static void print_step(const struct model_site *site, uint64_t value, unsigned store, unsigned of)
{
	static const char *const name[] = { "load", "store", "cas", "or", "add" };

	if (m.print && m.current != 0)
		printf("#   thread %u %s %s in %s: %llx (store %u of %u)\n", m.current,
		       name[site->access], model_word(site), site->function,
		       (unsigned long long)value, store, of);
}

static bool acquires(int order)
{
	return order == memory_order_acquire || order == memory_order_consume ||
	       order >= memory_order_acq_rel;
}

static void take_over(struct thread *thread, struct word *word, unsigned index, int order)
{
	const unsigned w = (unsigned)(word - m.word);

	if (thread->view.seen[w] < index)
		thread->view.seen[w] = (uint8_t)index;
	join(acquires(order) ? &thread->view : &thread->taken, &word->store[index].view);
}

static void append(struct thread *thread, struct word *word, uint64_t value, int order,
		   bool passes_on)
{
	const unsigned index = word->stores, w = (unsigned)(word - m.word);
	struct store *store = &word->store[index];

	if (index == STORES)
		model_bug("too many stores");
	thread->view.seen[w] = (uint8_t)index;
	store->value = value;
	store->view = order >= memory_order_release ? thread->view : thread->fence;
	store->view.seen[w] = (uint8_t)index;
	if (passes_on)
		join(&store->view, &word->store[index - 1].view);
	if (order == memory_order_seq_cst)
		word->newest_sc = index;
	word->stores++;
	if (thread->view.clock[m.current]++ == UINT8_MAX)
		model_bug("a clock is over");
}

/* First store that a load may read. */
static unsigned first_of(const struct thread *thread, const struct word *word, int order)
{
	const unsigned seen = thread->view.seen[word - m.word];

	return order == memory_order_seq_cst && word->newest_sc > seen ? word->newest_sc : seen;
}

static uint64_t load(struct thread *thread, struct word *word, int order)
{
	const unsigned first = first_of(thread, word, order);
	const unsigned index = word->stores - 1 - model_choose(word->stores - first);

	take_over(thread, word, index, order);
	return word->store[index].value;
}

/* It fails on any store it may read that differs; it succeeds on the last only. */
static uint64_t compare(struct thread *thread, struct word *word, uint64_t value,
			uint64_t *expected, int order)
{
	const unsigned first = first_of(thread, word, order), last = word->stores - 1;
	unsigned option[STORES], count = 0, index;
	const uint64_t wanted = *expected;

	for (unsigned i = last + 1; i-- > first;) {
		if (i == last || word->store[i].value != wanted)
			option[count++] = i;
	}
	index = option[model_choose(count)];
	*expected = word->store[index].value;
	take_over(thread, word, index, order);
	if (*expected == wanted)
		append(thread, word, value, order, true);
	return *expected;
}

static uint64_t modify(struct thread *thread, struct word *word, const struct model_site *site,
		       uint64_t value, size_t bytes, int order)
{
	const uint64_t was = word->store[word->stores - 1].value;
	const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	take_over(thread, word, word->stores - 1, order);
	append(thread, word, (site->access == MODEL_OR ? was | value : was + value) & mask, order,
	       true);
	return was;
}

/* A word of a thread's own. */
static uint64_t access_own(enum model_access access, void *at, size_t bytes, uint64_t value)
{
	uint64_t was = 0;

	if (access == MODEL_CAS)
		model_bug("a compare-and-swap outside of shared memory");
	memcpy(&was, at, bytes);
	value = access == MODEL_OR ? was | value : access == MODEL_ADD ? was + value : value;
	if (access != MODEL_LOAD)
		memcpy(at, &value, bytes);
	return was;
}

uint64_t model_access(struct model_site *site, const void *at, size_t bytes, uint64_t value,
		      uint64_t *expected)
{
	struct thread *thread;
	struct word *word;
	uint64_t result = value;
	int order = site->order;
	unsigned w;

	if (!model_is_shared(at))
		return access_own(site->access, (void *)at, bytes, value);
	number(site);
	m.used[site->id] = true;
	if (m.order[site->id] != 0 && site->id != 0)
		order = m.order[site->id] - 1;
	w = word_at(at, bytes);
	if (m.current != 0) {
		pause_here(site, w, site->access != MODEL_LOAD);
		m.steps++;
	}
	thread = &m.thread[m.current];
	word = &m.word[w];
	if (bytes < 8)
		value &= (UINT64_C(1) << 8 * bytes) - 1;
	switch (site->access) {
	case MODEL_LOAD: result = load(thread, word, order); break;
	case MODEL_STORE: append(thread, word, value, order, false); break;
	case MODEL_CAS: result = compare(thread, word, value, expected, order); break;
	default: result = modify(thread, word, site, value, bytes, order); break;
	}
	print_step(site, result, thread->view.seen[w], word->stores - 1);
	return result;
}

void model_wait(const void *at)
{
	struct thread *thread = &m.thread[m.current];

	thread->waits = true;
	pause_here(NULL, word_at(at, 4), false);
	thread->waits = false;
	thread->view.seen[thread->next.word]++;
}

void model_fence(int order)
{
	struct thread *thread = &m.thread[m.current];

	if (order == memory_order_seq_cst)
		model_bug("a fence that the model lacks");
	if (acquires(order))
		join(&thread->view, &thread->taken);
	if (order >= memory_order_release)
		thread->fence = thread->view;
}

void model_plain(const void *at, size_t bytes, bool writes)
{
	struct view *view = &m.thread[m.current].view;
	const size_t first = (size_t)((const uint8_t *)at - m.from) / 4;
	const size_t last = ((size_t)((const uint8_t *)at - m.from) + bytes - 1) / 4;

	if (!model_is_shared(at) || bytes == 0)
		return;
	for (size_t i = first; i <= last; i++) {
		struct plain *p = &m.plain[i];

		if (p->written > view->clock[p->writer])
			model_wrong(writes ? "two plain writes at once"
					   : "a plain read beside a write");
		for (unsigned t = 0; writes && t <= MODEL_THREADS; t++) {
			if (p->read[t] > view->clock[t])
				model_wrong("a plain write beside a read");
		}
		if (writes) {
			p->writer = (uint8_t)m.current;
			p->written = view->clock[m.current];
		} else {
			p->read[m.current] = view->clock[m.current];
		}
	}
}

void model_memory(void *from, size_t bytes)
{
	if (bytes > BYTES)
		model_bug("too much memory");
	m.from = from;
	m.bytes = bytes;
}

/* Memory, words and threads as at the start of a run. */
static void clear(void)
{
	memset(m.from, 0, m.bytes);
	memset(m.word_of, 0, sizeof(m.word_of));
	memset(m.plain, 0, (m.bytes / 4 + 1) * sizeof(m.plain[0]));
	memset(&m.thread[0].view, 0, sizeof(m.thread[0].view));
	m.thread[0].view.clock[0] = 1;
	m.words = m.depth = m.steps = m.sleeping = m.current = 0;
}

static void run(void)
{
	int how;

	clear();
	how = setjmp(m.back);
	if (how == 0) {
		m.scenario->setup();
		m.thread[0].view.clock[0]++;
		for (m.threads = 0; m.threads < MODEL_THREADS && m.scenario->thread[m.threads];) {
			enter(1 + m.threads);
			m.threads++;
		}
		m.current = 1;
		switch_to(schedule());
	}
	m.current = 0;
	if (how == RUN_OVER) {
		for (unsigned i = 1; i <= m.threads; i++)
			join(&m.thread[0].view, &m.thread[i].view);
		if (setjmp(m.back) == 0)
			m.scenario->end();
	}
	if (how == RUN_PRUNED)
		m.steps = 0;
}

/* The next run in order; false: there is none. */
static bool advance(void)
{
	while (m.choices > 0 && m.choice[m.choices - 1].taken + 1 == m.choice[m.choices - 1].count)
		m.choices--;
	if (m.choices == 0)
		return false;
	m.choice[m.choices - 1].taken++;
	return true;
}

struct model_count model_search(const struct model_case *scenario, uint64_t limit, bool print)
{
	struct model_count count = { .runs = 0 };

	m.scenario = scenario;
	m.print = false;
	m.wrong = NULL;
	m.choices = 0;
	memset(m.used, 0, sizeof(m.used));
	do {
		run();
		count.runs++;
		count.pruned += m.steps == 0;
		count.steps = m.steps > count.steps ? m.steps : count.steps;
		if (count.runs == limit && !m.wrong)
			m.wrong = "not searched to the end";
	} while (!m.wrong && advance());
	count.wrong = m.wrong;
	if (m.wrong && print) {
		m.print = true;
		run();
	}
	return count;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sum.c - for each collective and size: the final arm, and the times at the beginning and at the
 * end */
#include "tests/fake/sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/quantile.h"

#define KINDS NT_MAX_SPLITS

struct series {
	float *us;
	size_t n, room;
};

struct key {
	struct series times;
	uint32_t forced; /* calls whose table or channels the plugin changed */
	uint32_t overridden; /* calls that ran another arm than NCCL's pick */
	uint32_t symmetric; /* calls that ran a symmetric kernel */
	uint16_t last[NT_LAST_ARMS]; /* ring */
};

struct nt_sum {
	struct nt_job *job;
	struct key key[KINDS][NT_MAX_KEYS];
	struct series rounds, wall;
	uint32_t *decision_ns;
	size_t decisions, room;
};

/* The data that rank 0 reads from the others. */
struct key_report {
	uint32_t calls;
	uint32_t forced;
	uint32_t overridden;
	uint32_t symmetric;
	float first_us;
	float last_us;
	double total_us;
	uint16_t last[NT_LAST_ARMS]; /* oldest first; the last min(calls, NT_LAST_ARMS) of them */
};

struct report {
	uint64_t calls;
	int32_t mask;
	int32_t tuner, profiler;
	uint32_t decisions;
	uint32_t p50_ns, p99_ns, max_ns;
	struct key_report key[KINDS][NT_MAX_KEYS];
};

_Static_assert(sizeof(struct report) <= NT_WIRE_REPORT_BYTES, "report");

struct nt_sum *nt_sum_create(struct nt_job *job)
{
	struct nt_sum *s = calloc(1, sizeof(*s));

	if (!s)
		nt_fake_leave(job, NT_EXIT_TROUBLE, "out of memory");
	s->job = job;
	return s;
}

void nt_sum_destroy(struct nt_sum *s)
{
	for (int kind = 0; kind < KINDS; kind++) {
		for (int k = 0; k < NT_MAX_KEYS; k++)
			free(s->key[kind][k].times.us);
	}
	free(s->rounds.us);
	free(s->wall.us);
	free(s->decision_ns);
	free(s);
}

static void *grow(struct nt_sum *s, void *array, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? 2 * *room : 256;
	array = realloc(array, *room * size);
	if (!array)
		nt_fake_leave(s->job, NT_EXIT_TROUBLE, "out of memory");
	return array;
}

void nt_sum_ran(struct nt_sum *s, unsigned comm_kind, const struct nt_task *t, double us)
{
	struct key *k = &s->key[comm_kind][t->key];
	struct series *times = &k->times;
	int arm = nt_choice_arm(t->arm, t->cap);

	times->us = grow(s, times->us, times->n, &times->room, sizeof(times->us[0]));
	k->last[times->n % NT_LAST_ARMS] = (uint16_t)arm;
	times->us[times->n++] = (float)us;
	k->forced += t->changed;
	k->overridden += arm != t->auto_arm && !t->symmetric;
	k->symmetric += t->symmetric;
}

static void add(struct nt_sum *s, struct series *series, double us)
{
	series->us = grow(s, series->us, series->n, &series->room, sizeof(series->us[0]));
	series->us[series->n++] = (float)us;
}

void nt_sum_round(struct nt_sum *s, double us, double wall_us)
{
	add(s, &s->rounds, us);
	add(s, &s->wall, wall_us);
}

void nt_fake_sum_decided(struct nt_sum *s, uint64_t ns)
{
	s->decision_ns = grow(s, s->decision_ns, s->decisions, &s->room, sizeof(s->decision_ns[0]));
	s->decision_ns[s->decisions++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* The median of n values from us on; sorts them. */
static float median(float *us, size_t n)
{
	if (!n)
		return 0;
	nt_sort_floats(us, n);
	return us[n / 2];
}

/* The number of samples at the beginning and at the end, of n. */
static size_t part_of(size_t n)
{
	return n < 20 ? (n + 1) / 2 : n / 10;
}

static void report_key(const struct key *k, struct key_report *out)
{
	size_t n = k->times.n;
	size_t part = part_of(n);
	size_t kept = n < NT_LAST_ARMS ? n : NT_LAST_ARMS;

	out->calls = (uint32_t)n;
	out->forced = k->forced;
	out->overridden = k->overridden;
	out->symmetric = k->symmetric;
	out->total_us = 0;
	for (size_t i = 0; i < n; i++)
		out->total_us += (double)k->times.us[i];
	if (n) {
		out->last_us = median(k->times.us + (n - part), part);
		out->first_us = median(k->times.us, part);
	}
	for (size_t i = 0; i < kept; i++)
		out->last[i] = k->last[(n - kept + i) % NT_LAST_ARMS];
}

void nt_sum_loaded(struct nt_sum *s, unsigned rank)
{
	struct report *r = nt_wire_report(s->job->wire, rank);

	r->tuner = nt_load_tuner_version();
	r->profiler = nt_load_profiler_version();
	/* The mask after the application's last call. */
	r->mask = nt_load_mask_now();
}

void nt_sum_publish(struct nt_sum *s, unsigned rank, uint64_t calls)
{
	struct report *r = nt_wire_report(s->job->wire, rank);
	size_t n = s->decisions;

	r->calls = calls;
	r->decisions = (uint32_t)n;
	if (n) {
		nt_sort_u32(s->decision_ns, n);
		r->p50_ns = s->decision_ns[n / 2];
		r->p99_ns = s->decision_ns[n - 1 - n / 100];
		r->max_ns = s->decision_ns[n - 1];
	}
	for (int kind = 0; kind < KINDS; kind++) {
		for (int k = 0; k < NT_MAX_KEYS; k++)
			report_key(&s->key[kind][k], &r->key[kind][k]);
	}
	nt_wire_report_done(s->job->wire);
}

static size_t kept_of(const struct key_report *k)
{
	return k->calls < NT_LAST_ARMS ? k->calls : NT_LAST_ARMS;
}

static const struct key_report *key_of_rank(struct nt_sum *s, unsigned rank, int kind, int key)
{
	const struct report *r = nt_wire_report(s->job->wire, rank);

	return &r->key[kind][key];
}

#define MIXED (-1) /* different arms */
#define NO_CALL (-2)

/* The arm of a rank's last calls. */
static int arm_of(const struct key_report *k)
{
	for (size_t i = 1; i < kept_of(k); i++) {
		if (k->last[i] != k->last[0])
			return MIXED;
	}
	return k->calls ? k->last[0] : NO_CALL;
}

/* The arm of the last calls on all ranks that made any; MIXED if they differ. */
static int final_arm(struct nt_sum *s, int kind, int key)
{
	int arm = NO_CALL;

	for (unsigned r = 0; r < s->job->ranks; r++) {
		int its = arm_of(key_of_rank(s, r, kind, key));

		if (its == MIXED || (arm >= 0 && its >= 0 && its != arm))
			return MIXED;
		arm = its >= 0 ? its : arm;
	}
	return arm;
}

/* The number of ranks for each final arm: communicators of one kind may differ. */
static void print_arms(struct nt_sum *s, int kind, int key)
{
	unsigned ranks[UINT16_MAX + 1] = { 0 }, mixed = 0;
	bool first = true;

	for (unsigned r = 0; r < s->job->ranks; r++) {
		int arm = arm_of(key_of_rank(s, r, kind, key));

		mixed += arm == MIXED;
		if (arm >= 0)
			ranks[arm]++;
	}
	for (int arm = 0; arm <= UINT16_MAX; arm++) {
		if (!ranks[arm])
			continue;
		printf("%s\"%s\":%u", first ? "" : ",", nt_arm_name(arm), ranks[arm]);
		first = false;
	}
	if (mixed)
		printf("%s\"mixed\":%u", first ? "" : ",", mixed);
}

/* The first rank that makes such calls; NULL: none. */
static const struct key_report *first_report(struct nt_sum *s, int kind, int key)
{
	for (unsigned r = 0; r < s->job->ranks; r++) {
		const struct key_report *k = key_of_rank(s, r, kind, key);

		if (k->calls)
			return k;
	}
	return NULL;
}

static void print_key(struct nt_sum *s, int kind, int key, bool first)
{
	const struct nt_options *o = s->job->options;
	const struct key_report *k = first_report(s, kind, key);
	int coll = o->coll[key / NT_MAX_SIZES];
	uint64_t bytes = o->size_bytes[key % NT_MAX_SIZES];
	int arm = final_arm(s, kind, key);
	char size[24];

	nt_size_text(bytes, size, sizeof(size));
	printf("%s{\"comm\":\"%s\",\"coll\":\"%s\",\"bytes\":%" PRIu64 ",\"calls\":%" PRIu32
	       ",\"arm\":\"%s\",\"forced\":%" PRIu32 ",\"overridden\":%" PRIu32
	       ",\"symmetric\":%" PRIu32
	       ",\"first_us\":%.1f,\"last_us\":%.1f,\"total_us\":%.1f,\"arms\":{",
	       first ? "" : ",", o->split[kind].name, nt_coll_name(coll), bytes, k->calls,
	       arm < 0 ? "mixed" : nt_arm_name(arm), k->forced, k->overridden, k->symmetric,
	       (double)k->first_us, (double)k->last_us, k->total_us);
	print_arms(s, kind, key);
	printf("}}");
	fprintf(stderr,
		"  %-5s %-13s %6s  %6u calls, %u as the plugin chose: %.1f us at first, %.1f us at "
		"the end, by %s\n",
		o->split[kind].name, nt_coll_name(coll), size, k->calls, k->forced,
		(double)k->first_us, (double)k->last_us, arm < 0 ? "mixed" : nt_arm_name(arm));
}

static int key_of(const struct nt_options *o, const struct nt_expected *e)
{
	for (unsigned c = 0; c < o->colls; c++) {
		for (unsigned n = 0; n < o->sizes; n++) {
			if (o->coll[c] == e->coll && o->size_bytes[n] == e->bytes)
				return (int)(c * NT_MAX_SIZES + n);
		}
	}
	return -1;
}

static int check_expected(struct nt_sum *s)
{
	const struct nt_options *o = s->job->options;
	int rc = NT_EXIT_OK;

	for (unsigned i = 0; i < o->expectations; i++) {
		const struct nt_expected *e = &o->expected[i];
		int key = key_of(o, e);
		int arm = key < 0 ? MIXED : final_arm(s, 0, key);
		const struct report *mine = nt_wire_report(s->job->wire, 0);
		bool is_auto = key >= 0 && e->arm == NT_ARM_BASELINE &&
			       !mine->key[0][key].overridden;

		if (arm == e->arm || is_auto)
			continue;
		fprintf(stderr, "nt-fake-nccl: expected %s for %s of %" PRIu64 " bytes, have %s\n",
			nt_arm_name(e->arm), nt_coll_name(e->coll), e->bytes,
			key < 0	  ? "no such call"
			: arm < 0 ? "different ones"
				  : nt_arm_name(arm));
		rc = NT_EXIT_UNEXPECTED;
	}
	return rc;
}

/* The worst value of all ranks. */
static void print_ranks(struct nt_sum *s)
{
	struct report worst = { 0 };

	for (unsigned r = 0; r < s->job->ranks; r++) {
		const struct report *rep = nt_wire_report(s->job->wire, r);

		worst.mask |= rep->mask;
		worst.decisions += rep->decisions;
		worst.p50_ns = rep->p50_ns > worst.p50_ns ? rep->p50_ns : worst.p50_ns;
		worst.p99_ns = rep->p99_ns > worst.p99_ns ? rep->p99_ns : worst.p99_ns;
		worst.max_ns = rep->max_ns > worst.max_ns ? rep->max_ns : worst.max_ns;
	}
	printf(",\"mask\":%d", worst.mask);
	if (worst.decisions)
		printf(",\"decisions\":{\"count\":%u,\"p50_ns\":%u,\"p99_ns\":%u,\"max_ns\":%u}",
		       worst.decisions, worst.p50_ns, worst.p99_ns, worst.max_ns);
}

/* The durations of rounds on rank 0's host, if it waited for every call. */
static void print_rounds(struct nt_sum *s)
{
	float *us = s->rounds.us;
	size_t n = s->rounds.n, part = part_of(n);
	double first, last;

	if (!n)
		return;
	last = (double)median(us + (n - part), part);
	first = (double)median(us, part);
	printf(",\"rounds\":{\"count\":%zu,\"first_us\":%.1f,\"last_us\":%.1f,\"median_us\":%.1f,"
	       "\"wall_median_us\":%.1f}",
	       n, first, last, (double)median(us, n), (double)median(s->wall.us, n));
}

int nt_sum_print(struct nt_sum *s)
{
	const struct report *mine = nt_wire_report(s->job->wire, 0);
	uint64_t forced = 0;
	bool first = true;

	if (nt_wire_report_wait(s->job->wire) != NT_WIRE_OK)
		nt_fake_leave(s->job, NT_EXIT_PEER_GONE, "not all ranks came to the end");
	fprintf(stderr, "simulated NCCL %s, %u ranks, %" PRIu64 " calls (no GPU was used)\n",
		s->job->release->name, s->job->ranks, mine->calls);
	printf("{\"simulated\":\"NCCL %s\",\"ranks\":%u,\"calls\":%" PRIu64
	       ",\"mismatches\":0,\"keys\":[",
	       s->job->release->name, s->job->ranks, mine->calls);
	for (int kind = 0; kind < KINDS; kind++) {
		for (int k = 0; k < NT_MAX_KEYS; k++) {
			const struct key_report *seen = first_report(s, kind, k);

			if (!seen)
				continue;
			print_key(s, kind, k, first);
			forced += seen->forced;
			first = false;
		}
	}
	printf("],\"forced\":%" PRIu64 ",\"tuner\":%d,\"profiler\":%d", forced, mine->tuner,
	       mine->profiler);
	print_ranks(s);
	print_rounds(s);
	if (s->job->model.launch[0])
		printf(",\"launch\":\"%s\"", s->job->model.launch);
	printf("}\n");
	fflush(stdout);
	return check_expected(s);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_WORDS 16
#define MAX_DEPTH 8
#define MAX_ITEMS 20000 /* of a step, unrolled */
#define LINE_BYTES 512
#define TREE 0 /* NCCL's number of the algorithm */
#define TREE_EARLY 0.4 /* at a tree's root data comes down first */

struct reader {
	struct nt_program *p;
	const char *path;
	unsigned line, wanted_ranks;
	char *word[MAX_WORDS];
	unsigned words;
	struct nt_items *items; /* of the step or graph that is open; NULL: none is */
	unsigned start[MAX_DEPTH], times[MAX_DEPTH], depth; /* repeats that are open */
	struct nt_error *err;
};

static int wrong(struct reader *r, const char *what)
{
	return nt_error_set(r->err, "%s:%u: %s%s%s", r->path, r->line, what, r->words ? ": " : "",
			    r->words ? r->word[0] : "");
}

/* A number, and the unit behind it. */
static int number(const char *text, double *value, const char **unit)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	*unit = end;
	return end == text || errno || !(*value >= 0) ? -1 : 0;
}

static int plain(struct reader *r, unsigned at, double *value)
{
	const char *unit;

	if (at >= r->words || number(r->word[at], value, &unit) < 0 || *unit)
		return wrong(r, "want a number");
	return 0;
}

/* "750us", "3ms", "0.5s" */
static int duration(struct reader *r, unsigned at, double *us)
{
	const char *unit;

	if (at >= r->words || number(r->word[at], us, &unit) < 0)
		return wrong(r, "want a time, as 750us, 3ms or 0.5s");
	if (strcmp(unit, "ms") == 0)
		*us *= 1e3;
	else if (strcmp(unit, "s") == 0)
		*us *= 1e6;
	else if (strcmp(unit, "us") != 0)
		return wrong(r, "want a time, as 750us, 3ms or 0.5s");
	return 0;
}

static int find_comm(const struct nt_program *p, const char *name)
{
	for (unsigned i = 0; i < p->comms; i++) {
		if (strcmp(p->comm[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

/* word[at]: the communicator, then collective and size. */
static int key_of(struct reader *r, unsigned at, unsigned *key)
{
	struct nt_program *p = r->p;
	struct nt_program_key want = { 0 };
	int comm = at < r->words ? find_comm(p, r->word[at]) : -1;
	struct nt_error why;

	if (comm < 0)
		return wrong(r, "no such communicator, or unknown word");
	if (at + 2 >= r->words)
		return wrong(r, "want COMMUNICATOR COLLECTIVE SIZE");
	want.comm = (unsigned)comm;
	want.coll = nt_coll_find(r->word[at + 1]);
	if (want.coll < 0)
		return wrong(r, "no such collective");
	if (nt_parse_size(r->word[at + 2], &want.bytes, &why) < 0)
		return wrong(r, "want a size, as 4, 64K or 1.5M");
	for (*key = 0; *key < p->keys; ++*key) {
		const struct nt_program_key *k = &p->key[*key];

		if (k->comm == want.comm && k->coll == want.coll && k->bytes == want.bytes)
			return 0;
	}
	if (p->keys == NT_PROGRAM_KEYS)
		return wrong(r, "too many different calls");
	p->key[p->keys++] = want;
	return 0;
}

static int add_item(struct reader *r, const struct nt_item *item)
{
	struct nt_items *items = r->items;

	if (items->count == items->room) {
		items->room = items->room ? 2 * items->room : 64;
		items->item = realloc(items->item, items->room * sizeof(items->item[0]));
		if (!items->item)
			return wrong(r, "out of memory");
	}
	if (items->count == MAX_ITEMS)
		return wrong(r, "a step of too many items");
	items->item[items->count++] = *item;
	return 0;
}

static int end_repeat(struct reader *r)
{
	unsigned from = r->start[--r->depth], until = r->items->count;

	for (unsigned n = 1; n < r->times[r->depth]; n++) {
		for (unsigned i = from; i < until; i++) {
			struct nt_item again = r->items->item[i];

			if (add_item(r, &again) < 0)
				return -1;
		}
	}
	return 0;
}

static int read_call(struct reader *r, unsigned at, struct nt_item *item)
{
	item->kind = NT_ITEM_CALL;
	if (key_of(r, at, &item->key) < 0)
		return -1;
	item->comm = r->p->key[item->key].comm;
	if (at + 4 == r->words && strcmp(r->word[at + 3], "async") == 0)
		item->async = true;
	else if (at + 3 != r->words)
		return wrong(r, "want nothing, or 'async', behind a call");
	return 0;
}

static int read_play(struct reader *r, unsigned at, struct nt_item *item)
{
	item->kind = NT_ITEM_PLAY;
	if (r->items != &r->p->step)
		return wrong(r, "a graph plays no graph");
	for (item->graph = 0; at + 1 < r->words && item->graph < r->p->graphs; item->graph++) {
		if (strcmp(r->p->graph_name[item->graph], r->word[at + 1]) == 0)
			return 0;
	}
	return wrong(r, "no such graph");
}

static int read_item(struct reader *r);

/* COMMUNICATOR each SIZE,...: all five collectives of each size. */
static int read_each(struct reader *r)
{
	static char all[][16] = { "AllReduce", "AllGather", "ReduceScatter", "Broadcast",
				  "Reduce" };
	char *rest = NULL;

	for (char *size = strtok_r(r->word[2], ",", &rest); size;
	     size = strtok_r(NULL, ",", &rest)) {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			r->word[1] = all[i];
			r->word[2] = size;
			if (read_item(r) < 0)
				return -1;
		}
	}
	return 0;
}

/* A line of a step: [every N[+PHASE]] what. */
static int read_item(struct reader *r)
{
	struct nt_item item = { 0 };
	const char *phase;
	unsigned at = 0;
	double us;
	int comm;

	if (r->words == 3 && strcmp(r->word[1], "each") == 0)
		return read_each(r);
	if (strcmp(r->word[0], "every") == 0) {
		if (r->words < 3 || number(r->word[1], &us, &phase) < 0 || us < 1)
			return wrong(r, "want every N");
		item.every = (unsigned)us;
		item.phase = *phase == '+' ? (unsigned)strtoul(phase + 1, NULL, 10) : 0;
		if (item.phase >= item.every)
			return wrong(r, "want every N+PHASE, PHASE below N");
		at = 2;
	}
	if (strcmp(r->word[at], "compute") == 0 || strcmp(r->word[at], "pause") == 0) {
		if (duration(r, at + 1, &us) < 0)
			return -1;
		item.kind = r->word[at][0] == 'c' ? NT_ITEM_COMPUTE : NT_ITEM_PAUSE;
		item.ns = (uint64_t)(us * 1e3);
	} else if (strcmp(r->word[at], "wait") == 0) {
		comm = at + 1 < r->words ? find_comm(r->p, r->word[at + 1]) : -1;
		if (comm < 0)
			return wrong(r, "no such communicator");
		item.kind = NT_ITEM_WAIT;
		item.comm = (unsigned)comm;
	} else if (strcmp(r->word[at], "play") == 0) {
		if (read_play(r, at, &item) < 0)
			return -1;
	} else if (read_call(r, at, &item) < 0) {
		return -1;
	}
	return add_item(r, &item);
}

static int in_block(struct reader *r)
{
	double times;

	if (strcmp(r->word[0], "repeat") == 0) {
		if (r->depth == MAX_DEPTH || plain(r, 1, &times) < 0)
			return wrong(r, "want repeat N");
		r->start[r->depth] = r->items->count;
		r->times[r->depth++] = (unsigned)times;
		return 0;
	}
	if (strcmp(r->word[0], "end") != 0)
		return read_item(r);
	if (r->depth)
		return end_repeat(r);
	r->items = NULL;
	return 0;
}

/* comm NAME COUNT|rest [by STRIDE] [times FACTOR] */
static int read_comm(struct reader *r)
{
	struct nt_program *p = r->p;
	struct nt_program_comm *c = &p->comm[p->comms];
	double count = 0, value;

	if (p->comms == NT_PROGRAM_COMMS || r->words < 3)
		return wrong(r, "want comm NAME COUNT [by STRIDE] [times FACTOR], eight at most");
	*c = (struct nt_program_comm){ .stride = 1, .time_factor = 1 };
	snprintf(c->name, sizeof(c->name), "%s", r->word[1]);
	for (unsigned i = 3; i < r->words; i += 2) {
		if (plain(r, i + 1, &value) < 0)
			return -1;
		if (strcmp(r->word[i], "by") == 0)
			c->stride = (unsigned)value;
		else if (strcmp(r->word[i], "times") == 0)
			c->time_factor = value;
		else
			return wrong(r, "want by STRIDE or times FACTOR");
	}
	if (strcmp(r->word[2], "rest") != 0 && plain(r, 2, &count) < 0)
		return -1;
	if (count == 0 && c->stride)
		count = (double)(p->ranks / c->stride);
	c->count = (unsigned)count;
	if (c->count < 2 || !c->stride || p->ranks % (c->count * c->stride) != 0)
		return wrong(r, "groups that do not divide the ranks");
	p->comms++;
	return 0;
}

static int read_noise(struct reader *r)
{
	struct nt_options *o = &r->p->model;
	static const char *const names[] = { "none", "gaussian", "lognormal", "bimodal" };
	unsigned kind = 0;

	while (kind < 4 && (r->words < 2 || strcmp(names[kind], r->word[1]) != 0))
		kind++;
	if (kind == 4)
		return wrong(r, "want none, gaussian, lognormal or bimodal, and their numbers");
	o->noise = (enum nt_noise)kind;
	if (r->words > 2 && plain(r, 2, &o->noise_width) < 0)
		return -1;
	if (r->words > 3 && plain(r, 3, &o->fast_share) < 0)
		return -1;
	return r->words > 4 ? plain(r, 4, &o->slow_ratio) : 0;
}

/* later TIME COMMUNICATOR COLLECTIVE SIZE FACTOR [all] */
static int read_later(struct reader *r)
{
	struct nt_program *p = r->p;
	struct nt_program_later *l = &p->later[p->laters];
	double us;

	if (p->laters == NT_PROGRAM_TRUTHS)
		return wrong(r, "too many changes");
	if (duration(r, 1, &us) < 0 || key_of(r, 2, &l->key) < 0 || plain(r, 5, &l->factor) < 0)
		return -1;
	l->ns = (uint64_t)(us * 1e3);
	l->all = r->words == 7 && strcmp(r->word[6], "all") == 0;
	if (r->words != 6 && !l->all)
		return wrong(r, "want later TIME COMMUNICATOR COLLECTIVE SIZE FACTOR [all]");
	p->laters++;
	return 0;
}

/* true COMMUNICATOR COLLECTIVE SIZE ARM FACTOR */
static int read_truth(struct reader *r)
{
	struct nt_program *p = r->p;
	struct nt_program_truth *t = &p->truth[p->truths];

	if (p->truths == NT_PROGRAM_TRUTHS)
		return wrong(r, "too many of these");
	if (key_of(r, 1, &t->key) < 0)
		return -1;
	t->arm = r->words > 4 ? nt_arm_parse(r->word[4]) : -1;
	if (t->arm < 0)
		return wrong(r, "want an arm, as RING/SIMPLE");
	p->truths++;
	return plain(r, 5, &t->factor);
}

/* early ARM SHARE */
static int read_early(struct reader *r)
{
	int arm = r->words > 1 ? nt_arm_parse(r->word[1]) : -1;

	if (arm < 0 || arm >= NT_PAIRS)
		return wrong(r, "want an arm, as TREE/SIMPLE");
	if (plain(r, 2, &r->p->early[arm]) < 0 || r->p->early[arm] >= 1)
		return wrong(r, "want a share below 1");
	return 0;
}

/* slow RANK FACTOR [SHARE] */
static int read_slow(struct reader *r)
{
	struct nt_program *p = r->p;
	double rank;

	if (plain(r, 1, &rank) < 0 || plain(r, 2, &p->slow_factor) < 0)
		return -1;
	p->slow_rank = (unsigned)rank;
	p->slow_share = 1;
	return r->words > 3 ? plain(r, 3, &p->slow_share) : 0;
}

static int open_block(struct reader *r, bool graph)
{
	struct nt_program *p = r->p;

	if (!p->comms)
		return wrong(r, "communicators come first");
	r->items = &p->step;
	if (!graph)
		return 0;
	if (r->words != 2 || p->graphs == NT_PROGRAM_GRAPHS)
		return wrong(r, "want graph NAME, eight at most");
	snprintf(p->graph_name[p->graphs], sizeof(p->graph_name[0]), "%s", r->word[1]);
	r->items = &p->graph[p->graphs++];
	return 0;
}

struct setting {
	const char *name;
	double *value;
	bool is_time;
};

static int read_setting(struct reader *r)
{
	struct nt_program *p = r->p;
	double ranks = -1, per_node = -1, steps = -1, channels = -1;
	const struct setting settings[] = {
		{ "ranks", &ranks, false },
		{ "per-node", &per_node, false },
		{ "steps", &steps, false },
		{ "channels", &channels, false },
		{ "seconds", &p->seconds, false },
		{ "spread", &p->spread, false },
		{ "jitter", &p->jitter, false },
		{ "shared", &p->shared, false },
		{ "cost-skew", &p->model.cost_skew, false },
		{ "late", &p->late_us, true },
		{ "host", &p->host_us, true },
		{ "connect", &p->connect_us, true },
	};

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];

		if (strcmp(s->name, r->word[0]) != 0)
			continue;
		if ((s->is_time ? duration(r, 1, s->value) : plain(r, 1, s->value)) < 0)
			return -1;
		if (ranks >= 0)
			p->ranks = r->wanted_ranks ? r->wanted_ranks : (unsigned)ranks;
		if (per_node >= 0)
			p->per_node = (unsigned)per_node;
		if (steps >= 0)
			p->steps = (uint64_t)steps;
		if (channels >= 0)
			p->channels = (unsigned)channels;
		return p->ranks <= NT_PROGRAM_RANKS ? 0 : wrong(r, "too many ranks");
	}
	return wrong(r, "unknown word");
}

static int read_head(struct reader *r)
{
	const char *word = r->word[0];

	if (strcmp(word, "comm") == 0)
		return read_comm(r);
	if (strcmp(word, "noise") == 0)
		return read_noise(r);
	if (strcmp(word, "true") == 0)
		return read_truth(r);
	if (strcmp(word, "later") == 0)
		return read_later(r);
	if (strcmp(word, "early") == 0)
		return read_early(r);
	if (strcmp(word, "slow") == 0)
		return read_slow(r);
	if (strcmp(word, "step") == 0 || strcmp(word, "graph") == 0)
		return open_block(r, word[0] == 'g');
	if (strcmp(word, "nvls") == 0 || strcmp(word, "ll128") == 0) {
		*(word[0] == 'n' ? &r->p->model.nvls : &r->p->model.ll128) = true;
		return 0;
	}
	return read_setting(r);
}

static int read_line(struct reader *r, char *line)
{
	char *rest = NULL;

	line[strcspn(line, "#\r\n")] = 0;
	r->words = 0;
	if (strncmp(line, "about ", 6) == 0) {
		size_t n = strlen(r->p->about);

		snprintf(r->p->about + n, sizeof(r->p->about) - n, "%s%s", n ? " " : "", line + 6);
		return 0;
	}
	for (char *w = strtok_r(line, " \t", &rest); w && r->words < MAX_WORDS;
	     w = strtok_r(NULL, " \t", &rest))
		r->word[r->words++] = w;
	if (!r->words)
		return 0;
	return r->items ? in_block(r) : read_head(r);
}

static void defaults(struct nt_program *p, const char *path)
{
	const char *name = strrchr(path, '/');

	*p = (struct nt_program){
		.ranks = 8,
		.per_node = 8,
		.seconds = 360,
		.spread = 0.15,
		.jitter = 0.005,
		.late_us = 3,
		.host_us = 8,
		.connect_us = 20000,
		.channels = 4,
		.model = { .noise = NT_NOISE_LOGNORMAL,
			   .noise_width = 0.05,
			   .fast_share = 0.62,
			   .slow_ratio = 2.3,
			   .cost_skew = 1e-4 },
	};
	for (int proto = 0; proto < NT_PROTOS; proto++)
		p->early[TREE * NT_PROTOS + proto] = TREE_EARLY;
	name = name ? name + 1 : path;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(name, "."), name);
}

static int check(struct reader *r)
{
	const struct nt_program *p = r->p;

	r->words = 0;
	if (r->items)
		return wrong(r, "a block without its end");
	if (!p->step.count)
		return wrong(r, "no step");
	if (!p->per_node || p->ranks % p->per_node != 0)
		return wrong(r, "ranks is no multiple of per-node");
	return 0;
}

int nt_program_load(struct nt_program *p, const char *path, unsigned ranks, struct nt_error *err)
{
	struct reader r = { .p = p, .path = path, .wanted_ranks = ranks, .err = err };
	char line[LINE_BYTES];
	FILE *file = fopen(path, "r");
	int rc = 0;

	defaults(p, path);
	if (!file)
		return nt_error_set(err, "cannot read %s: %m", path);
	while (rc == 0 && fgets(line, sizeof(line), file)) {
		r.line++;
		rc = read_line(&r, line);
	}
	fclose(file);
	rc = rc < 0 ? rc : check(&r);
	if (rc < 0)
		nt_program_fini(p);
	return rc;
}

void nt_program_fini(struct nt_program *p)
{
	free(p->step.item);
	for (unsigned i = 0; i < p->graphs; i++)
		free(p->graph[i].item);
	p->step.item = NULL;
	p->graphs = 0;
}

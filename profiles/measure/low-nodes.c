/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/measure/low-nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "profiles/measure/pair-units.h"

#define OPEN_SURE 2.0 /* standard errors within which nothing worth naming may be left */
#define EXPECTED 0.02 /* of NCCL's prediction over that of its like */
#define REST_P 0.001 /* for the rest of a node with a named part */

/* One quantity of one kind of pairs. */
struct field {
	const struct nt_pair_time *time;
	size_t count;
	unsigned nodes, gpus;
	enum nt_pair_place place;
	enum nt_pair_what what;
	float *log, *predicted; /* of each time over its like; NAN: does not count */
	float *room; /* for one function at a time */
	double alpha; /* of one unit */
	double tests; /* by which p is multiplied */
	struct nt_low_verdict *verdict;
	bool *open; /* of each node */
};

static bool belongs(const struct field *f, const struct nt_pair_time *time)
{
	const bool inside = time->node[0] == time->node[1];

	return inside == (f->place == NT_PAIR_INSIDE) && !time->wrong && time->us[f->what] > 0;
}

/* Pairs with the same number are alike. */
static size_t like_of(const struct field *f, const struct nt_pair_time *time)
{
	if (f->place == NT_PAIR_BETWEEN)
		return 2u * time->gpu[0] + time->far;
	return (size_t)time->gpu[0] * f->gpus + time->gpu[1];
}

static size_t likes(const struct field *f)
{
	return f->place == NT_PAIR_BETWEEN ? 2u * f->gpus : (size_t)f->gpus * f->gpus;
}

/* Takes the median of its like from each. */
static void center_likes(const struct field *f, float *log)
{
	for (size_t like = 0; like < likes(f); like++) {
		size_t count = 0;
		float middle;

		for (size_t i = 0; i < f->count; i++)
			if (!isnan(log[i]) && like_of(f, &f->time[i]) == like)
				f->room[count++] = log[i];
		middle = (float)nt_units_median(f->room, count);
		for (size_t i = 0; count > 0 && i < f->count; i++)
			if (!isnan(log[i]) && like_of(f, &f->time[i]) == like)
				log[i] -= middle;
	}
}

static void measure_middle(const struct field *f)
{
	float *room = f->room;
	struct nt_low_middle *middle = &f->verdict->middle[f->place][f->what];
	size_t count = 0, predicted = 0;

	for (size_t i = 0; i < f->count; i++)
		if (belongs(f, &f->time[i]))
			room[count++] = f->time[i].us[f->what];
	middle->us = nt_units_median(room, count);
	for (size_t i = 0; i < f->count; i++)
		if (belongs(f, &f->time[i]) && f->time[i].predicted_us[f->what] > 0)
			room[predicted++] = f->time[i].us[f->what] /
					    f->time[i].predicted_us[f->what];
	middle->predicted = nt_units_median(room, predicted);
}

static int open_field(struct field *f)
{
	f->log = calloc(f->count + 1, sizeof(f->log[0]));
	f->predicted = calloc(f->count + 1, sizeof(f->predicted[0]));
	f->room = calloc(f->count + 1, sizeof(f->room[0]));
	if (!f->log || !f->predicted || !f->room)
		return -1;
	for (size_t i = 0; i < f->count; i++) {
		const struct nt_pair_time *time = &f->time[i];
		const bool mine = belongs(f, time);

		f->log[i] = mine ? logf(time->us[f->what]) : NAN;
		f->predicted[i] = mine && time->predicted_us[f->what] > 0
					  ? logf(time->predicted_us[f->what])
					  : NAN;
	}
	measure_middle(f);
	center_likes(f, f->log);
	center_likes(f, f->predicted);
	return 0;
}

static void close_field(struct field *f)
{
	free(f->log);
	free(f->predicted);
	free(f->room);
}

/* ---- units */

static int unit_of(const struct field *f, const struct nt_pair_time *time, int side)
{
	return (int)(time->node[side] * f->gpus + time->gpu[side]);
}

/* Each GPU by its own pairs; between nodes it stands for its NIC. */
static int list_parts(const struct field *f, struct nt_units *units)
{
	const bool between = f->place == NT_PAIR_BETWEEN;

	if (nt_units_init(units, f->nodes * f->gpus, between ? f->gpus : 1, f->count) < 0)
		return -1;
	units->partners = between;
	for (size_t i = 0; i < f->count; i++)
		if (!isnan(f->log[i]))
			units->value[units->values++] = (struct nt_unit_value){
				{ unit_of(f, &f->time[i], 0), unit_of(f, &f->time[i], 1) },
				f->log[i]
			};
	return nt_units_weigh(units);
}

/* Of a round and a pair of nodes, or a node, all pairs of GPUs are one value. */
struct sum {
	float log;
	uint16_t count, partner;
};

static struct sum *sum_up(const struct field *f, size_t *sums)
{
	uint32_t rounds = 0;
	struct sum *sum;

	for (size_t i = 0; i < f->count; i++)
		if (f->time[i].round >= rounds)
			rounds = f->time[i].round + 1;
	*sums = (size_t)rounds * f->nodes;
	sum = calloc(*sums + 1, sizeof(*sum));
	for (size_t i = 0; sum && i < f->count; i++) {
		const struct nt_pair_time *time = &f->time[i];
		struct sum *of = &sum[(size_t)time->round * f->nodes + time->node[0]];

		if (isnan(f->log[i]))
			continue;
		of->log += f->log[i];
		of->partner = time->node[1];
		of->count++;
	}
	return sum;
}

/* Each node by its pairs. */
static int list_nodes(const struct field *f, struct nt_units *units)
{
	const bool between = f->place == NT_PAIR_BETWEEN;
	size_t sums = 0;
	struct sum *sum = sum_up(f, &sums);

	if (!sum || nt_units_init(units, f->nodes, 1, sums) < 0) {
		free(sum);
		return -1;
	}
	units->partners = between;
	for (size_t i = 0; i < sums; i++)
		if (sum[i].count > 0)
			units->value[units->values++] = (struct nt_unit_value){
				{ (int)(i % f->nodes), between ? sum[i].partner : NT_UNIT_NONE },
				sum[i].log / (float)sum[i].count
			};
	free(sum);
	return nt_units_weigh(units);
}

/* ---- names */

/* Does NCCL itself predict a longer time than for its like? */
static bool is_expected(const struct field *f, unsigned node, int gpu)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct nt_pair_time *time = &f->time[i];
		bool its = false;

		for (int side = 0; side < 2; side++)
			its = its ||
			      (time->node[side] == node && (gpu < 0 || time->gpu[side] == gpu));
		if (its && !isnan(f->predicted[i]))
			f->room[count++] = f->predicted[i];
	}
	return nt_units_median(f->room, count) > EXPECTED;
}

static int add_low(struct nt_low_verdict *verdict, const struct nt_low *low)
{
	struct nt_low *added = nt_array_add(&verdict->low, &verdict->count, SIZE_MAX,
					    sizeof(*added));

	if (!added)
		return -1;
	*added = *low;
	return 0;
}

/* Units that were named. parts: units of a node. */
static int add_named(const struct field *f, const struct nt_units *units, unsigned parts)
{
	for (unsigned u = 0; u < units->units; u++) {
		struct nt_low low = {
			.node = u / parts,
			.gpu = parts > 1 ? (int)(u % parts) : -1,
			.part = parts == 1		     ? NT_LOW_NODE
				: f->place == NT_PAIR_INSIDE ? NT_LOW_GPU
							     : NT_LOW_NIC,
			.place = f->place,
			.what = f->what,
			.slower = units->unit[u].middle,
			.error = units->unit[u].error,
			.p = fmin(1, f->tests * nt_units_p(units, u)),
			.sure = true,
		};

		if (!units->unit[u].out)
			continue;
		low.expected = is_expected(f, low.node, low.gpu);
		if (add_low(f->verdict, &low) < 0)
			return -1;
	}
	return 0;
}

/* Leaves out the slowest, then the slowest of the rest without it. */
static int name_slow(const struct field *f, struct nt_units *units)
{
	for (unsigned named = 0; named < units->units / 2; named++) {
		const int slowest = nt_units_slowest(units);

		if (slowest == NT_UNIT_NONE || nt_units_p(units, (unsigned)slowest) >= f->alpha ||
		    units->unit[slowest].middle < NT_LOW_LEAST)
			return 0;
		units->unit[slowest].out = true;
		if (nt_units_weigh(units) < 0)
			return -1;
	}
	return 0;
}

/* Nodes that might still be slow by more than is worth naming. */
static void note_open(const struct field *f, const struct nt_units *units, unsigned parts)
{
	for (unsigned u = 0; u < units->units; u++)
		if (!units->unit[u].out &&
		    (!nt_units_enough(units, u) ||
		     units->unit[u].slower + OPEN_SURE * units->unit[u].error > 2 * NT_LOW_LEAST))
			f->open[u / parts] = true;
}

static unsigned slow_parts(const struct field *f, const struct nt_units *parts, unsigned node)
{
	unsigned slow = 0;

	for (unsigned gpu = 0; parts->units > 0 && gpu < f->gpus; gpu++)
		slow += parts->unit[node * f->gpus + gpu].out;
	return slow;
}

/* A node is compared without its slow parts, unless most are slow: within a node, each slows the
 * pairs of the others. The medians are then computed again. */
static void leave_out(const struct field *f, const struct nt_units *parts)
{
	const unsigned most = (f->gpus - (f->place == NT_PAIR_INSIDE)) / 2;

	for (size_t i = 0; i < f->count; i++)
		for (int side = 0; side < 2; side++)
			if (parts->unit[unit_of(f, &f->time[i], side)].out &&
			    slow_parts(f, parts, f->time[i].node[side]) <= most)
				f->log[i] = NAN;
	center_likes(f, f->log);
}

/* The slowest one that is named. */
static double slowest_part(const struct field *f, const struct nt_units *parts, unsigned node)
{
	double slowest = 0;

	for (unsigned u = node * f->gpus; u < (node + 1) * f->gpus; u++)
		if (parts->unit[u].out)
			slowest = fmax(slowest, parts->unit[u].middle);
	return slowest;
}

/* Once a part is named, weaker evidence suffices for the rest: if it is slow as well, the node is
 * named instead of its parts. */
static void join_parts(const struct field *f, struct nt_units *parts, struct nt_units *nodes)
{
	for (unsigned node = 0; node < f->nodes; node++) {
		if (slow_parts(f, parts, node) > 0 && !nodes->unit[node].out &&
		    nt_units_p(nodes, node) < REST_P &&
		    nodes->unit[node].middle > slowest_part(f, parts, node) / 2)
			nodes->unit[node].out = true;
		for (unsigned gpu = 0; parts->units > 0 && nodes->unit[node].out && gpu < f->gpus;
		     gpu++)
			parts->unit[node * f->gpus + gpu].out = false;
	}
}

static int judge_nodes(const struct field *f, struct nt_units *parts)
{
	struct nt_units nodes = { 0 };
	int rc;

	if (parts->units > 0)
		leave_out(f, parts);
	rc = list_nodes(f, &nodes);
	if (rc == 0)
		rc = name_slow(f, &nodes);
	if (rc == 0) {
		note_open(f, &nodes, 1);
		f->verdict->middle[f->place][f->what].deviation = nodes.deviation;
		join_parts(f, parts, &nodes);
		rc = add_named(f, &nodes, 1);
	}
	if (rc == 0 && parts->units > 0)
		rc = add_named(f, parts, f->gpus);
	nt_units_fini(&nodes);
	return rc;
}

static int judge_field(const struct field *f)
{
	/* Of two GPUs in a node, each has only the other. */
	const bool apart = f->place == NT_PAIR_BETWEEN ? f->gpus > 1 : f->gpus > 2;
	struct nt_units parts = { 0 };
	int rc = 0;

	if (apart)
		rc = list_parts(f, &parts);
	if (rc == 0 && apart)
		rc = name_slow(f, &parts);
	if (rc == 0 && apart)
		note_open(f, &parts, f->gpus);
	if (rc == 0)
		rc = judge_nodes(f, &parts);
	nt_units_fini(&parts);
	return rc;
}

static int judge_times(struct field *f)
{
	const double places = f->gpus > 1 ? NT_PAIR_PLACES : 1;
	const double units = (double)f->nodes * (f->gpus > 1 ? f->gpus + 1 : 1);
	int rc = 0;

	f->tests = places * NT_PAIR_WHATS * units * NT_LOW_LOOKS;
	f->alpha = NT_LOW_ALPHA / f->tests;
	for (int place = 0; rc == 0 && place < NT_PAIR_PLACES; place++) {
		if (place == NT_PAIR_INSIDE && f->gpus < 2)
			continue;
		for (int what = 0; rc == 0 && what < NT_PAIR_WHATS; what++) {
			f->place = (enum nt_pair_place)place;
			f->what = (enum nt_pair_what)what;
			rc = open_field(f);
			if (rc == 0)
				rc = judge_field(f);
			close_field(f);
		}
	}
	return rc;
}

/* ---- wrong results */

/* Partners, apart from nodes that were named (NULL: none), with which results were wrong. */
static unsigned wrong_partners(const struct field *f, unsigned node, const bool *named,
			       bool *inside)
{
	bool *met = calloc(f->nodes, sizeof(*met));
	unsigned partners = 0;

	*inside = false;
	for (size_t i = 0; met && i < f->count; i++) {
		const struct nt_pair_time *time = &f->time[i];
		const unsigned other = time->node[0] == node ? time->node[1] : time->node[0];

		if (!time->wrong || (time->node[0] != node && time->node[1] != node))
			continue;
		if (other == node)
			*inside = true;
		else if (!met[other] && !(named && named[other]))
			partners++;
		met[other] = true;
	}
	free(met);
	return partners;
}

/* The GPU of all its wrong pairs, with those of other nodes if there are any; -1: several. */
static int wrong_gpu(const struct field *f, unsigned node)
{
	bool inside, between = wrong_partners(f, node, NULL, &inside) > 0;
	int gpu = -2;

	for (size_t i = 0; i < f->count; i++)
		for (int side = 0; side < 2; side++) {
			const struct nt_pair_time *time = &f->time[i];

			if (!time->wrong || time->node[side] != node ||
			    (between && time->node[0] == time->node[1]))
				continue;
			gpu = gpu == -2 || gpu == time->gpu[side] ? time->gpu[side] : -1;
		}
	return f->gpus > 1 && gpu >= 0 ? gpu : -1;
}

static int add_wrong(const struct field *f, unsigned node, bool sure)
{
	const int gpu = wrong_gpu(f, node);
	const struct nt_low low = { .node = node,
				    .gpu = gpu,
				    .part = gpu < 0 ? NT_LOW_NODE : NT_LOW_GPU,
				    .place = NT_PAIR_BETWEEN,
				    .wrong = true,
				    .sure = sure };

	return add_low(f->verdict, &low);
}

static bool any_wrong(const struct field *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->time[i].wrong)
			return true;
	return false;
}

/* The node with wrong results with most others; returns with how many. */
static unsigned find_worst(const struct field *f, const bool *named, unsigned *worst)
{
	unsigned most = 0;

	for (unsigned node = 0; node < f->nodes; node++) {
		bool inside;
		unsigned partners = wrong_partners(f, node, named, &inside);

		partners = inside ? f->nodes : partners;
		if (named[node] || partners <= most)
			continue;
		most = partners;
		*worst = node;
	}
	return most;
}

/* Nodes with several wrong partners first; of the remaining pairs, either may be wrong. */
static int judge_wrong(const struct field *f)
{
	bool *named = calloc(f->nodes, sizeof(*named));
	unsigned worst = 0, most = 0;
	int rc = named ? 0 : -1;

	while (rc == 0 && any_wrong(f)) {
		most = find_worst(f, named, &worst);
		if (most < 2)
			break;
		rc = add_wrong(f, worst, true);
		named[worst] = true;
	}
	for (unsigned node = 0; rc == 0 && most == 1 && node < f->nodes; node++) {
		bool inside;

		if (!named[node] && wrong_partners(f, node, named, &inside) == 1)
			rc = add_wrong(f, node, false);
	}
	free(named);
	return rc;
}

/* ---- all */

static int by_slowness(const void *left, const void *right)
{
	const struct nt_low *a = left, *b = right;

	NT_COMPARE(b->wrong, a->wrong);
	NT_COMPARE(b->slower, a->slower);
	NT_COMPARE(a->node, b->node);
	return 0;
}

int nt_low_judge(const struct nt_pair_time *time, size_t count, unsigned nodes, unsigned gpus,
		 struct nt_low_verdict *verdict, struct nt_error *err)
{
	struct field f = {
		.time = time, .count = count, .nodes = nodes, .gpus = gpus, .verdict = verdict
	};
	int rc = -1;

	memset(verdict, 0, sizeof(*verdict));
	f.open = calloc(nodes, sizeof(f.open[0]));
	if (f.open && judge_wrong(&f) == 0 && judge_times(&f) == 0)
		rc = 0;
	for (unsigned node = 0; rc == 0 && node < nodes; node++)
		verdict->open += f.open[node];
	free(f.open);
	if (rc < 0) {
		nt_low_fini(verdict);
		return nt_error_set(err, "no memory");
	}
	if (verdict->count > 1)
		qsort(verdict->low, verdict->count, sizeof(verdict->low[0]), by_slowness);
	return 0;
}

void nt_low_fini(struct nt_low_verdict *verdict)
{
	free(verdict->low);
	memset(verdict, 0, sizeof(*verdict));
}

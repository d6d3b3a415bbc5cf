/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a cost model with the shape of NCCL's: latency by steps, bandwidth by protocol */
#include "tests/fake/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/fake/fake.h"
#include "tests/fake/launch.h"
#include "tests/fake/rng.h"

enum algo { TREE, RING, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE, PAT };
enum proto { LL, LL128, SIMPLE };

/* Microseconds a step, GB/s; LL, LL128, SIMPLE. Links: NVLink inside a node, sockets between
 * nodes. */
static const double base_us[NT_PROTOS] = { 6.0, 8.0, 9.0 };
static const double near_us[NT_PROTOS] = { 0.6, 1.2, 3.0 };
static const double far_us[NT_PROTOS] = { 14.0, 18.0, 20.0 };
static const double near_gbs[NT_PROTOS] = { 45.0, 170.0, 200.0 };
static const double far_gbs[NT_PROTOS] = { 1.1, 3.0, 4.0 };

static bool has_launch(const struct nt_trace *t)
{
	for (unsigned i = 0; i < t->rows; i++) {
		if (t->row[i].launch[0])
			return true;
	}
	return false;
}

static int check_rows(const struct nt_model *m, struct nt_error *err)
{
	if (m->trace.rows <= NT_MAX_ROWS)
		return 0;
	return nt_error_set(err, "%s: more than %d rows", m->options->trace_path, NT_MAX_ROWS);
}

int nt_model_init(struct nt_model *m, const struct nt_options *o, struct nt_error *err)
{
	*m = (struct nt_model){ .options = o, .compute_factor = 1 };
	if (o->trace_path && nt_trace_load(&m->trace, o->trace_path, err) < 0)
		return -1;
	if (!has_launch(&m->trace) && check_rows(m, err) < 0) {
		nt_trace_fini(&m->trace);
		return -1;
	}
	if (o->picks_path && nt_picks_load(&m->picks, o->picks_path, err) < 0) {
		nt_trace_fini(&m->trace);
		return -1;
	}
	return 0;
}

void nt_model_fini(struct nt_model *m)
{
	nt_trace_fini(&m->trace);
	nt_trace_fini(&m->picks);
}

/* Keeps only the rows of that set. */
static unsigned keep_rows(struct nt_trace *t, const char *set)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->rows; i++) {
		struct nt_trace_row row = t->row[i];

		if (!nt_launch_same(row.launch, set)) {
			free(row.sample_us);
			continue;
		}
		row.launch[0] = 0;
		t->row[kept++] = row;
	}
	t->rows = kept;
	return kept;
}

static bool has_set(const struct nt_trace *t, const char *set)
{
	for (unsigned i = 0; i < t->rows; i++) {
		if (nt_launch_same(t->row[i].launch, set))
			return true;
	}
	return false;
}

static int choose_rows(struct nt_model *m, const char *set, struct nt_error *err)
{
	const char *other = m->options->launch_else;

	if (!has_set(&m->trace, set)) {
		if (!other || !has_set(&m->trace, other))
			return nt_error_set(
				err, "no times of launch variables %.100s in %.60s (--launch-else)",
				set, m->options->trace_path);
		set = other;
	}
	keep_rows(&m->trace, set);
	return check_rows(m, err);
}

static int add_effects(struct nt_launch_names *names, const struct nt_launch_effect *e, unsigned n,
		       struct nt_error *err)
{
	for (unsigned i = 0; i < n; i++) {
		if (e[i].set && nt_launch_names_add(names, e[i].set, err) < 0)
			return -1;
	}
	return 0;
}

static bool holds(const struct nt_launch_names *names, const struct nt_launch_effect *e)
{
	return !e->set || nt_launch_in_force(names, e->set);
}

int nt_model_launch(struct nt_model *m, struct nt_error *err)
{
	const struct nt_options *o = m->options;
	struct nt_launch_names names = { .count = 0 };

	for (unsigned i = 0; i < m->trace.rows; i++) {
		if (nt_launch_names_add(&names, m->trace.row[i].launch, err) < 0)
			return -1;
	}
	nt_launch_text(&names, m->launch, sizeof(m->launch));
	if (has_launch(&m->trace) && choose_rows(m, m->launch, err) < 0)
		return -1;
	if (add_effects(&names, o->slow, o->slows, err) < 0 ||
	    add_effects(&names, o->compute_factor, o->compute_factors, err) < 0)
		return -1;
	nt_launch_text(&names, m->launch, sizeof(m->launch));
	if (!names.count)
		m->launch[0] = 0;
	for (unsigned i = 0; i < o->slows; i++)
		m->slow[i] = holds(&names, &o->slow[i]);
	for (unsigned i = 0; i < o->compute_factors; i++)
		m->compute_factor *= holds(&names, &o->compute_factor[i])
					     ? o->compute_factor[i].factor
					     : 1;
	return 0;
}

/* The entries that exist for a collective on such a communicator, as in NCCL 2.23 and later. */
static bool legal(const struct nt_options *o, const struct nt_shape *p, int coll, int arm)
{
	int algo = arm / NT_PROTOS;
	int proto = arm % NT_PROTOS;
	bool gathers = coll == NT_ALLGATHER || coll == NT_REDUCESCATTER;

	if (algo >= p->algos || (p->barred >> arm & 1) ||
	    (proto == LL128 && (o->no_nvlink || (p->nodes > 1 && !o->ll128))))
		return false;
	switch (algo) {
	case RING: return true;
	case TREE: return coll == NT_ALLREDUCE;
	case NVLS:
		return o->nvls && proto == SIMPLE && p->nodes == 1 &&
		       (gathers || coll == NT_ALLREDUCE);
	case NVLS_TREE: return o->nvls && proto == SIMPLE && p->nodes > 1 && coll == NT_ALLREDUCE;
	case PAT:
		return proto == SIMPLE && gathers && p->nodes > 1 &&
		       (p->per_node == 1 || p->wide_pat);
	default: return false;
	}
}

/* Steps of an algorithm inside nodes and between them. */
static void count_steps(const struct nt_shape *p, int coll, int algo, double *near, double *far)
{
	double passes = coll == NT_ALLREDUCE ? 2 : 1;
	double levels = p->nodes > 1 ? ceil(log2(p->nodes)) : 0;

	switch (algo) {
	case TREE:
		*near = passes * (p->per_node - 1);
		*far = passes * levels;
		break;
	case NVLS:
	case NVLS_TREE:
		*near = 4;
		*far = passes * levels;
		break;
	case PAT:
		*near = 0;
		*far = levels;
		break;
	default:
		*far = p->nodes > 1 ? passes * (p->nodes - 1) : 0;
		*near = passes * (p->ranks - 1) - *far;
		break;
	}
}

static double belief_us(const struct nt_shape *p, const struct nt_run *r, int pipe_ops)
{
	int algo = r->arm / NT_PROTOS;
	int proto = r->arm % NT_PROTOS;
	double factor = r->coll == NT_ALLREDUCE ? 2.0 : 1.0;
	double gbs = p->nodes > 1 ? far_gbs[proto] : near_gbs[proto];
	double near, far;
	double steps_us;

	if (r->coll != NT_BROADCAST && r->coll != NT_REDUCE)
		factor *= (double)(p->ranks - 1) / p->ranks;
	if (algo == TREE)
		gbs *= p->nodes > 1 ? 1.0 : 0.8;
	if (algo == NVLS)
		gbs *= 1.5;
	count_steps(p, r->coll, algo, &near, &far);
	steps_us = base_us[proto] + near * near_us[proto] + far * far_us[proto];
	if (algo == RING)
		steps_us *= pipe_ops;
	return steps_us + (double)r->bytes * factor / (gbs * 1e3);
}

static void topology_of(const struct nt_model *m, const struct nt_shape *p, char *out, size_t bytes)
{
	if (m->options->trace_topology[0])
		snprintf(out, bytes, "%s", m->options->trace_topology);
	else
		snprintf(out, bytes, "%dx%d", p->nodes, p->per_node);
}

/* NCCL's measured pick for such a call; -1 where none is known. */
static int known_pick(const struct nt_model *m, const struct nt_shape *p, int coll, uint64_t bytes)
{
	struct nt_trace_row want = { .coll = coll, .arm = -1, .bytes = bytes };
	int row;

	topology_of(m, p, want.topology, sizeof(want.topology));
	row = nt_trace_find(&m->picks, &want);
	return row < 0 ? -1 : m->picks.row[row].arm;
}

void nt_model_costs(const struct nt_model *m, const struct nt_shape *p, int coll, uint64_t bytes,
		    int pipe_ops, float *table)
{
	int pairs = p->algos * NT_PROTOS;
	int pick = known_pick(m, p, coll, bytes);
	float least = INFINITY;

	for (int arm = 0; arm < pairs; arm++) {
		struct nt_run r = { .coll = coll, .bytes = bytes, .arm = arm };

		table[arm] = -1.0f;
		if (legal(m->options, p, coll, arm)) {
			table[arm] = (float)belief_us(p, &r, pipe_ops);
			least = fminf(least, table[arm]);
		}
	}
	if (pick >= 0 && pick < pairs && table[pick] >= 0)
		table[pick] = 0.9f * least;
	/* enqueue.cc:1811@v2.28.9-1: negative entries are multiplied as well. */
	if (p->fp8 && p->ranks > 8) {
		for (int proto = 0; proto < NT_PROTOS; proto++)
			table[RING * NT_PROTOS + proto] *= 1024.0f;
	}
}

int nt_model_pick(const float *table, int algos)
{
	float least = 3600000000.0f;
	int arm = -1;

	for (int i = 0; i < algos * NT_PROTOS; i++) {
		if (table[i] >= 0 && table[i] < least) {
			least = table[i];
			arm = i;
		}
	}
	return arm;
}

/* The factor of a limit of channels: fewer channels are slower, more are not faster. */
static double capped_us(const struct nt_shape *p, const struct nt_run *r)
{
	int own = nt_model_channels(p, r->bytes, r->arm);
	struct nt_run empty = *r;

	empty.bytes = 0;
	if (r->cap == 0 || r->cap >= own)
		return 0;
	return (belief_us(p, r, 1) - belief_us(p, &empty, 1)) * (own - r->cap) / r->cap;
}

double nt_model_truth_us(const struct nt_model *m, const struct nt_shape *p, const struct nt_run *r)
{
	int shaped = nt_choice_arm(r->arm, r->cap);
	double us = belief_us(p, r, 1) + capped_us(p, r);

	for (unsigned i = 0; i < m->options->truths; i++) {
		const struct nt_arm_truth *t = &m->options->truth[i];

		if ((t->arm == r->arm || t->arm == shaped) && (t->coll < 0 || t->coll == r->coll) &&
		    r->op >= t->from_op)
			us *= t->factor;
	}
	return us;
}

static double noise_factor(const struct nt_options *o, uint64_t key)
{
	double z = nt_rng_normal(nt_rng_mix(key, 1));

	switch (o->noise) {
	case NT_NOISE_GAUSSIAN: return fmax(0.1, 1.0 + o->noise_width * z);
	case NT_NOISE_LOGNORMAL: return exp(o->noise_width * z);
	case NT_NOISE_BIMODAL:
		return exp(o->noise_width * z) *
		       (nt_rng_unit(nt_rng_mix(key, 2)) < o->fast_share ? 1.0 : o->slow_ratio);
	default: return 1.0;
	}
}

/* NCCL's own pick was measured as AUTO; any other arm was forced when it was measured. An arm with
 * a cap that has no rows takes as long as its pair. */
static int traced_row(const struct nt_model *m, const struct nt_shape *p, const struct nt_run *r)
{
	struct nt_trace_row want = { .coll = r->coll, .bytes = r->bytes };
	int row = -1;

	if (!m->trace.rows)
		return -1;
	topology_of(m, p, want.topology, sizeof(want.topology));
	snprintf(want.mode, sizeof(want.mode), "%s", m->options->trace_mode);
	want.arm = nt_choice_arm(r->arm, r->cap);
	if (want.arm != r->arm)
		row = nt_trace_find(&m->trace, &want);
	if (row < 0 && r->arm == r->auto_arm) {
		want.arm = NT_ARM_BASELINE;
		row = nt_trace_find(&m->trace, &want);
	}
	if (row < 0) {
		want.arm = r->arm;
		row = nt_trace_find(&m->trace, &want);
	}
	return row;
}

static double slowed(const struct nt_model *m, uint64_t round)
{
	double factor = 1;

	for (unsigned i = 0; i < m->options->slows; i++) {
		if (m->slow[i] && round >= m->options->slow[i].from_round)
			factor *= m->options->slow[i].factor;
	}
	return factor;
}

uint64_t nt_model_duration_ns(const struct nt_model *m, const struct nt_shape *p,
			      const struct nt_run *r, uint32_t *cursor)
{
	int row = traced_row(m, p, r);
	double us;

	if (row >= 0) {
		const struct nt_trace_row *t = &m->trace.row[row];

		us = t->sample_us[cursor[row]++ % t->samples];
	} else {
		us = nt_model_truth_us(m, p, r) * noise_factor(m->options, r->key);
	}
	return (uint64_t)(us * slowed(m, r->round) * 1e3);
}

#define COMPUTE_WIDTH 0.01 /* kernels vary far less than networks */

uint64_t nt_model_compute_ns(const struct nt_model *m, uint64_t round)
{
	double us = m->options->compute_us * m->compute_factor;
	uint64_t key = nt_rng_mix(m->options->seed + 101, round);

	if (m->options->noise != NT_NOISE_NONE)
		us *= exp(COMPUTE_WIDTH * nt_rng_normal(key));
	return (uint64_t)(us * 1e3);
}

int nt_model_channels(const struct nt_shape *p, uint64_t bytes, int arm)
{
	uint64_t threads = 512;
	uint64_t threshold = arm % NT_PROTOS == SIMPLE ? 64 : 8;
	uint64_t n = p->channels;

	if (arm == RING * NT_PROTOS + LL)
		threshold *= (uint64_t)p->ranks;
	while (n > 1 && bytes < n * threads * threshold)
		n--;
	return (int)n;
}

int nt_model_traffic(int coll)
{
	return coll == NT_ALLREDUCE ? 2 : 1;
}

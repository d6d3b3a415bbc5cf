/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/truth.h"

#include <math.h>
#include <stdlib.h>
#include "tests/fake/rng.h"

/* Up to this size, early ends are a share of a call's time; above, one that falls with the root of
 * the size (docs/results/h200-ranks). */
#define EARLY_BYTES 65536.0

static const struct nt_inst *any_of_kind(const struct nt_world *w, unsigned kind)
{
	for (unsigned i = 0; i < w->insts; i++) {
		if (w->inst[i].kind == kind)
			return &w->inst[i];
	}
	return NULL;
}

/* The time of an arm that the file names, as a share of AUTO's; 0: it names none. */
static double named(const struct nt_world *w, unsigned key, int pair)
{
	for (unsigned i = 0; i < w->p->truths; i++) {
		const struct nt_program_truth *t = &w->p->truth[i];

		if (t->key == key && t->arm == pair)
			return t->factor;
	}
	return 0;
}

/* What makes this arm another one than NCCL believes. */
static double factor_of(const struct nt_world *w, unsigned key, int pair)
{
	const struct nt_program_key *k = &w->p->key[key];
	uint64_t who = nt_rng_mix(w->seed + 17, (uint64_t)k->coll * 131 + nt_band(k->bytes));

	who = nt_rng_mix(nt_rng_mix(who, k->comm), (uint64_t)pair);
	return w->p->comm[k->comm].time_factor * exp(w->p->spread * nt_rng_normal(who));
}

static struct nt_run run_of(const struct nt_world *w, unsigned key, int arm)
{
	return (struct nt_run){
		.coll = w->p->key[key].coll,
		.bytes = w->p->key[key].bytes,
		.arm = nt_arm_pair(arm),
		.auto_arm = w->baseline_arm[key],
		.cap = (int)nt_arm_channels(arm),
	};
}

static void open_key(struct nt_world *w, unsigned key)
{
	const struct nt_program_key *k = &w->p->key[key];
	const struct nt_inst *inst = any_of_kind(w, k->comm);
	float cost[NT_PAIRS];
	int best = -1;

	nt_model_costs(&w->model, &inst->place, k->coll, k->bytes, 1, cost);
	w->baseline_arm[key] = nt_model_pick(cost, inst->place.algos);
	for (int arm = 0; arm < NT_PAIRS; arm++) {
		struct nt_run r = run_of(w, key, arm);

		w->true_us[key][arm] = -1;
		if (cost[arm] < 0)
			continue;
		w->true_us[key][arm] = nt_model_truth_us(&w->model, &inst->place, &r) *
				       factor_of(w, key, arm);
	}
	for (int arm = 0; arm < NT_PAIRS; arm++) {
		if (cost[arm] < 0)
			continue;
		if (named(w, key, arm) > 0)
			w->true_us[key][arm] = named(w, key, arm) *
					       w->true_us[key][w->baseline_arm[key]];
		if (best < 0 || w->true_us[key][arm] < w->true_us[key][best])
			best = arm;
	}
	w->best_arm[key] = best;
}

void nt_truth_open(struct nt_world *w)
{
	w->true_us = calloc(w->p->keys, sizeof(w->true_us[0]));
	w->baseline_arm = calloc(w->p->keys, sizeof(w->baseline_arm[0]));
	w->best_arm = calloc(w->p->keys, sizeof(w->best_arm[0]));
	if (!w->true_us || !w->baseline_arm || !w->best_arm)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	for (unsigned i = 0; i < w->p->keys; i++)
		open_key(w, i);
}

double nt_truth_us(const struct nt_world *w, const struct nt_inst *inst, unsigned key, int arm)
{
	struct nt_run pair = run_of(w, key, nt_arm_pair(arm)), whole = run_of(w, key, arm);
	double us = w->true_us[key][nt_arm_pair(arm)];

	if (!whole.cap)
		return us;
	return us * nt_model_truth_us(&w->model, &inst->place, &whole) /
	       nt_model_truth_us(&w->model, &inst->place, &pair);
}

static unsigned levels(unsigned count)
{
	unsigned n = 0;

	while (count >>= 1)
		n++;
	return n;
}

double nt_truth_end(const struct nt_world *w, const struct nt_inst *inst, unsigned index,
		    unsigned key, int arm)
{
	const unsigned deepest = levels(inst->ranks);
	const double bytes = (double)w->p->key[key].bytes;
	double early = w->p->early[nt_arm_pair(arm)];

	if (bytes > EARLY_BYTES)
		early *= sqrt(EARLY_BYTES / bytes);
	return 1 - early * (deepest - levels(index + 1)) / deepest;
}

/* What has changed since the program began. */
static double later_factor(const struct nt_world *w, unsigned key, int arm)
{
	double factor = 1;

	for (unsigned i = 0; i < w->p->laters; i++) {
		const struct nt_program_later *l = &w->p->later[i];

		if (l->key == key && nt_vtime_ns() >= l->ns &&
		    (l->all || nt_arm_pair(arm) != w->baseline_arm[key]))
			factor *= l->factor;
	}
	return factor;
}

uint64_t nt_truth_ns(const struct nt_world *w, const struct nt_inst *inst, unsigned key, int arm,
		     uint64_t call)
{
	struct nt_run r = run_of(w, key, nt_arm_pair(arm));
	double us = nt_truth_us(w, inst, key, arm) * later_factor(w, key, arm);
	uint32_t nothing = 0;

	r.op = call;
	r.key = nt_rng_mix(nt_rng_mix(w->seed, inst->id), call);
	return (uint64_t)(us / nt_model_truth_us(&w->model, &inst->place, &r) *
			  (double)nt_model_duration_ns(&w->model, &inst->place, &r, &nothing));
}

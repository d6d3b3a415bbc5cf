/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/job-compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "record/bandwidth.h"

/* ---- times */

const char *nt_noise_name(enum nt_noise noise)
{
	static const char *const names[] = { "unknown", "within", "beyond" };

	return names[noise];
}

enum nt_noise nt_pair_noise(const struct nt_time_pair *times)
{
	for (int i = 0; i < 2; i++) {
		if (isnan(times->us[i]) || isnan(times->low_us[i]) || isnan(times->high_us[i]))
			return NT_NOISE_UNKNOWN;
	}
	return times->high_us[0] < times->low_us[1] || times->high_us[1] < times->low_us[0]
		       ? NT_NOISE_BEYOND
		       : NT_NOISE_WITHIN;
}

static void set_change(struct nt_time_pair *times)
{
	times->change_percent = times->us[0] > 0 ? 100 * (times->us[1] / times->us[0] - 1) : NAN;
}

void nt_pair_step_time(struct nt_time_pair *times, const struct nt_step_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		const struct nt_step_side *side = pair->side[i];
		const double *us = side ? side->summary->steps[side->at].step_us : NULL;

		times->low_us[i] = us ? us[0] : NAN;
		times->us[i] = us ? us[1] : NAN;
		times->high_us[i] = us ? us[2] : NAN;
	}
	set_change(times);
}

/* Records only have quartiles of the times to the next call: assume that a call's own time varies
 * by as much. */
void nt_pair_key_time(struct nt_time_pair *times, const struct nt_key_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		const struct nt_key *key = pair->key[i];
		const enum nt_which which = key ? nt_row_in_force(key) : NT_OF_AUTO;
		double us = key ? key->us[which] : NAN;

		times->us[i] = key && pair->own ? key->own_us[which] : us;
		times->low_us[i] = key ? times->us[i] - (us - key->p25_us[which]) : NAN;
		times->high_us[i] = key ? times->us[i] + (key->p75_us[which] - us) : NAN;
	}
	set_change(times);
}

int nt_key_arm_in_force(const struct nt_key *key)
{
	return key->arm != NT_ARM_BASELINE ? key->arm : key->auto_arm;
}

/* ---- pairs */

static bool same_key(const struct nt_step_side *const side[2], const struct nt_key *a,
		     const struct nt_key *b)
{
	return a->coll == b->coll && a->bytes == b->bytes && a->ranks == b->ranks &&
	       a->nodes == b->nodes &&
	       strcmp(side[0]->summary->families[a->family].name,
		      side[1]->summary->families[b->family].name) == 0;
}

static const struct nt_key *find_key(const struct nt_step_side *const side[2], int in,
				     const struct nt_key *key)
{
	const struct nt_summary *summary = side[in] ? side[in]->summary : NULL;

	for (size_t i = 0; summary && i < summary->row_count; i++) {
		const struct nt_key *other = &summary->rows[i];

		if (other->step == side[in]->at &&
		    same_key(side, in ? key : other, in ? other : key))
			return other;
	}
	return NULL;
}

static bool own_known(const struct nt_key *key)
{
	return !key || !isnan(key->own_us[nt_row_in_force(key)]);
}

/* from 0: all keys of the first side, from 1: those that only the second has. */
static int add_keys(struct nt_step_pair *pair, int from, struct nt_error *err)
{
	const struct nt_step_side *side = pair->side[from];
	struct nt_key_pair *added;

	for (size_t i = 0; side && i < side->summary->row_count; i++) {
		const struct nt_key *key = &side->summary->rows[i], *other;

		if (key->step != side->at)
			continue;
		other = find_key(pair->side, !from, key);
		if (from == 1 && other)
			continue;
		added = nt_array_add(&pair->keys, &pair->key_count, SIZE_MAX, sizeof(*added));
		if (!added)
			return nt_error_set(err, "no memory to compare the jobs");
		added->key[from] = key;
		added->key[!from] = other;
		added->own = own_known(key) && own_known(other);
	}
	return 0;
}

static int add_pair(struct nt_job_comparison *comparison, const struct nt_step_side *a,
		    const struct nt_step_side *b, struct nt_error *err)
{
	struct nt_step_pair *pair = nt_array_add(&comparison->pairs, &comparison->count, SIZE_MAX,
						 sizeof(*pair));

	if (!pair)
		return nt_error_set(err, "no memory to compare the jobs");
	*pair = (struct nt_step_pair){ .side = { a, b } };
	return add_keys(pair, 0, err) < 0 ? -1 : add_keys(pair, 1, err);
}

/* partner[i]: which step of the second job belongs to step i of the first; SIZE_MAX: none. */
struct matching {
	const struct nt_step_side *const *side;
	const size_t *count;
	size_t *partner;
	bool *taken; /* of the second job's */
};

/* Give each step of the first job the first free one of the second. */
static void match(const struct matching *matching, bool by_program)
{
	for (size_t i = 0; i < matching->count[0]; i++) {
		const char *program = matching->side[0][i].program;

		for (size_t j = 0; j < matching->count[1] && matching->partner[i] == SIZE_MAX;
		     j++) {
			if (matching->taken[j] ||
			    (by_program &&
			     (!program[0] || strcmp(program, matching->side[1][j].program) != 0)))
				continue;
			matching->partner[i] = j;
			matching->taken[j] = true;
		}
	}
}

static int add_pairs(struct nt_job_comparison *comparison, const struct matching *matching,
		     struct nt_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < matching->count[0]; i++)
		rc = add_pair(comparison, &matching->side[0][i],
			      matching->partner[i] == SIZE_MAX
				      ? NULL
				      : &matching->side[1][matching->partner[i]],
			      err);
	for (size_t j = 0; rc == 0 && j < matching->count[1]; j++) {
		if (!matching->taken[j])
			rc = add_pair(comparison, NULL, &matching->side[1][j], err);
	}
	return rc;
}

int nt_job_comparison_make(struct nt_job_comparison *comparison,
			   const struct nt_step_side *const side[2], const size_t count[2],
			   struct nt_error *err)
{
	struct matching matching = { side, count, calloc(count[0] + 1, sizeof(size_t)),
				     calloc(count[1] + 1, sizeof(bool)) };
	int rc = -1;

	*comparison = (struct nt_job_comparison){ NULL, 0 };
	if (matching.partner && matching.taken) {
		for (size_t i = 0; i < count[0]; i++)
			matching.partner[i] = SIZE_MAX;
		match(&matching, true);
		match(&matching, false);
		rc = add_pairs(comparison, &matching, err);
	} else {
		nt_error_set(err, "no memory to compare the jobs");
	}
	free(matching.partner);
	free(matching.taken);
	if (rc < 0)
		nt_job_comparison_fini(comparison);
	return rc;
}

void nt_job_comparison_fini(struct nt_job_comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++)
		free(comparison->pairs[i].keys);
	free(comparison->pairs);
	*comparison = (struct nt_job_comparison){ NULL, 0 };
}

/* ---- settings */

static const struct {
	const char *name, *code;
	enum { SIDE_TEXT, STEP_TEXT, STEP_COUNT, STEP_HASH } kind;
	size_t offset; /* of the member in nt_step_side or nt_step */
} settings[] = {
#define SIDE(member) SIDE_TEXT, offsetof(struct nt_step_side, member)
#define STEP(kind, member) STEP_##kind, offsetof(struct nt_step, member)
	{ "program", "program", SIDE(program) },
	{ "NCCL", "nccl", STEP(TEXT, nccl) },
	{ "ranks", "ranks", STEP(COUNT, ranks) },
	{ "nodes", "nodes", STEP(COUNT, nodes) },
	{ "ranks on each", "per_node", STEP(COUNT, per_node) },
	{ "network", "fabric", STEP(TEXT, fabric) },
	{ "GPU driver", "driver", STEP(TEXT, driver) },
	{ "fingerprint", "fp", STEP(TEXT, fingerprint) },
	{ "mode", "mode", STEP(TEXT, mode) },
	{ "settings", "policy", SIDE(settings.policy) },
	{ "launch profile", "launch", STEP(TEXT, launch) },
	{ "it sets", "set", STEP(TEXT, set) },
	{ "it leaves", "left", STEP(TEXT, left) },
	{ "own variables", "own", STEP(HASH, user_env) },
	{ "NCCL's variables", "variables", SIDE(settings.variables) },
	{ "NCCL's library", "library", SIDE(settings.library) },
	{ "chained plugins", "plugins", SIDE(settings.plugins) },
};

const size_t nt_setting_count = sizeof(settings) / sizeof(settings[0]);

const char *nt_setting_name(size_t setting)
{
	return settings[setting].name;
}

const char *nt_setting_code(size_t setting)
{
	return settings[setting].code;
}

const char *nt_setting_text(size_t setting, const struct nt_step_side *side,
			    char out[NT_SETTING_TEXT])
{
	const bool of_side = settings[setting].kind == SIDE_TEXT;
	const void *from = of_side ? (const void *)side : &side->summary->steps[side->at];
	const void *member = (const char *)from + settings[setting].offset;
	int64_t number;

	if (of_side || settings[setting].kind == STEP_TEXT)
		return member;
	number = *(const int64_t *)member;
	if (number < 0 || (number == 0 && settings[setting].kind == STEP_HASH))
		return ""; /* not known */
	if (settings[setting].kind == STEP_HASH)
		snprintf(out, NT_SETTING_TEXT, "%016" PRIx64, (uint64_t)number);
	else
		snprintf(out, NT_SETTING_TEXT, "%" PRId64, number);
	return out;
}

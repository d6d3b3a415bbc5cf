/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation.h - everything known and measured about a key that is being explored
 *
 * Threads:  values and pure functions.
 * Memory:   about 280 KiB each.
 * Errors:   none.
 * Units:    in the names.
 */
#ifndef NT_EVALUATION_H
#define NT_EVALUATION_H

#include <stddef.h>
#include "contract/policy.h"
#include "engine/evidence.h"
#include "engine/key-info.h"
#include "engine/cost-account.h"

/* Cost of exploring a key. */
struct nt_spent {
	uint32_t calls; /* positions of all rounds */
	struct nt_cost_account account;
};

struct nt_rule;

struct nt_evaluation {
	const struct nt_policy *policy;
	const struct nt_rule *rule;
	struct nt_key_info info;
	float fitted_us[NT_PAIRS]; /* engine/fit.h; 0: no prediction */
	/* Blocks of a first and of a second round, by the rule; the second without its warm-up. */
	uint8_t first_blocks, first_warm_up, second_blocks;
	double opened_us; /* info.age_us when it was opened */
	/* The newest round asked for, affordable or not; kind 0: none. */
	struct nt_schedule schedule;
	unsigned rounds[NT_SCHEDULE_KINDS]; /* completed rounds, by kind */
	struct nt_evidence screen, confirm, recheck;
	struct nt_spent spent;
	unsigned arms; /* arms explored, including the baseline */
	bool looks_early; /* the rule has early looks at rarely called keys */
	bool early; /* second rounds are short at first (engine/confirm.h) */
	bool only; /* there is time for one second round only */
	bool refined; /* screened again, with channel caps and chunk sizes */
	bool warming; /* the newest round, the very first, is of a remembered arm */
	unsigned forgotten; /* rounds of remembered arms that were not faster */
	uint8_t wanted; /* enum nt_measure: what first rounds tell */
	uint8_t measure; /* enum nt_measure: by which later rounds are judged */
	bool rechecks; /* `current` is committed and being rechecked */
	uint16_t current;
};

/* The collective's duration as a share of the baseline's lower quartile, as far as it is known; 1
 * if nothing is. */
double nt_evaluation_own_share(const struct nt_evaluation *seen,
			       const struct nt_evidence *evidence);
/* The gain that an arm needs in this evidence, as a fraction of 1: min_gain is a share of the
 * collective's duration, if known, not of the time until the next collective. */
double nt_evaluation_min_gain(const struct nt_evaluation *seen, const struct nt_evidence *evidence);
/* Duration of a call of the arm with this index: as stamped where stamps can be trusted, otherwise
 * derived from the gaps between calls of an arm whose stamps can. 0: not known. */
double nt_evaluation_duration_us(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, unsigned index);
size_t nt_evaluation_bytes(const struct nt_evaluation *seen); /* size of the collective */

/* Blocks of the newest round that are no evidence. */
unsigned nt_evaluation_warm_up(const struct nt_evaluation *seen);

/* nt_schedule_explore(), with two calls in a row where that tells more. */
struct nt_schedule nt_evaluation_explore(const struct nt_evaluation *seen,
					 enum nt_schedule_kind kind, const uint16_t *others,
					 unsigned count, unsigned blocks);
/* Has an arm enough samples for a round like the newest one? */
bool nt_evaluation_enough(const struct nt_evaluation *seen, unsigned samples);

/* Index of the arm with the lowest lower quartile, among arms with enough samples and not in
 * `taken`; 0 (the baseline) if none. */
unsigned nt_evaluation_next_best(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, uint32_t taken);

#endif

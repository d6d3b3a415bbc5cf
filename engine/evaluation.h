/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation.h - all that is known and measured of a key that is being explored
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

struct nt_evaluation {
	const struct nt_policy *policy;
	struct nt_key_info info;
	uint8_t first_blocks; /* of the first round */
	double opened_us; /* info.age_us when it was opened */
	/* The newest round, explored or too expensive; kind 0: none. */
	struct nt_schedule schedule;
	unsigned rounds[NT_SCHEDULE_KINDS]; /* completed rounds, by kind */
	struct nt_evidence screen, confirm, recheck;
	struct nt_spent spent;
	unsigned arms; /* including the baseline */
	bool early; /* its second rounds begin short (engine/confirm.h) */
	bool only; /* there is time for one second round only */
	bool refined; /* screened again with channel caps */
	bool warming; /* the newest round, the first of all, is of a remembered arm */
	unsigned forgotten; /* rounds of remembered arms that were not faster */
	uint8_t wanted; /* enum nt_measure: of first rounds */
	uint8_t measure; /* enum nt_measure: that later rounds are judged by */
	bool rechecks; /* `current` is committed, and rechecked */
	uint16_t current;
};

/* The collective's share of the baseline's lower quartile; 1: unknown. */
double nt_evaluation_own_share(const struct nt_evaluation *seen,
			       const struct nt_evidence *evidence);
/* The gain that an arm needs, as a fraction of 1. min_gain is a share of the collective's duration,
 * if known, not of the time until the next collective. */
double nt_evaluation_min_gain(const struct nt_evaluation *seen, const struct nt_evidence *evidence);
/* Duration of the arm's calls: as NCCL stamped it if that can be trusted, else from the gaps
 * between calls of an arm for which it can. 0: not known. */
double nt_evaluation_duration_us(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, unsigned index);
size_t nt_evaluation_bytes(const struct nt_evaluation *seen); /* of the collective */

/* nt_schedule_explore(), with doubled calls where they tell more. */
struct nt_schedule nt_evaluation_explore(const struct nt_evaluation *seen,
					 enum nt_schedule_kind kind, const uint16_t *others,
					 unsigned count, unsigned blocks);
/* Are these enough samples for a round like the newest one? */
bool nt_evaluation_enough(const struct nt_evaluation *seen, unsigned samples);

/* The best arm, by its best times, with enough samples and not in `taken`; 0, the baseline:
 * none. */
unsigned nt_evaluation_next_best(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, uint32_t taken);

#endif

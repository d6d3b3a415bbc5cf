/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - what a judge sees of a key: all that is known and was measured
 *
 * Threads:  values and pure functions.
 * Memory:   some 110 KiB each.
 * Errors:   none.
 * Units:    in the names.
 */
#ifndef NT_CASE_H
#define NT_CASE_H

#include <stddef.h>
#include "contract/policy.h"
#include "engine/evidence.h"
#include "engine/known.h"
#include "engine/ledger.h"

/* What exploring a key has taken. */
struct nt_spent {
	uint32_t calls; /* positions of all rounds */
	struct nt_ledger ledger;
};

struct nt_case {
	const struct nt_policy *policy;
	struct nt_known known;
	float fitted_us[NT_PAIRS]; /* engine/fit.h; 0: nothing is expected */
	/* Of a first and of a second round, as the rule has it; the latter without its warm-up. */
	uint8_t first_blocks, first_warm_up, second_blocks;
	double opened_us; /* known.age_us then */
	/* The newest round that was asked for, whether it could be paid for or not; kind 0:
	 * none. */
	struct nt_schedule schedule;
	unsigned rounds[NT_SCHEDULE_KINDS]; /* that have ended, by kind */
	struct nt_evidence screen, confirm, recheck;
	struct nt_spent spent;
	unsigned arms; /* explored, AUTO included */
	bool refined; /* screened once more, with caps and chunk sizes */
	bool warming; /* the newest round, the first of all, is of a remembered arm */
	unsigned forgotten; /* rounds of remembered arms that did not prove faster */
	bool rechecks; /* `current` is in force, and measured against AUTO again */
	uint16_t current;
};

/* What an arm must gain of AUTO's times in this evidence, as a fraction of 1: min_gain is a share
 * of the collective's own time, where that is known, and not of what the program does until the
 * next one. */
double nt_case_min_gain(const struct nt_case *seen, const struct nt_evidence *evidence);
/* A call's own time, of the arm with this index: as stamped where that can be trusted, else by what
 * lies between the calls of an arm whose stamps can. 0: not known. */
double nt_case_own_us(const struct nt_case *seen, const struct nt_evidence *evidence,
		      unsigned index);
size_t nt_case_bytes(const struct nt_case *seen); /* of the collective */

/* Blocks of the newest round that are not evidence. */
unsigned nt_case_warm_up(const struct nt_case *seen);

/* nt_schedule_explore(), by twos where that tells more. */
struct nt_schedule nt_case_explore(const struct nt_case *seen, enum nt_schedule_kind kind,
				   const uint16_t *others, unsigned count, unsigned blocks);
/* Are these samples of an arm enough for a round like the newest one? */
bool nt_case_enough(const struct nt_case *seen, unsigned samples);

/* Index of the arm that takes least at best among those with enough samples and not in
 * `taken`; 0 (which is AUTO) if there is none. */
unsigned nt_case_next_best(const struct nt_case *seen, const struct nt_evidence *evidence,
			   uint32_t taken);

#endif

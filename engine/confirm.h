/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.h - the second round: is one of the candidates faster than the baseline? Only it is
 * evidence
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_CONFIRM_H
#define NT_CONFIRM_H

#include "engine/judge.h"

#define NT_CONFIRM_ARMS 2 /* arms of the second round, besides the baseline */
/* Most second rounds. Each later one has as many blocks as all before it; the evidence is
 * pooled. */
#define NT_CONFIRM_LOOKS 4
/* Factor of p for repeated looks, which are strongly correlated. In nt-engine-sim, one of two arms
 * identical to the baseline is chosen in less than 1 % of cases, also at the only look for which
 * there is time. */
#define NT_CONFIRM_PAID 4
#define NT_CONFIRM_PAID_ONLY 2

/* Keys called less than once in this time are called rarely: a first round takes minutes. They have
 * two more looks, at half of the first round's pairs and, if time does not press, at two thirds.
 * There only a large gain counts; the first drops no arm, the second only hopeless ones. */
#define NT_CONFIRM_RARE_US 2e6
#define NT_CONFIRM_EARLY_LOOKS 2

nt_judge nt_confirm;

/* The baseline, and the first of these arms. */
struct nt_schedule nt_confirm_round(const struct nt_evaluation *seen, const uint16_t *arm,
				    unsigned count);
/* The first one: shorter if the key is called rarely and time does not press, or if there is time
 * for no other. */
struct nt_schedule nt_confirm_first(const struct nt_evaluation *seen, const uint16_t *arm,
				    unsigned count);
/* Was this an early look, or the only one for which there is time? The round's length tells, so
 * that a replay sees it, too. */
bool nt_confirm_is_early(const struct nt_evaluation *seen, const struct nt_schedule *round);
bool nt_confirm_is_only(const struct nt_evaluation *seen, const struct nt_schedule *round);

/* Compare arm i of the evidence with the baseline, by times and by periods. */
void nt_confirm_look(const struct nt_evaluation *seen, const struct nt_gates *gates, unsigned i,
		     struct nt_comparison *out);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.h - the second round: is one of the arms that could win faster than AUTO?
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_CONFIRM_H
#define NT_CONFIRM_H

#include "engine/judge.h"

#define NT_CONFIRM_ARMS 2 /* of the second round, beside AUTO */
/* At most so many second rounds; each after the first has as many blocks as all before it, and the
 * evidence is pooled. */
#define NT_CONFIRM_LOOKS 4
/* p pays for so many: looks at evidence that grows say much the same. By nt-engine-sim, with two
 * arms identical to AUTO, one of them is chosen in less than 1 % of all cases. */
#define NT_CONFIRM_PAID 4
#define NT_CONFIRM_RACE_PAIRS 200 /* up to so many a race goes on */

nt_judge nt_confirm;

/* The same by evidence that counts at any time, of the first rounds too. */
nt_judge nt_confirm_race;

/* A second round of AUTO and these arms, the first of them. */
struct nt_schedule nt_confirm_round(const struct nt_case *seen, const uint16_t *arm,
				    unsigned count);

/* The arm with this index in the evidence of second rounds, against AUTO: by the times and by the
 * periods. */
void nt_confirm_look(const struct nt_case *seen, const struct nt_gates *gates, unsigned i,
		     struct nt_comparison *out);

#endif

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
#define NT_CONFIRM_LOOKS 3 /* at most so many second rounds; the evidence is pooled */

nt_judge nt_confirm;

/* A second round of AUTO and these arms. */
struct nt_schedule nt_confirm_round(const struct nt_case *seen, const uint16_t *arm,
				    unsigned count);

/* The arm with this index in the evidence of second rounds, against AUTO: by the times and by the
 * periods. */
void nt_confirm_look(const struct nt_case *seen, const struct nt_gates *gates, unsigned i,
		     struct nt_comparison *out);

#endif

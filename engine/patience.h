/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* patience.h - for how long a key is explored before what is known by then decides
 *
 * Until the program is a minute or a hundred steps old, whichever is later; a key that is opened
 * later, for a third of that. A round of the second kind is made as long as there is time for, by
 * how often the key is called and what rounds took beside their calls; where that would be too
 * short, no further one follows. It costs no evidence that a decision rests on, only the hope of
 * more.
 *
 * Not limited are rechecks, which are short and rare, mode profile, and where no clock is known.
 *
 * Threads:  pure functions.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_PATIENCE_H
#define NT_PATIENCE_H

#include "engine/case.h"

#define NT_PATIENCE_US 60e6
#define NT_PATIENCE_STEPS 100

/* From min_calls on, of a key that is decided after a first and a second round, with what nodes
 * need to agree in between. */
#define NT_PATIENCE_CALLS 96

/* Is a key that is not open late already if it is to be decided by then? It waits for no other. */
bool nt_patience_presses(const struct nt_policy *policy, const struct nt_known *known);

/* For so many blocks of so many arms there is time; UINT_MAX: not limited. */
unsigned nt_patience_blocks(const struct nt_case *seen, unsigned arms);

#endif

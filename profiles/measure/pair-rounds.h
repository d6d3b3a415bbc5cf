/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pair-rounds.h - the rounds of a tournament in which all meet all, pair by pair
 *
 * In a round each meets at most one other; after a cycle of rounds each has met all others once.
 *
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef NT_PAIR_ROUNDS_H
#define NT_PAIR_ROUNDS_H

/* Rounds of a cycle: one less than there are, or as many if their number is odd; 0 below two. */
unsigned nt_pair_rounds(unsigned count);

/* Whom one of 0..count-1 meets in a round; -1: nobody, as one of an odd number does in a cycle. */
int nt_pair_partner(unsigned count, unsigned round, unsigned one);

#endif

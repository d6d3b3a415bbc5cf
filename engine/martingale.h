/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* martingale.h - evidence that counts at any time: a bet on each pair of times that the arm is
 *                faster
 *
 * If the arms are alike, chance alone has ordered the two times of a block, so that a fair bet on
 * which of them is the shorter one leaves the expected wealth as it is, whatever its stake follows
 * from: the pairs before it and the two times without their order. By Ville's inequality wealth
 * that began as 1 ever reaches 1/p with a probability of at most p, so that it may be looked at
 * after every pair, and one may go on as long as one likes.
 *
 * The stake grows with the difference of the two, on a log scale, over the mean difference so far:
 * of the times relative to the median of their mode, and of the lower half, each with several
 * factors. All have a share of the wealth, and what bets well outgrows the rest.
 *
 * V. de la Pena, Ann. Probab. 27 (1999); I. Waudby-Smith and A. Ramdas, JRSS B 86 (2024);
 * A. Ramdas et al., Statist. Sci. 38 (2023).
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; without pairs p is 1.
 */
#ifndef NT_MARTINGALE_H
#define NT_MARTINGALE_H

/* Small if arm is faster than base: 1 over the most that the wealth has been. Sample i of both is
 * from one block; blocks with a sample missing (0) are left out. */
double nt_martingale_p(const float *base, const float *arm, unsigned count);

#endif

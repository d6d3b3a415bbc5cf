/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* martingale.h - evidence that is valid at any time: bets on each pair of times that the arm is
 * faster
 *
 * If the arms are alike, chance alone orders the two times of a block. A fair bet on which is
 * shorter then keeps the expected wealth constant, whatever the stake depends on: earlier pairs,
 * and the two times without their order. By Ville's inequality, wealth that starts at 1 ever
 * reaches 1/p with probability at most p. So it may be checked after every pair, and sampling may
 * continue as long as desired.
 *
 * The stake grows with the difference of the two times on a log scale, over the mean difference so
 * far: of times relative to the median of their mode, and of the lower half, each with several
 * factors. Each bet has a share of the wealth; successful ones outgrow the rest.
 *
 * V. de la Pena, Ann. Probab. 27 (1999); I. Waudby-Smith and A. Ramdas, JRSS B 86 (2024);
 * A. Ramdas et al., Statist. Sci. 38 (2023).
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; without pairs p is 1.
 */
#ifndef NT_LAB_MARTINGALE_H
#define NT_LAB_MARTINGALE_H

/* Small if arm is faster than the baseline: 1 / the maximum of the wealth. Sample i of both is from
 * one block; blocks with a missing sample (0) are skipped. */
double nt_martingale_p(const float *baseline, const float *arm, unsigned count);

#endif

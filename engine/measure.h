/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - which rank's time of a call counts
 *
 * If ranks arrive apart, the slowest rank's time from start to start includes the wait for the last
 * rank, and the fastest rank's does not. If each computes for long before the next call, the mean
 * varies least. A key goes by the measure by which NCCL's choice varied least in the first round.
 * No other arm is looked at for that, so later tests are equally good by each. The slowest rank's
 * time keeps a veto (engine/confirm.h), as the time from call to call does.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_MEASURE_H
#define NT_MEASURE_H

#include "engine/evidence.h"

/* Measures that may decide, bits by enum nt_measure, besides the slowest rank's
 * (docs/decisions/reward.md). */
#define NT_MEASURES_DECIDE (1u << NT_MEASURE_MEAN | 1u << NT_MEASURE_FASTEST)

/* What a first round must send so that one of these can be chosen. */
enum nt_measure nt_measure_wanted(uint32_t decide);

/* Of these and the slowest rank's, the one by which the baseline varies least: the mean unless
 * another varies clearly less. The slowest rank's if too few times are known. */
enum nt_measure nt_measure_choose(const struct nt_evidence *evidence, uint32_t decide);

#endif

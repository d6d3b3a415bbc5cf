/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - which rank's time of a call counts
 *
 * Where ranks arrive apart, the slowest rank's time from start to start is the collective's and the
 * wait for the last rank, and the fastest rank's has no wait; where each computes for long before
 * the next call, that differs from rank to rank and the mean of ranks varies least. A key goes by
 * the measure by which NCCL's choice varied least in the first round. No other arm is looked at for
 * that, so what follows is as good a test by one measure as by another. The slowest rank's time
 * keeps a veto (engine/confirm.h), as the time from call to call does.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_MEASURE_H
#define NT_MEASURE_H

#include "engine/evidence.h"

/* The measures that may decide, bits by enum nt_measure; the slowest rank's always may
 * (docs/decisions/0028-measures.md). */
#define NT_MEASURES_DECIDE (1u << NT_MEASURE_MEAN | 1u << NT_MEASURE_FASTEST)

/* What a first round must tell so that one of these can be chosen. */
enum nt_measure nt_measure_wanted(uint32_t decide);

/* The one of these and the slowest rank's by which the baseline's times vary least: the mean unless
 * another varies clearly less. The slowest rank's if too few are known. */
enum nt_measure nt_measure_choose(const struct nt_evidence *evidence, uint32_t decide);

#endif

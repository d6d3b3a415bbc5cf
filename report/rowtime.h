/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowtime.h - what follows from a row's times (record/bandwidth.h says which are shown)
 *
 * Threads:  pure functions, any thread.
 * Units:    in the names; NAN: not known.
 */
#ifndef NT_ROWTIME_H
#define NT_ROWTIME_H

#include "record/bandwidth.h"
#include "record/summary.h"

bool nt_row_is(const struct nt_row *row, const char *state); /* NT_KEYSTATE_* */

/* Another arm than NCCL's is in use. */
bool nt_row_is_tuned(const struct nt_row *row);

/* What that arm gains by the time of a call that is shown, in percent of NCCL's choice; of the best
 * other one where that choice stays. */
double nt_row_gain(const struct nt_row *row);

double nt_row_busbw(const struct nt_row *row, enum nt_which which); /* in 10^9 bytes a second */

/* Seconds saved in each second that the program runs on, once the arm is in use; of all
 * communicators of the row together. How often it is called follows from the row's calls and from
 * how long the step's own steps took; where these are not known from the median of its periods,
 * which is short where calls come in bursts. NAN where that is not known either. */
double nt_row_saving_rate(const struct nt_row *row, const struct nt_step *step);

/* Seconds that the program has run when the arm came into use. */
double nt_row_decided_s(const struct nt_row *row, const struct nt_step *step);

#endif

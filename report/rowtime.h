/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowtime.h - which of a row's times is shown: a call's own, else from its start to the next start
 *
 * Threads:  pure functions, any thread.
 * Units:    microseconds, percent; NAN: not known.
 */
#ifndef NT_ROWTIME_H
#define NT_ROWTIME_H

#include "record/summary.h"

enum nt_row_side { NT_SIDE_AUTO, NT_SIDE_ARM }; /* as the two of own_us and period_us */

/* Of both sides, where both are known: a call's own time. Else what the rounds compared: to the
 * start of the next collective. */
bool nt_row_has_own(const struct nt_row *row);
double nt_row_us(const struct nt_row *row, enum nt_row_side side);

/* What the arm gains by that time, in percent of NCCL's choice; of the best other one where that
 * choice stays. */
double nt_row_gain(const struct nt_row *row);

bool nt_row_is_tuned(const struct nt_row *row); /* another arm than NCCL's is in use */

/* Seconds saved in each second that the program runs on, once the arm is in use; NAN where periods
 * are not known. */
double nt_row_saving_rate(const struct nt_row *row);

#endif

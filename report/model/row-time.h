/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* row-time.h - what follows from a row's times (record/bandwidth.h says which are shown)
 *
 * Threads:  pure functions, any thread.
 * Units:    in the names; NAN: not known.
 */
#ifndef NT_ROWTIME_H
#define NT_ROWTIME_H

#include "record/bandwidth.h"
#include "record/job-summary.h"

bool nt_row_is(const struct nt_key *row, enum nt_keystate state);

/* Is another arm than NCCL's in use? */
bool nt_row_is_tuned(const struct nt_key *row);

/* What that arm gains, in percent of NCCL's time of a call as shown. If NCCL's choice stays, what
 * the best other arm would gain. */
double nt_row_gain(const struct nt_key *row);

double nt_row_busbw(const struct nt_key *row, enum nt_which which); /* in 10^9 bytes a second */

/* Seconds saved per second of running once the arm is in use, for all communicators of the row
 * together. The rate of calls comes from the row's calls and the duration of the program's own
 * steps, or else from the median period, which is too short for calls in bursts. NAN: unknown. */
double nt_row_saving_rate(const struct nt_key *row, const struct nt_step *step);

/* Milliseconds that the step's launch profile has saved each rank, as its own steps say: what they
 * would have taken with NCCL's own settings, less what they took. Below 0: lost. NAN: it has none,
 * or that was not measured. */
double nt_step_launch_ms(const struct nt_step *step);

/* Milliseconds that a step of a calibration took: what measuring launch profiles cost the job. What
 * its calls saved and spent is part of it. 0: a step of the program, or it was not recorded. */
double nt_step_calibration_ms(const struct nt_step *step);

/* From one call of a communicator to its next: on average as above, else the median with NCCL's
 * choice. */
double nt_row_period_us(const struct nt_key *row, const struct nt_step *step);

/* Seconds that the program had run when the arm came into use. */
double nt_row_decided_s(const struct nt_key *row, const struct nt_step *step);

#endif

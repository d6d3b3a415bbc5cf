/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* row-time.h - what follows from a row's times: bandwidths and volumes, gains and savings
 *
 * Bandwidths are as NVIDIA's nccl-tests define them: the size of a call is that of the larger
 * buffer; algbw is size / time; busbw is algbw times the share of the size that crosses the slowest
 * link.
 *
 * Threads:  pure functions.
 * Units:    in the names; NAN: not known; gbs is 10^9 bytes a second (GB/s).
 */
#ifndef NT_ROW_TIME_H
#define NT_ROW_TIME_H

#include "record/step.h"

/* NAN if bytes or us is unknown. */
double nt_algbw_gbs(double bytes, double us);
double nt_busbw_gbs(int coll, double ranks, double bytes, double us);

/* What all ranks send in one call to ranks of their node and of others, in a ring that enters and
 * leaves each node once. */
void nt_ring_volume(int coll, double ranks, double nodes, double bytes, double *inside_bytes,
		    double *between_bytes);

/* Where the bytes that all ranks have sent went. No event names peers, so this is NAN unless it is
 * an all-to-all with equal parts, or all ranks are on one node or each on its own. Without an all-
 * to-all's part for the rank itself. */
void nt_p2p_volume(int kind, double ranks, double nodes, double bytes, double *inside_bytes,
		   double *between_bytes);

/* The time of a call: from start to end if that is known of all that the row compares, else the
 * period; NAN if unknown. */
enum nt_which { NT_OF_AUTO, NT_OF_ARM }; /* NCCL's pick, and the arm that is compared with it */
double nt_row_call_us(const struct nt_key *row, enum nt_which which);
/* Is that from start to end? */
bool nt_row_duration_known(const struct nt_key *row);
/* From start to end, or NAN. */
double nt_row_own_us(const struct nt_key *row, enum nt_which which);
/* Of all calls on all ranks; NAN if unknown. */
double nt_row_all_us(const struct nt_key *row);
enum nt_which nt_row_in_force(const struct nt_key *row);

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

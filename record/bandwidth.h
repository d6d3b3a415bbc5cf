/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* bandwidth.h - bandwidths and volumes of collectives, as NVIDIA's nccl-tests define them
 *
 * The size of a call is that of the larger buffer; algbw is size / time; busbw is algbw times the
 * share of the size that crosses the slowest link.
 *
 * Threads:  pure functions.
 * Units:    in the names; gbs is 10^9 bytes a second (GB/s).
 */
#ifndef NT_BANDWIDTH_H
#define NT_BANDWIDTH_H

#include <stdbool.h>

struct nt_key;

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

#endif

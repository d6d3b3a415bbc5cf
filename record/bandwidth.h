/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* bandwidth.h - bandwidths and volumes of collectives, as NVIDIA's nccl-tests define them
 *
 * The size of a call is that of the larger buffer; algbw is the size divided by the time; busbw is
 * algbw times the share of the size that must cross the slowest link.
 *
 * Threads:  pure functions.
 * Units:    in the names; gbs is 10^9 bytes a second (GB/s).
 */
#ifndef NT_BANDWIDTH_H
#define NT_BANDWIDTH_H

#include <stdbool.h>

struct nt_key;

/* NAN where bytes or us say nothing. */
double nt_algbw_gbs(double bytes, double us);
double nt_busbw_gbs(int coll, double ranks, double bytes, double us);

/* The bytes that all ranks of a communicator send in one call to ranks of their node and of others,
 * if each sends what it sends in a ring that enters and leaves each node once. */
void nt_ring_volume(int coll, double ranks, double nodes, double bytes, double *inside_bytes,
		    double *between_bytes);

/* The destinations of the bytes that all ranks have sent. NAN: no event names the peers of a send,
 * so they are only known of an all-to-all with equal parts, or if all ranks are on one node or each
 * on its own. The part of an all-to-all for the rank itself is not included. */
void nt_p2p_volume(int kind, double ranks, double nodes, double bytes, double *inside_bytes,
		   double *between_bytes);

/* The time of a call to show: from start to end if that is known of all that the row compares, else
 * the period. NAN: neither is known. */
enum nt_which { NT_OF_AUTO, NT_OF_ARM }; /* NCCL's pick, and the arm that is compared with it */
double nt_row_call_us(const struct nt_key *row, enum nt_which which);
/* Is that the call's own? */
bool nt_row_duration_known(const struct nt_key *row);
/* From start to end, or NAN: used where the kind of time cannot be marked. */
double nt_row_own_us(const struct nt_key *row, enum nt_which which);
/* The time of all calls of a row on all ranks; NAN: not known. */
double nt_row_all_us(const struct nt_key *row);
/* The arm in force: NT_OF_ARM where one was committed. */
enum nt_which nt_row_in_force(const struct nt_key *row);

#endif

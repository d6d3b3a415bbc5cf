/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - the times of one exploration, as one node sums them up and another reads them
 *
 * Two bytes for each block and arm, low byte first, in the order of the schedule (block 0's arm[0], arm[1], ...), zeros
 * at the end left out. What they hold is 2048 * log2(nanoseconds), rounded; 0 stands for no sample. A step is 0.034 %, so
 * the error is at most 0.017 %. 1 ns reads as 1.0003 ns; 4.29 s is the largest time.
 *
 * Threads:  pure functions of the board; the run that a plan names must no longer be written to, or late samples are
 *           seen or not.
 * Memory:   the caller's.
 * Errors:   absorb ignores bytes that no plan of this schedule can have; what a node lacks, others may have.
 */
#ifndef NT_SAMPLE_H
#define NT_SAMPLE_H

#include "contract/board.h"
#include "tuner/schedule.h"

uint16_t nt_sample_pack(uint32_t ns);		/* 0 for 0 */
double nt_sample_ns(uint16_t packed);		/* 0 for 0 */

/* The smallest time over the members of this node at each position of plan. Returns bytes, 0 if there are none. */
size_t nt_sample_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members, uint8_t *out,
			size_t cap);

/* The smallest of what is in best (one per block and arm) and of what another node has summed up. */
void nt_sample_absorb(uint16_t best[NT_RUN_POSITIONS], const struct nt_schedule *schedule, const uint8_t *bytes,
		      size_t count);

#endif

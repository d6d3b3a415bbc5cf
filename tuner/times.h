/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.h - the times of one exploration, as one node sums them up and another reads them
 *
 * Of a call there are two times: to the start of the next collective of the communicator, and the
 * period, to the next call of the same key. An arm that is compared with AUTO must win by the first
 * and not lose by the second: it may take what the program does in between longer. With
 * reward=period the second one alone stands for both.
 *
 * Two bytes for each block and arm, low byte first, in the order of the schedule (block 0's
 * arm[0], arm[1], ...); then, but in a first round, the periods likewise; zeros at the end left
 * out. What they hold is 2048 * log2(nanoseconds), rounded; 0 stands for no sample. A step is
 * 0.034 %, so the error is at most 0.017 %. 1 ns reads as 1.0003 ns; 4.29 s is the largest time.
 *
 * Threads:  pure functions of the board; ranks may still write the run, samples that come later
 *           than gather are not seen.
 * Memory:   the caller's.
 * Errors:   absorb takes bytes that no plan of this schedule can have for no times at all.
 */
#ifndef NT_TIMES_H
#define NT_TIMES_H

#include <stdbool.h>
#include "contract/board.h"
#include "contract/policy.h"
#include "tuner/schedule.h"

/* Values that a schedule's times have room for: positions, or twice as many. */
unsigned nt_times_room(const struct nt_schedule *schedule);

uint16_t nt_times_pack(uint32_t ns); /* 0 for 0 */
double nt_times_ns(uint16_t packed); /* 0 for 0 */

/* The slowest time over those of the first `members` seats that take part, at each position of
 * plan; none where one of them has none. reward: enum nt_rewards. Returns bytes; 0 if there are no
 * times. */
size_t nt_times_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
		       int64_t reward, uint8_t *out, size_t cap);

/* Adds what another node gathered of the same plan to sum, in place: the slower of the two; what
 * one lacks is lacking. Returns bytes, at most count. */
size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);

#define NT_TIMES_MAX (2 * NT_RUN_POSITIONS) /* values */

/* The slower of what is in worst (as many as there is room for) and of what another node has
 * summed up; what one node lacks is lacking. first: worst holds nothing yet. */
void nt_times_absorb(uint16_t worst[NT_TIMES_MAX], bool first, const struct nt_schedule *schedule,
		     const uint8_t *bytes, size_t count);

#endif

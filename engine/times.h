/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.h - the times of one exploration, as one node sums them up and another reads them
 *
 * Of a call there are two times: to the start of the next collective of the communicator, and the
 * period, to the next call of the same key. An arm that is compared with AUTO must win by the first
 * and not lose by the second: it may take what the program does in between longer. With
 * reward=period the second one alone stands for both.
 *
 * Of an arm there is one time more: from its calls' start to their own end, the median. NCCL
 * stamps ends too early for some arms (docs/decisions/0004-reward.md); who reads must know.
 *
 * Two bytes for each block and arm, low byte first, in the order of the schedule (block 0's
 * arm[0], arm[1], ...); then, but in a first round, the periods likewise; then each arm's own
 * time; zeros at the end left out. What they hold is 2048 * log2(nanoseconds), rounded, modulo
 * 65536; 0 stands for no sample. A step is 0.034 %, so the error is at most 0.017 %. No call takes
 * less than a microsecond, so numbers below 20480 are those of times of 4.29 s and more: 1.02 us
 * (less is packed as that) to 73 minutes (more, too).
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   absorb takes bytes that no plan of this schedule can have for no times at all.
 */
#ifndef NT_TIMES_H
#define NT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/schedule.h"

#define NT_TIMES_MAX (2 * NT_RUN_POSITIONS + NT_SCHEDULE_ARMS) /* values */

/* Values that a schedule's times have room for: samples, or twice as many, and arms. */
unsigned nt_times_room(const struct nt_schedule *schedule);

/* Where the own time of the schedule's arm number `index` is. */
unsigned nt_times_own_at(const struct nt_schedule *schedule, unsigned index);

uint16_t nt_times_pack(uint64_t ns); /* 0 for 0 */
double nt_times_ns(uint16_t packed); /* 0 for 0 */

/* Puts what was measured at a position of the plan `epoch` where its block and arm are; nothing of
 * one that is no sample. reward:
 * enum nt_rewards. packed holds zeros before the first one. */
void nt_times_put(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule, uint32_t epoch,
		  uint32_t position, int64_t reward, uint64_t ns, uint64_t period_ns);

/* Their bytes, at most cap. Returns how many; 0 if there are no times. */
size_t nt_times_write(const uint16_t packed[NT_TIMES_MAX], uint8_t *out, size_t cap);

/* Adds what another node has written of the same plan to sum, in place: the slower of the two;
 * what one lacks is lacking. Returns bytes, at most count. */
size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);

/* The slower of what is in worst (as many as there is room for) and of what another node has
 * summed up; what one node lacks is lacking. first: worst holds nothing yet. */
void nt_times_absorb(uint16_t worst[NT_TIMES_MAX], bool first, const struct nt_schedule *schedule,
		     const uint8_t *bytes, size_t count);

#endif

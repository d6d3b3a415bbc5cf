/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.h - encoding of the times of one exploration, as a node sums them up and another reads them
 *
 * Ranks differ: of each time the slowest rank's is sent, and of the first of the two below also the
 * mean or the fastest rank's, or both, as the schedule says.
 *
 * A call has two times: until the start of the communicator's next collective, and the period,
 * until the next call of the same key. An arm must win by the first and not lose by the second: it
 * may slow down what the program does in between. With reward=period the second alone is used for
 * both.
 *
 * An arm has one more time: the median of its calls' durations, from start to end. NCCL stamps ends
 * too early for some arms (docs/decisions/0004-reward.md); readers must allow for that.
 *
 * Two bytes for each block and arm, low byte first, in schedule order (block 0's arm[0], arm[1],
 * ...); then, except in a first round, the periods likewise; then each arm's duration; then the
 * means, and the fastest rank's times, likewise; behind these the number of ranks they are of.
 * Trailing zeros are omitted. Between nodes, where a schedule asks for more than the slowest
 * rank's, three more bytes end it, and their odd number tells that: samples of one kind, two bytes,
 * and enum nt_measure.
 *
 * A value is 2048 * log2(nanoseconds), rounded, modulo 65536; 0 is a missing sample. A step is
 * 0.034 %, so the error is at most 0.017 %. No call takes less than a microsecond, so values below
 * 20480 are times of 4.29 s and more: the range is 1.02 us (less is rounded up) to 73 minutes (more
 * is rounded down).
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   absorb treats bytes that no plan of this schedule can produce as no times.
 * Units:    in the names.
 */
#ifndef NT_TIMES_H
#define NT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/schedule.h"

/* values: each call's slowest, mean and fastest; durations; ranks */
#define NT_TIMES_MAX (3 * NT_RUN_POSITIONS + NT_SCHEDULE_ARMS + 1)
#define NT_TIMES_BYTES (2 * NT_TIMES_MAX + 3)

/* Number of a schedule's values. */
unsigned nt_times_room(const struct nt_schedule *schedule);

/* Index of the first sample by this measure; -1: the schedule has none. */
int nt_times_measure_at(const struct nt_schedule *schedule, enum nt_measure measure);

/* Index of the duration of the schedule's arm number `index`. */
unsigned nt_times_duration_at(const struct nt_schedule *schedule, unsigned index);

uint16_t nt_times_pack(uint64_t ns); /* 0 for 0 */
double nt_times_ns(uint16_t packed); /* 0 for 0 */

/* Store the measurement at a position of plan `epoch` by block and arm; nothing if it is not a
 * sample. ns: by enum nt_measure; period_ns: the slowest rank's. reward: enum nt_rewards. packed
 * must be zeroed before the first one. */
void nt_times_put(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule, uint32_t epoch,
		  uint32_t position, int64_t reward, const uint64_t ns[NT_MEASURES],
		  uint64_t period_ns);

/* Write at most cap bytes of the times of so many ranks. Returns how many; 0 if there are no times,
 * or no room for more than the slowest rank's. */
size_t nt_times_write(const uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule,
		      unsigned ranks, uint8_t *out, size_t cap);

/* Merge another node's bytes for the same plan into sum, in place: the slowest rank's, the mean and
 * the fastest rank's of both; missing if either is missing. Returns bytes, at most count. */
size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);

/* The same of values, with bytes as written or as combined, or without what ends them between
 * nodes. first: packed is empty. */
void nt_times_absorb(uint16_t packed[NT_TIMES_MAX], bool first, const struct nt_schedule *schedule,
		     const uint8_t *bytes, size_t count);

#endif

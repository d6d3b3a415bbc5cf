/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.h - encoding of one exploration's times, as nodes send them
 *
 * Of each time the slowest rank's is sent; of the first of the two below also the mean or the
 * fastest rank's, or both, as the schedule says.
 *
 * A call has two times: until the communicator's next collective starts, and the period, until the
 * key's next call. An arm must win by the first and not lose by the second: it may slow down what
 * the program does in between. With reward=period, the second is used for both.
 *
 * An arm has one more time: the median of its calls' durations, from start to end. NCCL stamps ends
 * too early for some arms (docs/decisions/reward.md); readers must allow for that.
 *
 * Two bytes for each block and arm, low byte first, in schedule order (block 0's arm[0], arm[1],
 * ...); then, except in a first round, the periods likewise; each arm's duration; the means, and
 * the fastest rank's times, likewise; and the number of ranks these are of. Trailing zeros are
 * omitted. Between nodes, if more than the slowest rank's times are sent, three bytes follow, which
 * make the number of bytes odd: number of samples, two bytes, and enum nt_measure.
 *
 * A value is 2048 * log2(nanoseconds), rounded, modulo 65536; 0 is a missing sample. A step is
 * 0.034 %, so the error is at most 0.017 %. No call takes less than a microsecond, so values below
 * 20480 are times of 4.29 s and more: the range is 1.02 us (less is rounded up) to 73 minutes (more
 * is rounded down).
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   read: bytes that no plan of this schedule can produce are no times.
 * Units:    in the names.
 */
#ifndef NT_TIMES_H
#define NT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/schedule.h"

/* calls' slowest, mean and fastest; durations; ranks */
#define NT_TIMES_MAX (3 * NT_RUN_POSITIONS + NT_SCHEDULE_ARMS + 1)
#define NT_TIMES_BYTES (2 * NT_TIMES_MAX + 3)

/* Values of a schedule. */
unsigned nt_times_values(const struct nt_schedule *schedule);

/* Index of this measure's first sample; -1: the schedule has none. */
int nt_times_measure_at(const struct nt_schedule *schedule, enum nt_measure measure);

/* Index of the duration of arm[index]. */
unsigned nt_times_duration_at(const struct nt_schedule *schedule, unsigned index);

uint16_t nt_times_pack(uint64_t ns); /* 0 for 0 */
double nt_times_ns(uint16_t packed); /* 0 for 0 */

/* Store a measurement at its block and arm; position and epoch are the plan's. ns: by enum
 * nt_measure; period_ns: the slowest rank's; reward: enum nt_rewards. packed is zeroed before the
 * first one. */
void nt_times_put(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule, uint32_t epoch,
		  uint32_t position, int64_t reward, const uint64_t ns[NT_MEASURES],
		  uint64_t period_ns);

/* Write the times of so many ranks. Returns the bytes, at most cap; 0: no times, or no room for
 * more than the slowest rank's. */
size_t nt_times_write(const uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule,
		      unsigned ranks, uint8_t *out, size_t cap);

/* Merge another node's bytes of the same plan into sum: a time that either lacks is missing.
 * Returns bytes, at most count. */
size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);

/* The values of such bytes, with or without their end. */
void nt_times_read(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule,
		   const uint8_t *bytes, size_t count);

#endif

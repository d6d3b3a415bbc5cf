/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - what the benchmark exchanges with the driver of a calibration, over a descriptor
 *
 * Lines of text. Rank 0 writes "id HEX", which the driver sends to the other ranks, and at the end
 *
 *   library VERSION PATH         NCCL's
 *   call INDEX P25 MEDIAN P75 SAMPLES
 *
 * for each call of --calls, in microseconds of the slowest rank.
 *
 * Threads:  one.
 * Memory:   the caller's.
 * Errors:   -1 and *err; or as gpu.h.
 */
#ifndef NT_BENCH_CHANNEL_H
#define NT_BENCH_CHANNEL_H

#include "bench/play.h"

#define NT_CHANNEL_LINE 768 /* longest line, with its end */

/* Rank 0 sends these bytes, at most 256, the others receive them. */
int nt_channel_id(const struct nt_bench_options *o, void *data, size_t bytes, struct nt_error *err);

/* On rank 0: host_us has the slowest rank's times. */
void nt_channel_report(const struct nt_play *play);

#endif

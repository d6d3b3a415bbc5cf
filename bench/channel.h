/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - how ranks meet through the driver of a calibration, over a descriptor
 *
 * Rank 0 writes a line, "id HEX", which the driver sends to the other ranks. More lines are in
 * results.h.
 *
 * Threads:  one.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_BENCH_CHANNEL_H
#define NT_BENCH_CHANNEL_H

#include "bench/options.h"

/* Rank 0 sends these bytes, at most 256, the others receive them. */
int nt_channel_id(const struct nt_bench_options *o, void *data, size_t bytes, struct nt_error *err);

#endif

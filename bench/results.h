/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - gather the samples of all ranks and print the results
 *
 * Rank 0 prints one JSON object a line: the run, then every collective and size on every
 * communicator.
 *   host_us     on rank 0
 *   slowest_us  the longest of all ranks
 *   gpu_us      the shortest of all ranks: the rank that comes last waits least
 * each for all samples, for the first part and for the last (--phase-report). algbw and busbw are
 * those of slowest_us's median in the last part.
 *
 * Threads:  one.
 * Errors:   as gpu.h.
 */
#ifndef NT_RESULTS_H
#define NT_RESULTS_H

#include "bench/play.h"

void nt_bench_report(struct nt_play *p, const char *run);

/* On rank 0, whose host_us has the slowest rank's times: for the driver of a calibration,
 *   library VERSION PATH         NCCL's
 *   call INDEX P25 MEDIAN P75 SAMPLES
 * for each call, in microseconds. */
void nt_bench_report_channel(const struct nt_play *p);

#endif

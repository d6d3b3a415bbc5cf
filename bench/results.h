/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - bring the samples of all ranks together and print what they say
 *
 * Rank 0 prints one JSON object a line: first the run, then every collective and size on every
 * communicator.
 *   host_us     on rank 0
 *   slowest_us  of each sample the longest over the ranks
 *   gpu_us      of each sample the shortest over the ranks: who comes last waits least
 * each for all samples, for the first and for the last part (--phase-report). algbw and busbw are
 * of slowest_us's median in the last part.
 *
 * Threads:  one.
 * Errors:   as gpu.h: the process ends with status 1.
 */
#ifndef NT_RESULTS_H
#define NT_RESULTS_H

#include "bench/play.h"

void nt_bench_report(struct nt_play *p, const char *run);

#endif

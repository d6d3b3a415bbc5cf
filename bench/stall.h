/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stall.h - end the process if something takes longer than --stall allows
 *
 * Threads:  one; a handler of SIGALRM.
 * Errors:   the process ends with one line on stderr that says where it was.
 */
#ifndef NT_BENCH_STALL_H
#define NT_BENCH_STALL_H

#include "bench/options.h"

void nt_stall_begin(void);

/* For the next o->stall_s seconds: "rank N: stalled <where>". */
void nt_stall_watch(const struct nt_bench_options *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Exit status of a stall; initially 1. */
void nt_stall_ends_with(int status);
int nt_stall_status(void);

#endif

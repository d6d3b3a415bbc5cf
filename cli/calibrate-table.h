/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-table.h - print the results of a calibration
 *
 * Threads:  the thread that has the stream.
 * Memory:   heap while a function runs.
 * Errors:   -1 when memory runs out; write errors stay on the stream.
 */
#ifndef NT_CALTABLE_H
#define NT_CALTABLE_H

#include <stdio.h>
#include "profiles/memory.h"
#include "profiles/measure/calibration.h"

/* A column for each profile, a row for each collective and size: the default's median time, and the
 * speedup of the others; then the whole mix, p, and why profiles were given up.
 * run: the entries of this calibration. mix NULL: all sizes alike. */
int nt_caltable_print(FILE *out, const struct nt_calibration *calibration,
		      const struct nt_memory *run, const struct nt_where *where,
		      const struct nt_mix *mix, int64_t now_s);

/* What it cost, and how long a job must run for it to pay off. chosen: index of the chosen profile;
 * 0: the default. */
void nt_caltable_cost(FILE *out, const struct nt_calibration *calibration, unsigned chosen,
		      double spent_s);

#endif

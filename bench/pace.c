/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pace.h"

#define FIRST_CHECK 2

void nt_pace_init(struct nt_bench_pace *pace, double seconds, double last_seconds)
{
	*pace = (struct nt_bench_pace){
		.seconds = seconds,
		.last_seconds = last_seconds,
		.check = FIRST_CHECK,
		.plan = { NT_PACE_UNKNOWN, NT_PACE_UNKNOWN },
	};
}

bool nt_pace_due(const struct nt_bench_pace *pace, int iteration)
{
	return iteration == pace->check && pace->plan[1] == NT_PACE_UNKNOWN;
}

void nt_pace_look(struct nt_bench_pace *pace, int iteration, double elapsed_s)
{
	/* Only since the last look: the first iterations are slower, because NCCL connects. */
	double iteration_s = (elapsed_s - pace->seen_s) / (iteration - pace->seen);
	double left_s = pace->seconds + pace->last_seconds - elapsed_s;
	double left = left_s > 0 && iteration_s > 0 ? left_s / iteration_s : 1;

	if (left <= iteration) {
		double last = iteration_s > 0 ? pace->last_seconds / iteration_s : 1;

		pace->plan[1] = iteration + 1 + (int32_t)left;
		pace->plan[0] = pace->plan[1] - 1 - (last < iteration ? (int32_t)last : iteration);
	}
	pace->seen = iteration;
	pace->seen_s = elapsed_s;
}

void nt_pace_told(struct nt_bench_pace *pace, int iteration)
{
	pace->check = 2 * iteration;
}

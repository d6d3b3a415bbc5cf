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

bool nt_pace_due(const struct nt_bench_pace *pace, int round)
{
	return round == pace->check && pace->plan[1] == NT_PACE_UNKNOWN;
}

void nt_pace_look(struct nt_bench_pace *pace, int round, double elapsed_s)
{
	/* Only since the last look: the first rounds are slower, because NCCL connects. */
	double round_s = (elapsed_s - pace->seen_s) / (round - pace->seen);
	double left_s = pace->seconds + pace->last_seconds - elapsed_s;
	double left = left_s > 0 && round_s > 0 ? left_s / round_s : 1;

	if (left <= round) {
		double last = round_s > 0 ? pace->last_seconds / round_s : 1;

		pace->plan[1] = round + 1 + (int32_t)left;
		pace->plan[0] = pace->plan[1] - 1 - (last < round ? (int32_t)last : round);
	}
	pace->seen = round;
	pace->seen_s = elapsed_s;
}

void nt_pace_told(struct nt_bench_pace *pace, int round)
{
	pace->check = 2 * round;
}

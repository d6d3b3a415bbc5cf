/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - what the parts of nt-decide-sim share
 *
 * Threads:  one thread.
 * Errors:   -1 where the engine did what it must not.
 * Units:    microseconds; shares as fractions of 1.
 */
#ifndef NT_STATS_SIM_H
#define NT_STATS_SIM_H

#include "tests/fake/trace.h"
#include "tests/stats/drive.h"
#include "tests/stats/noise.h"

#define NT_FASTER_ARM 1u /* of made-up arms: the one that differs from AUTO */
#define NT_STALL 2.3 /* a stalled call takes so many times as long */

struct nt_sim {
	struct nt_policy policy;
	unsigned trials, arms;
	bool trials_given;
	uint64_t seed;
	double miss;
	double gain, stalls; /* of NT_FASTER_ARM */
	bool again; /* NT_FASTER_ARM is in force, and looked at once more */
	struct nt_trace picks;
	struct nt_drive drive;
};

/* Where one key's times come from: the rows of a cell by arm (AUTO last), one row or noise for
 * all. */
struct nt_source {
	const struct nt_sim *sim;
	const struct nt_trace_row *row[NT_PAIRS + 1];
	const struct nt_trace_row *only;
	const struct nt_noise *noise;
	unsigned taken[NT_PAIRS + 1];
	bool in_order;
	uint64_t seed;
};

unsigned nt_source_slot(unsigned arm); /* in row[] */

/* nt_drive_key.time_us of a struct nt_source. */
double nt_source_us(void *source, unsigned arm, unsigned call);

struct nt_replay_sum {
	unsigned cells, near, slower; /* near: within 2 % of the best; slower: above 1.01 of AUTO */
	double gain;
	double drawn_near, drawn_slower, drawn_worst, drawn_calls;
};

void nt_replay_head(const struct nt_sim *sim);
int nt_replay_trace(struct nt_sim *sim, const struct nt_trace *trace, struct nt_replay_sum *sum);
void nt_replay_foot(const struct nt_sim *sim, const struct nt_replay_sum *sum);

struct nt_rates_sum {
	unsigned sources;
	double found, wrong, calls;
	double worst_found, worst_wrong;
};

void nt_rates_head(const struct nt_sim *sim);
int nt_rates_trace(struct nt_sim *sim, const struct nt_trace *trace, struct nt_rates_sum *sum);
int nt_rates_noises(struct nt_sim *sim, struct nt_rates_sum *sum);
void nt_rates_foot(const struct nt_rates_sum *sum);

#endif

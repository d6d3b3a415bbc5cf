/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - sums over runs, distributions of times, and the line that is printed */
#include <stdio.h>
#include "lab/sim/sim.h"
#include "tests/model/trace-check.h"

#define POLL_MS 10 /* the shortest time between two reads of a log */

const char *const *sim_fault_names(void)
{
	static const char *const names[] = {
#define X(name) #name,
		SIM_FAULTS(X)
#undef X
	};

	return names;
}

/* Sixteen bins to each doubling, exact below 32. */
static uint32_t bin_of(uint64_t value)
{
	uint32_t shift = 0, bin;

	while (value >> shift >= 32)
		shift++;
	bin = shift * 16 + (uint32_t)(value >> shift);
	return bin < SIM_BINS ? bin : SIM_BINS - 1;
}

static uint64_t value_of(uint32_t bin)
{
	uint32_t shift = bin < 32 ? 0 : bin / 16 - 1;

	return (uint64_t)(bin - shift * 16) << shift;
}

void tally_note(uint64_t *bins, uint64_t value)
{
	bins[bin_of(value)]++;
}

static double quantile_ms(const uint64_t *bins, double part)
{
	uint64_t count = 0, below = 0;

	for (uint32_t b = 0; b < SIM_BINS; b++)
		count += bins[b];
	for (uint32_t b = 0; b < SIM_BINS; b++) {
		below += bins[b];
		if (below > 0 && (double)below >= part * (double)count)
			return (double)value_of(b);
	}
	return 0;
}

void tally_add(struct sim_tally *sum, const struct sim_tally *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

bool tally_bad(const struct sim_tally *t)
{
	return t->mismatches + t->stuck + t->unlogged + t->idle + t->holds_left + t->runs_left +
		       t->wrong_sums + t->unmodelled !=
	       0;
}

static void print_faults(const struct sim_options *o)
{
	const char *between = "";

	printf("\"faults\":\"");
	if (o->faults == 0)
		printf("none");
	for (int f = 0; f < SIM_FAULT_COUNT; f++) {
		if (o->faults >> f & 1) {
			printf("%s%s", between, sim_fault_names()[f]);
			between = ",";
		}
	}
	printf("\"");
}

/* Transitions of the model that no run has made. */
static void print_untried(const struct sim_tally *t)
{
	const char *between = "";

	printf(",\"untried\":[");
	for (unsigned i = 0; i < TRACE_IS_COUNT; i++) {
		if (t->transition[i] == 0) {
			printf("%s\"%s\"", between, trace_transition_name(i));
			between = ",";
		}
	}
	printf("]");
}

static const char *const sum_names[] = {
#define X(name) #name,
	SIM_SUMS(X)
#undef X
};

void tally_print(const struct sim *s, const struct sim_tally *t, uint64_t bad_seed)
{
	const uint64_t sums[] = {
#define X(name) t->name,
		SIM_SUMS(X)
#undef X
	};
	double nodes = t->node_runs > 0 ? (double)t->node_runs : 1;

	if (s->o.mix)
		printf("{\"nodes\":\"mix\",\"ranks_per_node\":\"mix\"");
	else
		printf("{\"nodes\":%u,\"ranks_per_node\":%u", s->o.nodes, s->o.ranks_per_node);
	printf(",\"seed\":%llu,\"calls\":%u,\"plain\":%s,", (unsigned long long)s->o.seed,
	       s->o.calls, s->o.plain ? "true" : "false");
	print_faults(&s->o);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		printf(",\"%s\":%llu", sum_names[i], (unsigned long long)sums[i]);
	printf(",\"spent_kib_per_node\":%.0f", (double)t->spent_bytes / nodes / 1024);
	printf(",\"polls_per_node\":%.1f,\"read_bytes_per_node\":%.0f,\"fetch_bytes_per_node\":%.0f",
	       (double)t->polls / nodes, (double)t->read_bytes / nodes,
	       (double)t->fetch_bytes / nodes);
	printf(",\"commit_p50\":%.1f,\"commit_p99\":%.1f,\"wait_ms_p50\":%.0f,\"wait_ms_p99\":%.0f,\"wait_ms_max\":%.0f",
	       quantile_ms(t->commit_ms, 0.5) / POLL_MS, quantile_ms(t->commit_ms, 0.99) / POLL_MS,
	       quantile_ms(t->wait_ms, 0.5), quantile_ms(t->wait_ms, 0.99),
	       quantile_ms(t->wait_ms, 1));
	if (t->transitions > 0)
		print_untried(t);
	if (bad_seed != 0)
		printf(",\"first_bad_seed\":%llu", (unsigned long long)bad_seed);
	printf("}\n");
}

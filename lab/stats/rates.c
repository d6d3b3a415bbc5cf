/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rates.c - how often an arm that is truly different, or not, is chosen */
#include <stdio.h>
#include <string.h>
#include "lab/replay/rng.h"
#include "lab/stats/sim.h"

struct tally {
	unsigned found, wrong;
	unsigned verdict[NT_VERDICTS];
	double calls, pairs;
};

static void count(struct tally *tally, const struct nt_driven *driven, bool differs, bool recheck,
		  unsigned run)
{
	bool chosen = driven->outcome.chosen_arm != NT_ARM_BASELINE;

	if (recheck && driven->outcome.chosen_arm != NT_FASTER_ARM)
		tally->wrong++;
	else if (recheck)
		tally->found++;
	else if (chosen && differs && driven->outcome.chosen_arm == NT_FASTER_ARM)
		tally->found++;
	else if (chosen)
		tally->wrong++;
	tally->verdict[driven->outcome.verdict]++;
	tally->calls += driven->calls * (double)run;
	tally->pairs += driven->outcome.samples;
}

static void report(const struct nt_sim *sim, const char *name, const struct tally *tally,
		   struct nt_rates_sum *sum)
{
	double found = (double)tally->found / sim->trials;
	double wrong = (double)tally->wrong / sim->trials;

	printf("%-16s %6.2f %6.2f %6.0f %6.1f   ", name, 100 * found, 100 * wrong,
	       tally->calls / sim->trials, tally->pairs / sim->trials);
	for (unsigned v = NT_VERDICT_SCREENED; v < NT_VERDICTS; v++)
		printf(" %6.1f", 100.0 * tally->verdict[v] / sim->trials);
	printf("\n");
	sum->worst_found = sum->sources == 0 || found < sum->worst_found ? found : sum->worst_found;
	sum->worst_wrong = wrong > sum->worst_wrong ? wrong : sum->worst_wrong;
	sum->sources++;
	sum->found += found;
	sum->wrong += wrong;
	sum->calls += tally->calls / sim->trials;
}

static int rate(struct nt_sim *sim, struct nt_source_noise *source, const char *name,
		struct nt_rates_sum *sum)
{
	struct nt_drive_key key = { .size_bytes = 1 << 20,
				    .auto_arm = NT_ARM_BASELINE,
				    .time_us = nt_source_noise_us,
				    .arg = source,
				    .own_share = sim->own };
	struct tally tally = { .found = 0 };
	bool differs = sim->gain > 0 || sim->stalls > 0;

	source->sim = sim;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++)
		key.cost_us[arm] = 1;
	key.mask = (1u << sim->arms) - 2; /* arms 1 .. arms - 1 */
	for (unsigned t = 0; t < sim->trials; t++) {
		struct nt_driven driven;

		if (!(sim->recheck ? nt_drive_recheck(&sim->drive, &key, NT_FASTER_ARM, &driven)
				   : nt_drive_run(&sim->drive, &key, &driven)))
			return -1;
		count(&tally, &driven, differs, sim->recheck, sim->run);
	}
	report(sim, name, &tally, sum);
	return 0;
}

int nt_rates_noises(struct nt_sim *sim, struct nt_rates_sum *sum)
{
	for (unsigned i = 0; i < nt_noise_count; i++) {
		struct nt_source_noise source = { .noise = &nt_noises[i],
						  .seed = nt_rng_mix(sim->seed, i),
						  .before = NT_ARM_BASELINE };

		if (sim->noise && strcmp(sim->noise, nt_noises[i].name) != 0)
			continue;
		if (rate(sim, &source, nt_noises[i].name, sum) < 0)
			return -1;
	}
	return 0;
}

void nt_rates_head(const struct nt_sim *sim)
{
	printf("%-16s %6s %6s %6s %6s    %s\n", "% of trials", sim->recheck ? "kept" : "found",
	       sim->recheck ? "gone" : "wrong", "calls", "pairs",
	       "AUTO kept: nothing looked faster, gain small, chance, mean, few samples");
}

void nt_rates_foot(const struct nt_rates_sum *sum)
{
	if (sum->sources > 0)
		printf("%-16s %6.2f %6.2f %6.0f    worst: found %.2f, wrong %.2f\n", "mean",
		       100 * sum->found / sum->sources, 100 * sum->wrong / sum->sources,
		       sum->calls / sum->sources, 100 * sum->worst_found, 100 * sum->worst_wrong);
}

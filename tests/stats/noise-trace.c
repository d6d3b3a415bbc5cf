/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* noise-trace.c - a trace of made-up times, as nccl-tune replay takes it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/coll.h"
#include "replay/rng.h"
#include "tests/stats/noise.h"

#define ARMS 6 /* Tree and Ring with each protocol, beside AUTO */

static const char usage[] =
	"usage: nt-noise [OPTION]... [NAME]...\n"
	"Prints a trace with cells of each noise (or of those named: the topology is the name).\n"
	"  -c CELLS    of each noise, at sizes of their own (default 9)\n"
	"  -n SAMPLES  of each arm (default 60)\n"
	"  -l LOW      arms take LOW to HIGH times as long as AUTO,\n"
	"  -h HIGH     evenly spread and drawn for each cell (default 0.8 to 1.4)\n"
	"  -s SEED     (default 1)\n";

struct made {
	unsigned cells, samples;
	double low, high;
	uint64_t seed;
};

/* Sample number k of every arm is from the same time, so that drift hits all alike. */
static void row(const struct made *made, const struct nt_noise *noise, unsigned cell, unsigned arm)
{
	uint64_t seed = nt_rng_mix(nt_rng_mix(made->seed, cell), arm);
	double factor = made->low + (made->high - made->low) * nt_rng_unit(seed);

	printf("allreduce,%s,seq,", noise->name);
	if (arm == ARMS)
		printf("AUTO,AUTO,");
	else
		printf("%s,%s,", nt_algo_name((int)(arm / NT_PROTOS)),
		       nt_proto_name((int)(arm % NT_PROTOS)));
	printf("%llu", 65536ull << cell);
	for (unsigned i = 0; i < made->samples; i++) {
		unsigned call = i * (ARMS + 1) + arm;
		uint64_t draw = nt_rng_mix(seed, i);
		double us = nt_noise_us(noise, draw, call) * (arm == ARMS ? 1 : factor);

		printf(",%.2f", us + nt_noise_gap_us(noise, draw, call));
	}
	printf("\n");
}

static int wanted(const struct nt_noise *noise, char **name)
{
	if (!*name)
		return 1;
	for (; *name; name++) {
		if (strcmp(*name, noise->name) == 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct made made = { .cells = 9, .samples = 60, .low = 0.8, .high = 1.4, .seed = 1 };
	int option;

	while ((option = getopt(argc, argv, "c:n:l:h:s:")) != -1) {
		switch (option) {
		case 'c': made.cells = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'n': made.samples = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'l': made.low = strtod(optarg, NULL); break;
		case 'h': made.high = strtod(optarg, NULL); break;
		case 's': made.seed = strtoull(optarg, NULL, 10); break;
		default: fputs(usage, stderr); return 2;
		}
	}
	for (unsigned i = 0; i < nt_noise_count; i++) {
		for (unsigned c = 0; wanted(&nt_noises[i], argv + optind) && c < made.cells; c++) {
			for (unsigned arm = ARMS + 1; arm-- > 0;)
				row(&made, &nt_noises[i], c, arm);
		}
	}
	return ferror(stdout) || fflush(stdout) != 0;
}

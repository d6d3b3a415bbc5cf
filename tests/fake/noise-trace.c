/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* noise-trace.c - a trace of made-up times, as nt-replay takes it */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lab/replay/rng.h"
#include "tests/fake/noise.h"

#define ARMS 6 /* Tree and Ring with each protocol, beside AUTO */

struct made {
	unsigned cells, samples;
	double low, high;
	uint64_t seed;
	char **names; /* of the noises; a NULL behind the last */
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

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct made *made = state->input;

	switch (key) {
	case 'c': made->cells = (unsigned)strtoul(arg, NULL, 10); return 0;
	case 'n': made->samples = (unsigned)strtoul(arg, NULL, 10); return 0;
	case 'l': made->low = strtod(arg, NULL); return 0;
	case 'h': made->high = strtod(arg, NULL); return 0;
	case 's': made->seed = strtoull(arg, NULL, 10); return 0;
	case ARGP_KEY_ARGS: made->names = state->argv + state->next; return 0;
	case ARGP_KEY_NO_ARGS: made->names = state->argv + state->argc; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ NULL, 'c', "CELLS", 0, "of each noise, at sizes of their own (default 9)", 0 },
	{ NULL, 'n', "SAMPLES", 0, "of each arm (default 60)", 0 },
	{ NULL, 'l', "LOW", 0,
	  "arms take LOW to HIGH times as long as NCCL's choice, evenly spread and drawn "
	  "for each cell (default 0.8 to 1.4)",
	  0 },
	{ NULL, 'h', "HIGH", 0, "see -l", 0 },
	{ NULL, 's', "SEED", 0, "default 1", 0 },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		take_option,
		"[NAME]...",
		"Prints a trace with cells of each noise (or of those named: the topology is the name).",
		NULL,
		NULL,
		NULL
	};
	struct made made = { .cells = 9, .samples = 60, .low = 0.8, .high = 1.4, .seed = 1 };

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &made);
	for (unsigned i = 0; i < nt_noise_count; i++) {
		for (unsigned c = 0; wanted(&nt_noises[i], made.names) && c < made.cells; c++) {
			for (unsigned arm = ARMS + 1; arm-- > 0;)
				row(&made, &nt_noises[i], c, arm);
		}
	}
	return ferror(stdout) || fflush(stdout) != 0;
}

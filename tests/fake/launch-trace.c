/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* launch-trace.c - nt-launch-trace: made-up times under several sets of launch variables
 *
 * A time is the arm's latency + bytes / its bandwidth, both depending on the profile. More channels
 * have more latency and more bandwidth, so in a wide profile a limit of channels is best for small
 * calls. NCCL's own pick is not the best arm below 2 MiB.
 */
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "tests/fake/rng.h"

#define PROFILES 4 /* the first is none */
#define SIZES 6
#define PAIRS 4
#define CHANNELS 2 /* NCCL's own */
#define PICK_MOST (2u << 20) /* up to this size NCCL picks a ring */
#define LATENCY_BY_CHANNEL 0.12
#define SAMPLES 60 /* of each row */
#define NOISE 0.06
#define SPREAD 0.05 /* variation of each profile's arms between seeds */
#define OUTLIERS 0.03

struct pair {
	const char *algo, *proto;
	double latency_us, gbs;
};

/* Approximately as on two nodes over loopback sockets. */
static const struct pair pairs[PAIRS] = {
	{ "Ring", "Simple", 180, 4.3 },
	{ "Tree", "Simple", 110, 4.2 },
	{ "Tree", "LL", 70, 1.5 },
	{ "Ring", "LL", 120, 1.6 },
};
enum { RING_SIMPLE, TREE_SIMPLE };

static const uint64_t sizes[SIZES] = { 65536, 262144, 1048576, 4194304, 16777216, 67108864 };

struct profile {
	const char *name, *set;
	unsigned channels;
	double latency, bandwidth; /* times the default's */
};

struct made {
	struct profile profile[PROFILES];
	unsigned best; /* 0: none */
	const char *topology, *picks;
	uint64_t seed;
};

/* The time of a call with so many channels; 0: the profile's own. */
static double time_us(const struct made *made, unsigned profile, unsigned pair, unsigned cap,
		      uint64_t bytes)
{
	const struct profile *p = &made->profile[profile];
	unsigned channels = cap && cap < p->channels ? cap : p->channels;
	uint64_t key = nt_rng_mix(made->seed, profile * PAIRS + pair + 1);
	double carried = pow((double)channels / p->channels, 0.7);
	double latency = pairs[pair].latency_us * p->latency;

	if (channels > CHANNELS)
		latency *= 1 + LATENCY_BY_CHANNEL * (channels - CHANNELS);
	return (latency + (double)bytes / (pairs[pair].gbs * p->bandwidth * carried * 1e3)) *
	       exp(SPREAD * nt_rng_normal(key));
}

static unsigned pick_of(uint64_t bytes)
{
	return bytes <= PICK_MOST ? RING_SIMPLE : TREE_SIMPLE;
}

static void print_row(const struct made *made, unsigned profile, unsigned pair, unsigned cap,
		      uint64_t bytes, bool automatic)
{
	const struct profile *p = &made->profile[profile];
	double us = time_us(made, profile, pair, cap, bytes);
	uint64_t key = nt_rng_mix(nt_rng_mix(made->seed, bytes), profile * 1000 + pair * 100 + cap);

	printf("%s,allreduce,%s,seq,%s,", p->set, made->topology,
	       automatic ? "AUTO" : pairs[pair].algo);
	printf(cap ? "%s/%uch" : "%s", automatic ? "AUTO" : pairs[pair].proto, cap);
	printf(",%llu", (unsigned long long)bytes);
	key = nt_rng_mix(key, automatic);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t draw = nt_rng_mix(key, i);
		double factor = exp(NOISE * nt_rng_normal(draw));

		if (nt_rng_unit(nt_rng_mix(draw, 1)) < OUTLIERS)
			factor *= 2;
		printf(",%.1f", us * factor);
	}
	printf("\n");
}

static void print_profile(const struct made *made, unsigned profile)
{
	for (unsigned s = 0; s < SIZES; s++) {
		print_row(made, profile, pick_of(sizes[s]), 0, sizes[s], true);
		for (unsigned pair = 0; pair < PAIRS; pair++) {
			print_row(made, profile, pair, 0, sizes[s], false);
			for (unsigned cap = 1; cap < made->profile[profile].channels; cap *= 2)
				print_row(made, profile, pair, cap, sizes[s], false);
		}
	}
}

static int write_picks(const struct made *made)
{
	FILE *f = fopen(made->picks, "w");

	if (!f)
		return -1;
	for (unsigned s = 0; s < SIZES; s++) {
		const struct pair *pick = &pairs[pick_of(sizes[s])];

		fprintf(f, "allreduce,%s,%llu,%s,%s\n", made->topology,
			(unsigned long long)sizes[s], pick->algo, pick->proto);
	}
	return fclose(f);
}

/* Each profile has its times; the best one also the gain. */
static void set_factors(struct made *made)
{
	static const double latency[PROFILES - 1] = { 1.3, 1.25, 1.2 };
	static const double bandwidth[PROFILES - 1] = { 1.7, 1.5, 1.1 };

	for (unsigned p = 1; p < PROFILES; p++) {
		made->profile[p].latency = latency[p - 1];
		made->profile[p].bandwidth = made->best ? bandwidth[p - 1] : 0.75;
		if (!made->best)
			made->profile[p].latency *= 1.3;
	}
	if (made->best)
		made->profile[made->best].bandwidth = 4.0;
}

static int set_best(struct made *made, const char *name)
{
	for (unsigned p = 0; p < PROFILES; p++) {
		if (strcmp(made->profile[p].name, name) == 0) {
			made->best = p;
			return 0;
		}
	}
	return -1;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct made *made = state->input;
	int rc = 0;

	switch (key) {
	case 'b': rc = set_best(made, arg); break;
	case 't': made->topology = arg; break;
	case 's': made->seed = strtoull(arg, NULL, 10); break;
	case 'k': made->picks = arg; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	if (rc < 0)
		argp_error(state, "bad value '%s'", arg);
	return 0;
}

static const struct argp_option options[] = {
	{ "best", 'b', "NAME", 0,
	  "the profile that is best for large calls (wide, threads, sockets), or none: all are worse "
	  "than NCCL's default (default wide)",
	  0 },
	{ "topology", 't', "NxM", 0, "default 2x4", 0 },
	{ "seed", 's', "N", 0, "default 1", 0 },
	{ "picks", 'k', "FILE", 0, "what NCCL picks itself, for nt-fake-nccl --auto-picks", 0 },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, take_option,
		NULL,	 "Prints a trace with launch variables, for nt-fake-nccl --trace.",
		NULL,	 NULL,
		NULL
	};
	struct made made = {
		.profile = { { "none", "none", CHANNELS, 1, 1 },
			     { "wide",
			       "NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4",
			       8, 1, 1 },
			     { "threads", "NCCL_SOCKET_NTHREADS=4+NCCL_NSOCKS_PERTHREAD=4",
			       CHANNELS, 1, 1 },
			     { "sockets", "NCCL_NSOCKS_PERTHREAD=2", CHANNELS, 1, 1 } },
		.best = 1,
		.topology = "2x4",
		.seed = 1,
	};

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &made);
	set_factors(&made);
	printf("# Made up: seed %llu\n", (unsigned long long)made.seed);
	for (unsigned p = 0; p < PROFILES; p++)
		print_profile(&made, p);
	return made.picks && write_picks(&made) < 0 ? 1 : 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-sim.c - how good the engine's choices are, on made-up noise */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "replay/rng.h"
#include "tests/stats/sim.h"

static const char usage[] =
	"usage: nt-engine-sim [OPTION]... aa|power=PCT|stalls=PCT|keep=PCT|drop=PCT\n"
	"aa          how often one of several identical arms is chosen\n"
	"power=PCT   how often an arm is found that is PCT % faster\n"
	"stalls=PCT  how often an arm is chosen that is 10 % faster, but PCT % of its calls stall\n"
	"            and take 2.3 times as long (on the whole slower from 9 % on)\n"
	"keep=PCT    how often a recheck gives up an arm that is PCT % faster, as it was before\n"
	"drop=PCT    how often it gives up one that has become PCT % slower\n"
	"Every call is made-up noise of its own; nccl-tune replay draws from measured times.\n"
	"  -n TRIALS   (default 1000)\n"
	"  -a ARMS     AUTO included (default 4)\n"
	"  -p POLICY   as srun --nccl-tune takes it (default bandit)\n"
	"  -r RULE     ucb1, which no policy names\n"
	"  -o SHARE    of a time is the call's own, as its end tells (default: nothing is known)\n"
	"  -m SHARE    of the positions are missing (default 0); not with ucb1\n"
	"  -c PCT      the first call of an arm after another one's takes PCT % longer than its next ones\n"
	"              (below 0: shorter); of the arm that may be faster, or the first of the identical ones\n"
	"  -k CALLS    each arm has so many calls in a row, the median of all but the first counts (default 1)\n"
	"  -s SEED     (default 1)\n";

static int option_set(struct nt_sim *sim, int option)
{
	struct nt_error err;
	int rc = 0;

	switch (option) {
	case 'n':
		sim->trials = (unsigned)strtoul(optarg, NULL, 10);
		return sim->trials > 0 ? 0 : -1;
	case 'a':
		sim->arms = (unsigned)strtoul(optarg, NULL, 10);
		return sim->arms >= 2 && sim->arms <= NT_PAIRS ? 0 : -1;
	case 'c': sim->carry = strtod(optarg, NULL) / 100; return sim->carry > -1 ? 0 : -1;
	case 'k':
		sim->run = (unsigned)strtoul(optarg, NULL, 10);
		return sim->run > 0 && sim->run <= NT_SIM_RUN ? 0 : -1;
	case 's': sim->seed = strtoull(optarg, NULL, 10); return 0;
	case 'o': sim->own = strtod(optarg, NULL); return sim->own > 0 && sim->own <= 1 ? 0 : -1;
	case 'm': sim->miss = strtod(optarg, NULL); return sim->miss >= 0 && sim->miss < 1 ? 0 : -1;
	case 'p': rc = nt_policy_parse_option(&sim->policy, optarg, &err); break;
	case 'r': sim->ucb1 = true; return strcmp(optarg, "ucb1") == 0 ? 0 : -1;
	default: return -1;
	}
	if (rc < 0)
		fprintf(stderr, "nt-engine-sim: %s\n", err.text);
	return rc;
}

static int share_parse(const char *text, const char *name, double *share)
{
	size_t length = strlen(name);
	char *end;

	if (strncmp(text, name, length) != 0)
		return -1;
	*share = strtod(text + length, &end) / 100;
	return *end == 0 && *share > 0 && *share < 1 ? 0 : -1;
}

/* 0, 1: trouble, 2: misused. */
static int run(struct nt_sim *sim, const char *what)
{
	struct nt_rates_sum sum = { .sources = 0 };
	double slower;
	int rc;

	if (share_parse(what, "stalls=", &sim->stalls) == 0)
		sim->gain = 0.1;
	else if (share_parse(what, "keep=", &sim->gain) == 0 ||
		 (share_parse(what, "drop=", &slower) == 0 && (sim->gain = -slower) < 0))
		sim->recheck = true;
	else if (share_parse(what, "power=", &sim->gain) < 0 && strcmp(what, "aa") != 0)
		return 2;
	if (sim->recheck && sim->ucb1)
		return 2; /* it has no rechecks */
	nt_drive_init(&sim->drive, &sim->policy);
	sim->drive.miss = sim->miss;
	sim->drive.seed = nt_rng_hash(sim->seed);
	nt_rates_head(sim);
	rc = nt_rates_noises(sim, &sum);
	nt_rates_foot(&sum);
	return rc < 0;
}

int main(int argc, char **argv)
{
	struct nt_sim sim = { .trials = 1000, .arms = 4, .seed = 1, .run = 1 };
	int option;
	int rc = 0;

	nt_policy_default(&sim.policy);
	sim.policy.mode = NT_MODE_BANDIT;
	while (rc == 0 && (option = getopt(argc, argv, "n:a:c:k:p:r:m:o:s:")) != -1)
		rc = option_set(&sim, option) < 0 ? 2 : 0;
	if (rc == 0)
		rc = optind + 1 == argc ? run(&sim, argv[optind]) : 2;
	if (rc == 2)
		fputs(usage, stderr);
	return rc;
}

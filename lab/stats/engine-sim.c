/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-sim.c - how good the engine's choices are, on made-up noise */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lab/replay/rng.h"
#include "lab/stats/sim.h"

static const char doc[] =
	"How good the engine's choices are on made-up noise; nt-replay draws from measured times.\v"
	"aa          how often one of several identical arms is chosen\n"
	"power=PCT   how often an arm is found that is PCT % faster\n"
	"stalls=PCT  how often an arm is chosen that is 10 % faster, but of whose calls\n"
	"            PCT % stall: 2.3 times as long (slower on the whole from 9 % on)\n"
	"keep=PCT    how often a recheck gives up an arm that still is PCT % faster\n"
	"drop=PCT    how often it gives up one that has become PCT % slower";

static const struct argp_option options[] = {
	{ NULL, 'n', "TRIALS", 0, "default 1000", 0 },
	{ NULL, 'a', "ARMS", 0, "NCCL's choice included (default 4)", 0 },
	{ NULL, 'p', "POLICY", 0, "as srun --nccl-tune takes it (default bandit)", 0 },
	{ NULL, 'f', "NOISE", 0, "only this one", 0 },
	{ NULL, 'o', "SHARE", 0,
	  "of a time is the call's own, as its end tells (default: nothing is known)", 0 },
	{ NULL, 'm', "SHARE", 0, "of the positions are missing (default 0)", 0 },
	{ NULL, 'c', "PCT", 0,
	  "the first call of an arm after another one's takes PCT % longer than its next ones (below "
	  "0: shorter); of the arm that may be faster, or the first of the identical ones",
	  0 },
	{ NULL, 'k', "CALLS", 0,
	  "each arm has so many calls in a row, the median of all but the first counts (default 1)",
	  0 },
	{ NULL, 'e', "SECONDS", 0, "a call comes once in so many (default: nothing is known)", 0 },
	{ NULL, 't', "CALLS", 0,
	  "with -e: there is time for so many calls more at each look (default: for all)", 0 },
	{ NULL, 's', "SEED", 0, "default 1", 0 },
	{ 0 },
};

/* false: it makes no sense. */
static bool take_value(struct nt_sim *sim, int key, char *arg, struct argp_state *state)
{
	struct nt_error err;

	switch (key) {
	case 'n': return (sim->trials = (unsigned)strtoul(arg, NULL, 10)) > 0;
	case 'a':
		sim->arms = (unsigned)strtoul(arg, NULL, 10);
		return sim->arms >= 2 && sim->arms <= NT_PAIRS;
	case 'c': return (sim->carry = strtod(arg, NULL) / 100) > -1;
	case 'k':
		sim->run = (unsigned)strtoul(arg, NULL, 10);
		return sim->run > 0 && sim->run <= NT_SIM_RUN;
	case 'e': return (sim->apart_us = strtod(arg, NULL) * 1e6) > 0;
	case 't': return (sim->left_calls = strtod(arg, NULL)) > 0;
	case 's': sim->seed = strtoull(arg, NULL, 10); return true;
	case 'o': sim->own = strtod(arg, NULL); return sim->own > 0 && sim->own <= 1;
	case 'm': sim->miss = strtod(arg, NULL); return sim->miss >= 0 && sim->miss < 1;
	case 'f': sim->noise = arg; return true;
	default:
		if (nt_policy_parse_option(&sim->policy, arg, &err) < 0)
			argp_error(state, "%s", err.text);
		return true;
	}
}

struct asked {
	struct nt_sim *sim;
	const char *what;
};

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct asked *asked = state->input;

	if (key == ARGP_KEY_ARG && !asked->what)
		asked->what = arg;
	else if (key == ARGP_KEY_NO_ARGS)
		argp_usage(state);
	else if (key <= 0 || key > 'z')
		return ARGP_ERR_UNKNOWN;
	else if (!take_value(asked->sim, key, arg, state))
		argp_error(state, "bad value '%s' of -%c", arg, key);
	return 0;
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
	nt_drive_init(&sim->drive, &sim->policy);
	sim->drive.miss = sim->miss;
	sim->drive.apart_us = sim->apart_us;
	sim->drive.left_calls = sim->left_calls;
	sim->drive.seed = nt_rng_hash(sim->seed);
	nt_rates_head(sim);
	rc = nt_rates_noises(sim, &sum);
	nt_rates_foot(&sum);
	return rc < 0 || sum.sources == 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, take_option, "aa|power=PCT|stalls=PCT|keep=PCT|drop=PCT", doc, NULL,
		NULL,	 NULL
	};
	struct nt_sim sim = { .trials = 1000, .arms = 4, .seed = 1, .run = 1 };
	struct asked asked = { &sim, NULL };
	int rc;

	nt_policy_default(&sim.policy);
	sim.policy.mode = NT_MODE_BANDIT;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &asked);
	rc = run(&sim, asked.what);
	if (rc == 2)
		argp_help(&argp, stderr, ARGP_HELP_STD_USAGE, "nt-engine-sim");
	return rc;
}

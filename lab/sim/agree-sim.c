/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-sim.c - random runs of the agreement: real shared memories, real state machine, a simulated
 * network and clock
 *
 * Every rank issues the same collectives of its communicators in the same order, at its own
 * pace; communicators come, are used and go. Logs are read late and in pieces; node leaders fall
 * silent, leave in good order or die; ranks race ahead, decide without a collective following
 * (probes), capture graphs, or end. What each rank follows at each collective is compared with
 * what the first rank to get there followed. One JSON line tells what happened; the exit status
 * is 1 if two ranks ever differed, one waited without end although its own node leader and the
 * communicator's the coordinator lived, a plan was followed that the log does not have or not
 * followed that it has, something was never given back, or the model does not allow what happened.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/number.h"
#include "lab/sim/sim.h"

#define SEED_STEP UINT64_C(1000003)
#define CALM_MS 60000 /* simulated, after the last rank: by then everything was given back */
#define RUN_MS 4000000 /* simulated: no run is that long */

struct sim *sim_now;
int64_t sim_countdown = INT64_MAX;

struct outcome {
	struct sim_tally tally;
	uint64_t bad_seed; /* of the first run that is wrong; 0 none */
};

static void step_leader(struct sim *s, uint32_t node)
{
	enum sim_side before = s->inside;
	struct sim_node *was = s->inside_node;

	s->inside = before == SIM_NOBODY ? SIM_LEADER : SIM_BOTH;
	if (before == SIM_NOBODY)
		s->inside_node = &s->node[node];
	network_step(s, node);
	s->inside = before;
	s->inside_node = was;
}

/* Between two accesses to shared memory: ranks act inside their node leader's step, or the node
 * leader inside a rank's. */
void sim_interleave(void)
{
	struct sim *s = sim_now;
	struct sim_node *node;

	if (!s || s->gap == 0) {
		sim_countdown = INT64_MAX;
		return;
	}
	sim_countdown = 1 + sim_below(s, 2 * s->gap);
	node = s->inside_node;
	if (s->inside == SIM_LEADER && node->member_count > 0) {
		struct sim_member *m = node->slot[sim_below(s, node->member_count)];

		s->t.interleaved++;
		for (uint32_t i = 1 + sim_below(s, sim_below(s, 4) == 0 ? 50 : 4); i > 0; i--)
			rank_act(s, m);
	} else if (s->inside == SIM_RANK && sim_below(s, 4) == 0) {
		s->t.interleaved++;
		step_leader(s, (uint32_t)(node - s->node));
	}
}

static void open_comms(struct sim *s)
{
	for (uint32_t i = 0; i < s->comm_count; i++) {
		struct sim_comm *c = &s->comm[i];
		const struct sim_comm *before = c->again < 0 ? NULL : &s->comm[c->again];

		if (c->opened || s->now_ms < 1000 + c->open_ms)
			continue;
		if (before && (!before->ended || s->now_ms < before->end_ms + c->pause_ms))
			continue;
		c->opened = true;
		c->open_ms = (uint32_t)s->now_ms;
		s->t.second_lives += before != NULL;
	}
}

static void advance_comm(struct sim *s, struct sim_comm *c)
{
	uint32_t start = sim_below(s, c->ranks), least = SIM_NEVER;

	for (uint32_t i = 0; i < c->ranks; i++) {
		struct sim_member *m =
			&c->slot[start + i < c->ranks ? start + i : start + i - c->ranks];

		if (m->life == SIM_ENDED && !m->dead)
			continue;
		for (uint32_t b = sim_below(s, s->slow) == 0 ? sim_below(s, m->pace + 1) : 0;
		     b > 0 && m->life != SIM_ENDED; b--) {
			rank_act(s, m);
			if (m->waiting)
				break;
		}
		if (m->next < least)
			least = m->next;
	}
	c->least = least;
	c->ended = c->gone == c->ranks;
	c->end_ms = s->now_ms;
}

/* A process that is dead takes no part in any later communicator: none of its ranks will come. */
static bool advance(struct sim *s)
{
	bool busy = false;

	for (uint32_t i = 0; i < s->comm_count; i++) {
		struct sim_comm *c = &s->comm[i];

		if (c->opened && !c->ended)
			advance_comm(s, c);
		busy |= !c->ended;
	}
	return busy;
}

static void step_nodes(struct sim *s)
{
	uint32_t start = sim_below(s, s->nodes);

	for (uint32_t i = 0; i < s->nodes; i++) {
		uint32_t n = start + i < s->nodes ? start + i : start + i - s->nodes;

		if (s->now_ms >= s->node[n].next_ms)
			step_leader(s, n);
	}
}

/* Whether a rank of the communicator, in any of its lives, ended without leaving, or its
 * coordinator's node leader is gone: then what was held may stay held. */
static bool is_crippled(const struct sim *s, uint64_t id)
{
	bool info = false;

	for (uint32_t i = 0; i < s->comm_count; i++) {
		const struct sim_comm *c = &s->comm[i];

		if (c->id != id)
			continue;
		info = true;
		if (!network_speaks(s, c->coordinator))
			return true;
		for (uint32_t r = 0; r < c->ranks; r++) {
			if (c->slot[r].dead)
				return true;
		}
	}
	return !info;
}

static uint32_t held_keys(struct sim *s, uint32_t node)
{
	uint32_t held = 0;

	for (uint32_t c = 0; c < NT_SHM_COMMS; c++) {
		struct nt_shm_comm *comm = &s->node[node].shm->comm[c];

		for (uint32_t k = 0; k < NT_SHM_KEYS && atomic_load(&comm->key[k].id) != 0; k++) {
			if (atomic_load(&comm->key[k].hold_at) != 0)
				held += !is_crippled(s, atomic_load(&comm->id));
		}
	}
	return held;
}

static uint32_t owned_runs(struct sim *s, uint32_t node)
{
	uint32_t owned = 0;

	for (uint32_t r = 0; r < NT_SHM_RUNS; r++) {
		uint32_t owner = atomic_load(&s->node[node].shm->run[r].owner);
		uint64_t id;

		if (owner == 0)
			continue;
		id = atomic_load(&s->node[node].shm->comm[(owner - 1) / NT_SHM_KEYS].id);
		owned += id == 0 || !is_crippled(s, id);
	}
	return owned;
}

/* A key has one area for samples at a time: a second one was forgotten. */
static uint32_t areas_forgotten(const struct nt_shm *shm)
{
	uint32_t forgotten = 0;

	for (uint32_t r = 1; r < NT_SHM_RUNS; r++) {
		uint32_t owner = atomic_load(&shm->run[r].owner);

		for (uint32_t q = 0; q < r && owner != 0; q++)
			forgotten += atomic_load(&shm->run[q].owner) == owner;
	}
	return forgotten;
}

/* Without faults and with all ranks gone, living node leaders give everything back. */
static void calm_down(struct sim *s)
{
	uint64_t until_ms = s->now_ms + CALM_MS + 300 * s->tick_ms;
	uint32_t held = 1, owned = 1;

	s->active = 0;
	for (uint32_t n = 0; n < s->nodes; n++) {
		s->node[n].frozen_until_ms = 0;
		if (network_speaks(s, n))
			s->t.runs_left += areas_forgotten(s->node[n].shm);
	}
	while (held + owned > 0 && s->now_ms < until_ms) {
		held = owned = 0;
		for (uint32_t n = 0; n < s->nodes; n++) {
			if (network_speaks(s, n)) {
				held += held_keys(s, n);
				owned += owned_runs(s, n);
			}
		}
		s->now_ms += 4 * s->tick_ms + 40;
		if (held + owned > 0)
			step_nodes(s);
	}
	s->t.holds_left += held;
	s->t.runs_left += owned;
}

static void run_once(struct sim *s, uint64_t seed)
{
	bool busy = true;

	s->rng = seed;
	sim_countdown = INT64_MAX;
	sim_make(s);
	trace_begin(s);
	if (s->gap > 0)
		sim_countdown = s->gap;
	while (busy) {
		s->now_ms += 1 + sim_below(s, 2 * (uint32_t)s->tick_ms);
		open_comms(s);
		step_nodes(s);
		busy = advance(s);
		if (s->now_ms > RUN_MS + 100000 * s->tick_ms) {
			fprintf(stderr, "nt-agree-sim: the run of seed %llu does not end\n",
				(unsigned long long)seed);
			exit(2);
		}
	}
	calm_down(s);
	trace_end(s, seed);
	sim_end(s);
}

/* Every jobs-th run from the first on. */
static void run_share(struct sim *s, uint32_t first, struct outcome *outcome)
{
	sim_now = s;
	for (uint64_t i = first; i < s->o.runs; i += s->o.jobs) {
		struct sim_tally before = s->t;

		run_once(s, s->o.seed + i * SEED_STEP);
		if (outcome->bad_seed == 0 && tally_bad(&s->t) && !tally_bad(&before))
			outcome->bad_seed = s->o.seed + i * SEED_STEP;
		if ((s->o.until_bad && outcome->bad_seed != 0) ||
		    (s->o.seconds != 0 && clock() / CLOCKS_PER_SEC >= (clock_t)s->o.seconds))
			break;
	}
	s->t.cpu_ms = (uint64_t)(clock() / (CLOCKS_PER_SEC / 1000));
	outcome->tally = s->t;
}

static bool pass_on(int fd, void *bytes, size_t count, bool is_read)
{
	for (size_t done = 0; done < count;) {
		char *at = (char *)bytes + done;
		ssize_t moved = is_read ? read(fd, at, count - done) : write(fd, at, count - done);

		if (moved <= 0)
			return false;
		done += (size_t)moved;
	}
	return true;
}

/* Workers are processes, since the run is one per process. */
static bool run_jobs(struct sim *s, struct outcome *sum)
{
	int *fds = sim_must(calloc(s->o.jobs, sizeof(*fds)));
	bool all = true;

	for (uint32_t j = 0; j < s->o.jobs; j++) {
		struct outcome outcome = { .bad_seed = 0 };
		int ends[2];

		if (pipe(ends) < 0)
			return false;
		if (fork() == 0) {
			run_share(s, j, &outcome);
			_exit(pass_on(ends[1], &outcome, sizeof(outcome), false) ? 0 : 1);
		}
		close(ends[1]);
		fds[j] = ends[0];
	}
	for (uint32_t j = 0; j < s->o.jobs; j++) {
		struct outcome outcome;

		if (pass_on(fds[j], &outcome, sizeof(outcome), true)) {
			tally_add(&sum->tally, &outcome.tally);
			if (sum->bad_seed == 0)
				sum->bad_seed = outcome.bad_seed;
		} else {
			all = false;
		}
		close(fds[j]);
		(void)wait(NULL);
	}
	free(fds);
	return all;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: nt-agree-sim [--nodes N] [--ranks-per-node R] [--mix [--brief]] [--plain] [--runs N] [--seed S]\n"
		"    [--faults all|none|NAME[,NAME]...] [--calls N] [--comms N] [--budget N] [--skew-ms N]\n"
		"    [--jobs N] [--until-bad] [--seconds N] [--untraced]\n"
		"faults:");
	for (int f = 0; f < SIM_FAULT_COUNT; f++)
		fprintf(stderr, " %s", sim_fault_names()[f]);
	fprintf(stderr, "\n");
	exit(2);
}

static uint32_t parse_faults(char *text)
{
	uint32_t faults = 0;

	if (strcmp(text, "none") == 0)
		return 0;
	if (strcmp(text, "all") == 0)
		return (1u << SIM_FAULT_COUNT) - 1;
	for (char *name; (name = strsep(&text, ",")) != NULL;) {
		uint32_t f = 0;

		while (f < SIM_FAULT_COUNT && strcmp(name, sim_fault_names()[f]) != 0)
			f++;
		if (f == SIM_FAULT_COUNT)
			usage();
		faults |= 1u << f;
	}
	return faults;
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
	uint64_t value = 0;

	if (nt_number_parse(text, least, most, &value) < 0)
		usage();
	return (uint32_t)value;
}

static void parse(int argc, char **argv, struct sim_options *o)
{
	static const struct option info[] = {
		{ "nodes", required_argument, NULL, 'n' },
		{ "ranks-per-node", required_argument, NULL, 'r' },
		{ "runs", required_argument, NULL, 'R' },
		{ "seed", required_argument, NULL, 's' },
		{ "faults", required_argument, NULL, 'f' },
		{ "calls", required_argument, NULL, 'c' },
		{ "comms", required_argument, NULL, 'C' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "budget", required_argument, NULL, 'b' },
		{ "skew-ms", required_argument, NULL, 'k' },
		{ "mix", no_argument, NULL, 'm' },
		{ "plain", no_argument, NULL, 'p' },
		{ "until-bad", no_argument, NULL, 'u' },
		{ "seconds", required_argument, NULL, 't' },
		{ "brief", no_argument, NULL, 'B' },
		{ "untraced", no_argument, NULL, 'U' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", info, NULL)) != -1) {
		switch (c) {
		case 'n': o->nodes = number(optarg, 1, 4096); break;
		case 'r': o->ranks_per_node = number(optarg, 1, NT_SHM_SLOTS); break;
		case 'R': o->runs = strtoull(optarg, NULL, 10); break;
		case 's': o->seed = strtoull(optarg, NULL, 10); break;
		case 'c': o->calls = number(optarg, 1, SIM_CALLS_MAX); break;
		case 'C': o->comms = number(optarg, 1, SIM_COMMS_MAX); break;
		case 'j': o->jobs = number(optarg, 1, 1024); break;
		case 'b': o->budget = number(optarg, 1, NT_PACE_READS); break;
		case 'k': o->skew_ms = number(optarg, 0, 100000); break;
		case 't': o->seconds = number(optarg, 0, 1000000); break;
		case 'f': o->faults = parse_faults(optarg); break;
		case 'm': o->mix = true; break;
		case 'B': o->brief = true; break;
		case 'U': o->untraced = true; break;
		case 'p': o->plain = true; break;
		case 'u': o->until_bad = true; break;
		default: usage();
		}
	}
	if (optind != argc)
		usage();
}

int main(int argc, char **argv)
{
	static struct sim s = { .o = { .nodes = 4,
				       .ranks_per_node = 2,
				       .calls = 300,
				       .comms = 5,
				       .jobs = 1,
				       .runs = 100,
				       .seed = 1,
				       .faults = (1u << SIM_FAULT_COUNT) - 1,
				       .budget = NT_PACE_READS,
				       .skew_ms = 20 } };
	static struct outcome outcome;

	parse(argc, argv, &s.o);
	if (s.o.jobs == 1)
		run_share(&s, 0, &outcome);
	else if (!run_jobs(&s, &outcome))
		return 2;
	tally_print(&s, &outcome.tally, outcome.bad_seed);
	return tally_bad(&outcome.tally) ? 1 : 0;
}

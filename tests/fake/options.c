/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one table of options; every value is checked against its domain */
#include "tests/fake/options_parse.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, COUNT, COUNT64, REAL, TEXT, WHEN, OWN };

struct option {
	const char *name;
	enum kind kind;
	size_t at;
	double low, high; /* COUNT, COUNT64, REAL */
	nt_option_parser parse; /* OWN */
	const char *value; /* for --help */
	const char *help;
};

#define AT(member) offsetof(struct nt_options, member)

/* clang-format off */
static const struct option table[] = {
	{ "nccl", TEXT, AT(nccl), 0, 0, NULL, "RELEASE",
	  "2.21.5 2.22.3 2.24.3 2.26.2 2.27.7 2.28.9 2.30.7 2.31.2 2.32.6" },
	{ "fork", COUNT, AT(fork), 1, NT_MAX_RANKS, NULL, "N", "run N processes without Slurm" },
	{ "procs-per-task", COUNT, AT(processes), 1, NT_MAX_RANKS, NULL, "N",
	  "started by the task, as torchrun does" },
	{ "idle-tasks", OWN, 0, 0, 0, nt_parse_idle, "LIST|every:N", "tasks without ranks" },
	{ "poor-node", COUNT, AT(poor_node), 0, 64, NULL, "N", "of Slurm's, from 1: it has fewer links" },
	{ "idle-s", COUNT, AT(idle_s), 0, 600, NULL, "S", "how long those live" },
	{ "ranks-in-process", COUNT, AT(threads), 1, NT_MAX_RANKS, NULL, "N", "one thread a rank" },
	{ "one-thread", FLAG, AT(one_thread), 0, 0, NULL, NULL,
	  "one thread for a process's ranks, in one group" },
	{ "nodes", COUNT, AT(nodes), 1, NT_MAX_RANKS, NULL, "N", "nodes to pretend" },
	{ "wire", TEXT, AT(wire_dir), 0, 0, NULL, "DIR", "where the ranks meet (TMPDIR)" },
	{ "env", OWN, 0, 0, 0, nt_parse_env, "NAME=VALUE", "%r %n %l %t: rank, node, local rank, task" },
	{ "coll", OWN, 0, 0, 0, nt_parse_colls, "LIST", "allreduce,allgather,..." },
	{ "sizes", OWN, 0, 0, 0, nt_parse_sizes, "LIST", "64K,1M,16Mx8...: xN calls of a size" },
	{ "p2p", OWN, 0, 0, 0, nt_parse_p2p, "KIND:SIZE[xN]",
	  "send, sendrecv or alltoall on each communicator, in each round" },
	{ "iters", COUNT64, AT(iters), 1, 1e9, NULL, "N", "rounds over collectives and sizes" },
	{ "more", COUNT64, AT(more), 0, NT_MORE_MAX, NULL, "N",
	  "rounds at most after these, while the plugin still wants events on some rank" },
	{ "settled", FLAG, AT(settled), 0, 0, NULL, NULL,
	  "... or nodes have not agreed yet, however long they take" },
	{ "order", OWN, 0, 0, 0, nt_parse_order, "ORDER", "seq or shuffle" },
	{ "seed", COUNT64, AT(seed), 0, 1e18, NULL, "N", "of everything random" },
	{ "sync", OWN, 0, 0, 0, nt_parse_sync, "WHEN", "every, never or a number of calls" },
	{ "groups", COUNT, AT(group), 1, NT_MAX_TASKS, NULL, "N", "tasks in a group" },
	{ "comms", OWN, 0, 0, 0, nt_parse_comms, "LIST",
	  "world,node,tp:K,block:K@FROM,rev:K,roll:K,dp:K,pp:K,split:COLORS" },
	{ "interleave", FLAG, AT(interleave), 0, 0, NULL, NULL,
	  "another order of communicators on each rank" },
	{ "churn", OWN, 0, 0, 0, nt_parse_churn, "ROUNDS[xTIMES]",
	  "new communicators that often (all but the first of --comms)" },
	{ "same-id", FLAG, AT(same_id), 0, 0, NULL, NULL, "new communicators have the old ids" },
	{ "call-gap-us", COUNT64, AT(call_gap_us), 0, 1e7, NULL, "US", "host time between calls" },
	{ "compute-us", REAL, AT(compute_us), 0, 1e7, NULL, "US", "on the GPU before each round" },
	{ "compute-factor", OWN, 0, 0, 0, nt_parse_compute, "FACTOR[:SET]",
	  "it takes longer under these launch variables" },
	{ "queue", COUNT, AT(queue), 1, NT_MAX_QUEUE, NULL, "N", "launches ahead of the GPU" },
	{ "realtime", REAL, AT(realtime), 0, 1e6, NULL, "FACTOR", "sleep that much of GPU time" },
	{ "nonblocking", FLAG, AT(nonblocking), 0, 0, NULL, NULL, "decide on another thread" },
	{ "trace", OWN, 0, 0, 0, nt_parse_trace, "FILE[,TOPOLOGY[,MODE]]", "measured times" },
	{ "auto-picks", TEXT, AT(picks_path), 0, 0, NULL, "FILE", "what NCCL picks itself" },
	{ "launch-else", TEXT, AT(launch_else), 0, 0, NULL, "SET",
	  "rows to take where the trace has none for what is set" },
	{ "slow-after", OWN, 0, 0, 0, nt_parse_slow, "ROUNDS:FACTOR[:SET]",
	  "times from then on, under these launch variables" },
	{ "noise", OWN, 0, 0, 0, nt_parse_noise, "KIND", "none gaussian lognormal bimodal" },
	{ "arm", OWN, 0, 0, 0, nt_parse_truth, "ARM=FACTOR[@OP]", "its true time differs" },
	{ "drag", OWN, 0, 0, 0, nt_parse_drag, "ARM=US", "the collective after one by this arm takes longer" },
	{ "lateness-us", REAL, AT(lateness_us), 0, 1e6, NULL, "US", "mean, of each rank and call" },
	{ "slow-rank", WHEN, AT(slow_rank), 0, 0, NULL, "RANK@US", "it is late by so much for each call" },
	{ "slow-calls", COUNT64, AT(slow_calls), 1, 1e9, NULL, "N", "... and the next one after N calls" },
	{ "channels", COUNT, AT(channels), 1, NT_MAX_CHANNELS, NULL, "N", "of a communicator" },
	{ "ll128", FLAG, AT(ll128), 0, 0, NULL, NULL, "LL128 is legal across nodes" },
	{ "no-nvlink", FLAG, AT(no_nvlink), 0, 0, NULL, NULL, "LL128 is legal nowhere" },
	{ "simulate-on", WHEN, AT(simulate), 0, 0, NULL, "RANK@EVERY", "ncclGroupSimulateEnd" },
	{ "probe", FLAG, AT(probe), 0, 0, NULL, NULL, "symmetric-kernel probe before each call" },
	{ "probe-on", WHEN, AT(probe_on), 0, 0, NULL, "RANK@EVERY", "... on one rank alone" },
	{ "probe-from", COUNT64, AT(probe_from), 1, 1e9, NULL, "CALL", "... from that call on" },
	{ "symmetric", COUNT64, AT(symmetric_every), 1, 1e9, NULL, "EVERY",
	  "a call by a symmetric kernel (2.31 on)" },
	{ "tls", FLAG, AT(tls), 0, 0, NULL, NULL, "sockets are encrypted: OpenSSL is loaded" },
	{ "one-question", FLAG, AT(one_question), 0, 0, NULL, NULL,
	  "for all kinds of kernels, as with NCCL_ENQUEUE_REARCH_ENABLE=1" },
	{ "select", OWN, 0, 0, 0, nt_parse_selected, "EVERY:ARM[+ARM...]",
	  "a call whose algSelection is that (2.31 on)" },
	{ "ras", OWN, 0, 0, 0, nt_parse_ras, "MASK@CALL",
	  "RAS sets the event mask at that call with kernel times, one later on each rank" },
	{ "profiler-threads", COUNT, AT(profiler_threads), 1, NT_MAX_PROFILERS, NULL, "N",
	  "that tell of a communicator's kernels, each at its own pace" },
	{ "fail", COUNT64, AT(fail_every), 1, 1e9, NULL, "EVERY",
	  "a call on all ranks that fails once it is decided" },
	{ "allgatherv", COUNT64, AT(gather_every), 1, 1e9, NULL, "EVERY",
	  "a group of Broadcasts with different roots" },
	{ "capture", OWN, 0, 0, 0, nt_parse_capture, "EVERY[xREPLAYS]", "CUDA graphs" },
	{ "kill", WHEN, AT(kill), 0, 0, NULL, "RANK@CALL", "SIGKILL itself" },
	{ "exit", WHEN, AT(exit), 0, 0, NULL, "RANK@CALL", "leave at once with 3" },
	{ "stuck", WHEN, AT(stuck), 0, 0, NULL, "RANK@CALL", "never make that call" },
	{ "drop-kernelch", REAL, AT(drop_kernelch), 0, 1, NULL, "P", "lost KernelCh events" },
	{ "proxy-pool", FLAG, AT(proxy_pool), 0, 0, NULL, NULL,
	  "kernel times take their memory in /dev/shm, and a thread (2.26 to 2.30)" },
	{ "late-kernelch", OWN, 0, 0, 0, nt_parse_late, "tuner|profiler", "after its finalize" },
	{ "abort", FLAG, AT(abort), 0, 0, NULL, NULL, "ncclCommAbort at the end" },
	{ "abort-every", OWN, 0, 0, 0, nt_parse_abort_every, "ROUNDS[xTIMES]",
	  "ncclCommAbort of all communicators, and new ones" },
	{ "no-destroy", FLAG, AT(no_destroy), 0, 0, NULL, NULL, "exit without ncclCommDestroy" },
	{ "peer-timeout", COUNT, AT(peer_timeout_s), 1, 3600, NULL, "S", "for peers that vanish" },
	{ "time-decisions", FLAG, AT(time_decisions), 0, 0, NULL, NULL, "measure getCollInfo" },
	{ "expect-arm", OWN, 0, 0, 0, nt_parse_expected, "COLL:SIZE=ARM", "else exit 68" },
};
/* clang-format on */

void nt_options_help(void)
{
	printf("usage: nt-fake-nccl [OPTION...]\n"
	       "A simulated NCCL: no GPU is used, no data is moved.\n\n");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		printf("  --%s%s%-*s  %s\n", table[i].name, table[i].value ? "=" : " ",
		       (int)(36 - strlen(table[i].name)), table[i].value ? table[i].value : "",
		       table[i].help);
}

static void defaults(struct nt_options *o)
{
	*o = (struct nt_options){
		.nccl = "2.28.9",
		.processes = 1,
		.threads = 1,
		.split = { { .kind = NT_SPLIT_WORLD, .name = "world" } },
		.splits = 1,
		.nodes = 1,
		.coll = { NT_ALLREDUCE },
		.colls = 1,
		.size_bytes = { 64 << 10, 256 << 10, 1 << 20, 16 << 20 },
		.repeat = { 1, 1, 1, 1 },
		.sizes = 4,
		.iters = 100,
		.seed = 1,
		.sync_every = 1,
		.group = 1,
		.datatype = "ncclFloat32",
		.call_gap_us = 200,
		.queue = 64,
		.trace_mode = "seq",
		.noise = NT_NOISE_LOGNORMAL,
		.noise_width = 0.05,
		.fast_share = 0.62,
		.slow_ratio = 2.3,
		.cost_skew = 1e-4,
		.lateness_us = 3,
		.connect_us = 20000,
		.slow_rank = { -1, 0 },
		.simulate = { -1, 0 },
		.probe_on = { -1, 1 },
		.profiler_threads = 1,
		.replays = 3,
		.kill = { -1, 0 },
		.exit = { -1, 0 },
		.stuck = { -1, 0 },
		.peer_timeout_s = 120,
	};
}

static int parse_when(const char *text, struct nt_when *out, struct nt_error *err)
{
	char *end = NULL;

	out->rank = -1;
	if (isdigit((unsigned char)*text))
		out->rank = (int)strtol(text, &end, 10);
	if (!end || *end != '@' || out->rank >= NT_MAX_RANKS || !isdigit((unsigned char)end[1]))
		return nt_error_set(err, "'%s' (want RANK@CALL, calls counted from 1)", text);
	out->call = strtoull(end + 1, &end, 10);
	if (*end || !out->call)
		return nt_error_set(err, "'%s' (want RANK@CALL, calls counted from 1)", text);
	return 0;
}

static int apply(struct nt_options *o, const struct option *opt, const char *text,
		 struct nt_error *err)
{
	char *at = (char *)o + opt->at;
	double value = 0;

	switch (opt->kind) {
	case FLAG: *(bool *)at = true; return 0;
	case TEXT: *(const char **)at = text; return 0;
	case WHEN: return parse_when(text, (struct nt_when *)at, err);
	case OWN: return opt->parse(o, text, err);
	default: break;
	}
	if (nt_parse_number(text, opt->low, opt->high, &value, err) < 0)
		return -1;
	if (opt->kind == COUNT)
		*(unsigned *)at = (unsigned)value;
	else if (opt->kind == COUNT64)
		*(uint64_t *)at = (uint64_t)value;
	else
		*(double *)at = value;
	return 0;
}

static const struct option *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0)
			return &table[i];
	}
	return NULL;
}

static int check_round(const struct nt_options *o, struct nt_error *err)
{
	unsigned calls = 0;

	for (unsigned n = 0; n < o->sizes; n++)
		calls += o->colls * o->repeat[n];
	if (calls > NT_MAX_CALLS)
		return nt_error_set(err, "--sizes: more than %d calls in a round", NT_MAX_CALLS);
	/* Two ranks with full queues would wait for each other. */
	if (o->interleave && o->queue < 2 * calls)
		return nt_error_set(err, "--interleave: want a --queue of two rounds at least");
	/* Both count back from the last call. */
	if (o->more && (o->abort || o->late_kernelch))
		return nt_error_set(err, "--more does not go with --abort and --late-kernelch");
	return 0;
}

int nt_options_parse(struct nt_options *o, int argc, char **argv, struct nt_error *err)
{
	defaults(o);
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i] + 2;
		size_t length = strcspn(argv[i], "=");
		const struct option *opt = NULL;
		const char *text = NULL;
		struct nt_error why;

		if (strncmp(argv[i], "--", 2) == 0)
			opt = find(name, length - 2);
		if (!opt)
			return nt_error_set(err, "unknown option '%s' (see --help)", argv[i]);
		if (opt->kind != FLAG) {
			text = argv[i][length] ? argv[i] + length + 1
			       : i + 1 < argc  ? argv[++i]
					       : NULL;
			if (!text)
				return nt_error_set(err, "--%s: a value is missing", opt->name);
		} else if (argv[i][length]) {
			return nt_error_set(err, "--%s takes no value", opt->name);
		}
		if (apply(o, opt, text, &why) < 0)
			return nt_error_set(err, "--%s: %s", opt->name, why.text);
	}
	return check_round(o, err);
}

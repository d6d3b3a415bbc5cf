/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one table of options */
#include "bench/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"
#include "lib/size.h"

enum value_kind { FLAG, NUMBER, TEXT, OWN };

typedef int (*parser)(struct nt_bench_options *o, const char *text, struct nt_error *err);

struct rule {
	const char *name;
	enum value_kind kind;
	size_t at; /* member of type int, bool or text */
	int low, high; /* NUMBER */
	parser parse; /* OWN */
	const char *value;
	const char *help;
};

static const char *const mode_names[NT_BENCH_MODES] = { "seq", "burst", "grouped", "graph",
							"mixed" };

const char *nt_bench_mode_name(enum nt_bench_mode mode)
{
	return mode_names[mode];
}

static int parse_number(const char *text, int low, int high, int *out, struct nt_error *err)
{
	uint64_t value;

	if (nt_number_parse(text, (uint64_t)low, (uint64_t)high, &value) < 0)
		return nt_error_set(err, "'%s' (want %d to %d)", text, low, high);
	*out = (int)value;
	return 0;
}

/* Copy the next part of a comma-separated list to out. False: the end, or it is too long. */
static bool next_part(const char **list, char *out, size_t out_bytes)
{
	size_t n = strcspn(*list, ",");

	if (n == 0 || n >= out_bytes)
		return false;
	memcpy(out, *list, n);
	out[n] = '\0';
	*list += n + ((*list)[n] == ',');
	return true;
}

/* Was the whole list read, and does it not end with a comma? */
static bool is_whole(const char *list, const char *rest)
{
	return rest > list && !*rest && rest[-1] != ',';
}

static int parse_colls(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->colls = 0;
	while (o->colls < NT_KINDS && next_part(&rest, part, sizeof(part))) {
		const int coll = nt_kind_find(part);

		if (coll < 0 || coll == NT_P2P_SEND || coll == NT_P2P_RECV)
			return nt_error_set(err,
					    "'%s' (want allreduce, allgather, reducescatter, "
					    "broadcast, reduce, alltoall, sendrecv)",
					    part);
		o->coll[o->colls++] = coll;
	}
	if (!is_whole(text, rest))
		return nt_error_set(err, "'%s' (want a list of 1 to %d collectives)", text,
				    NT_KINDS);
	return 0;
}

/* Read 1 to `most` sizes. Returns their number. */
static int take_sizes(const char *text, size_t *bytes, unsigned most, struct nt_error *err)
{
	uint64_t wanted[NT_BENCH_SIZES];
	int count = nt_sizes_parse(text, wanted, most);

	for (int i = 0; i < count; i++) {
		if (wanted[i] < 4 || wanted[i] > UINT64_C(64) << 30)
			return nt_error_set(err, "size '%s' (want 4 to 64G)", text);
		bytes[i] = (size_t)wanted[i];
	}
	if (count < 0 && most > 1)
		return nt_error_set(err, "'%s' (want 1 to %u sizes, as in 64K,1.5M)", text, most);
	return count < 0 ? nt_error_set(err, "size '%s' (want one such as 64K)", text) : count;
}

static int parse_sizes(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	int count = take_sizes(text, o->size_bytes, NT_BENCH_SIZES, err);

	o->sizes = count < 0 ? 0 : (unsigned)count;
	return count < 0 ? -1 : 0;
}

/* "allreduce:16777216,allgather:65536" */
static int parse_calls(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[48], *bytes;

	o->listed = true;
	o->sizes = 0;
	while (o->sizes < NT_BENCH_SIZES && next_part(&rest, part, sizeof(part))) {
		bytes = strchr(part, ':');
		if (bytes)
			*bytes++ = '\0';
		if (!bytes || parse_colls(o, part, err) < 0 ||
		    take_sizes(bytes, &o->size_bytes[o->sizes], 1, err) < 0)
			return nt_error_set(err, "'%s' (want COLLECTIVE:BYTES,...)", text);
		o->size_coll[o->sizes++] = o->coll[0];
	}
	return is_whole(text, rest)
		       ? 0
		       : nt_error_set(err, "'%s' (want 1 to %d calls)", text, NT_BENCH_SIZES);
}

static int parse_mode(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	int mode = NT_BENCH_MODES - 1;

	while (mode >= 0 && strcmp(text, mode_names[mode]) != 0)
		mode--;
	if (mode < 0)
		return nt_error_set(err, "'%s' (want seq, burst, grouped, graph or mixed)", text);
	o->mode = (enum nt_bench_mode)mode;
	return 0;
}

/* block:K or stride:K */
static int parse_split(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	o->split = strncmp(text, "block:", 6) == 0    ? NT_SPLIT_BLOCK
		   : strncmp(text, "stride:", 7) == 0 ? NT_SPLIT_STRIDE
						      : NT_SPLIT_NONE;
	if (o->split == NT_SPLIT_NONE ||
	    parse_number(strchr(text, ':') + 1, 1, NT_BENCH_RANKS, &o->split_ranks, NULL) < 0)
		return nt_error_set(err,
				    "'%s' (want block:K, K ranks in a row, or stride:K, every "
				    "K-th rank)",
				    text);
	return 0;
}

/* RANK@EVERY or all@EVERY */
static int parse_simulate(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *at = strchr(text, '@');
	int rank = -1;
	char head[16] = "";

	if (at && (size_t)(at - text) < sizeof(head))
		memcpy(head, text, (size_t)(at - text));
	o->simulate_all = strcmp(head, "all") == 0;
	if (!at || parse_number(at + 1, 1, 1000000, &o->simulate_every, NULL) < 0 ||
	    (!o->simulate_all && parse_number(head, 0, NT_BENCH_RANKS - 1, &rank, NULL) < 0))
		return nt_error_set(err, "'%s' (want RANK@N or all@N)", text);
	o->simulate_rank = rank;
	return 0;
}

/* N or light */
static int parse_check(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	o->check_every = NT_CHECK_LIGHT;
	if (strcmp(text, "light") != 0 && parse_number(text, 1, 1000000, &o->check_every, NULL) < 0)
		return nt_error_set(err, "'%s' (want 1 to 1000000, or light)", text);
	return 0;
}

static int parse_even(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	return take_sizes(text, &o->even_bytes, 1, err) < 0 ? -1 : 0;
}

#define AT(member) offsetof(struct nt_bench_options, member)

/* clang-format off */
static const struct rule table[] = {
	{ "coll", OWN, 0, 0, 0, parse_colls, "LIST", "some of allreduce, allgather, reducescatter, broadcast, reduce, alltoall and sendrecv (from each rank to the next)" },
	{ "sizes", OWN, 0, 0, 0, parse_sizes, "LIST", "64K,256K,1M,...: bytes of the larger buffer" },
	{ "calls", OWN, 0, 0, 0, parse_calls, "LIST", "allreduce:16M,allgather:64K,...: these instead of all --coll of all --sizes; with --split only on its communicators" },
	{ "iters", NUMBER, AT(iters), 1, 10000000, NULL, "N", "iterations over all collectives and sizes" },
	{ "warmup", NUMBER, AT(warmup), 0, 1000000, NULL, "N", "iterations that run first and are not recorded" },
	{ "mode", OWN, 0, 0, 0, parse_mode, "MODE", "seq (wait for each call), burst, grouped, graph, mixed" },
	{ "burst", NUMBER, AT(burst), 1, 10000, NULL, "N", "calls in a burst or a graph" },
	{ "even", OWN, 0, 0, 0, parse_even, "SIZE", "run larger sizes less often, by the square root of the ratio" },
	{ "seconds", NUMBER, AT(seconds), 1, 3600, NULL, "S", "iterate for S seconds, then the last part" },
	{ "last-seconds", NUMBER, AT(last_seconds), 1, 3600, NULL, "S", "length of the last part, in seconds" },
	{ "capture-at", NUMBER, AT(capture_at), 0, 10000000, NULL, "N", "capture graphs in iteration N" },
	{ "abort-every", NUMBER, AT(abort_every), 1, 10000000, NULL, "N", "abort and recreate the communicators every N iterations" },
	{ "check", OWN, 0, 0, 0, parse_check, "N", "verify every N-th result of each case; light: the first and last result in full, samples in between" },
	{ "no-gpu-times", FLAG, AT(no_gpu_times), 0, 0, NULL, NULL, "record no CUDA events" },
	{ "samples", TEXT, AT(samples_path), 0, 0, NULL, "FILE", "write all samples of all ranks as CSV" },
	{ "split", OWN, 0, 0, 0, parse_split, "HOW", "also time communicators of block:K or stride:K" },
	{ "split-share", FLAG, AT(split_share), 0, 0, NULL, NULL, "with --split: these communicators share the parent's resources" },
	{ "simulate-on", OWN, 0, 0, 0, parse_simulate, "RANK@N", "call ncclGroupSimulateEnd on RANK (or all) after N iterations" },
	{ "nccl", TEXT, AT(nccl_path), 0, 0, NULL, "FILE", "libnccl.so.2 to load (default: that of this user's jobs)" },
	{ "rendezvous", TEXT, AT(meet_dir), 0, 0, NULL, "DIR", "a directory that all ranks can see (default: TMPDIR)" },
	{ "channel", NUMBER, AT(channel), 3, 65535, NULL, "FD", "a descriptor of a calibration's driver, for the id of the communicator and for results" },
	{ "count-gpus", FLAG, AT(count_gpus), 0, 0, NULL, NULL, "only print the number of GPUs that this process sees" },
	{ "stall", NUMBER, AT(stall_s), 1, 3600, NULL, "S", "stop if an iteration takes longer than S seconds" },
	{ "procs-per-task", NUMBER, AT(procs), 1, 64, NULL, "N", "start N processes here, each a rank, as a program does whose task has several GPUs" },
	{ "rank", NUMBER, AT(rank), 0, NT_BENCH_RANKS - 1, NULL, "N", "rank (default: SLURM_PROCID)" },
	{ "ranks", NUMBER, AT(ranks), 1, NT_BENCH_RANKS, NULL, "N", "number of ranks (default: SLURM_NTASKS)" },
	{ "local-rank", NUMBER, AT(local_rank), 0, NT_BENCH_RANKS - 1, NULL, "N", "rank on this node (default: SLURM_LOCALID)" },
	{ "nodes", NUMBER, AT(nodes), 1, NT_BENCH_RANKS, NULL, "N", "number of nodes (default: SLURM_NNODES)" },
};
/* clang-format on */

#define OPTIONS ((int)(sizeof(table) / sizeof(table[0])))
#define FIRST_KEY 0x100 /* value of the first option; none has a short form */

static const char about[] =
	"Time NCCL's collectives call by call, one process per GPU. Start it with srun.";

static int from_environment(const char *name, int fallback)
{
	const char *text = getenv(name);
	int value = fallback;

	if (text)
		(void)parse_number(text, 0, NT_BENCH_RANKS, &value, NULL);
	return value;
}

static void defaults(struct nt_bench_options *o)
{
	const char *tmp = getenv("TMPDIR");

	*o = (struct nt_bench_options){
		.rank = from_environment("SLURM_PROCID", 0),
		.ranks = from_environment("SLURM_NTASKS", 1),
		.local_rank = from_environment("SLURM_LOCALID", 0),
		.nodes = from_environment("SLURM_NNODES", 1),
		.procs = 1,
		.meet_dir = tmp && *tmp ? tmp : "/tmp",
		.coll = { NT_ALLREDUCE },
		.colls = 1,
		.size_bytes = { 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20 },
		.sizes = 5,
		.iters = 100,
		.warmup = 5,
		.burst = 20,
		.simulate_rank = -1,
		.stall_s = 60,
	};
}

static int apply(struct nt_bench_options *o, const struct rule *opt, const char *text,
		 struct nt_error *err)
{
	char *at = (char *)o + opt->at;

	switch (opt->kind) {
	case FLAG: *(bool *)at = true; return 0;
	case TEXT: *(const char **)at = text; return 0;
	case OWN: return opt->parse(o, text, err);
	case NUMBER: break;
	}
	return parse_number(text, opt->low, opt->high, (int *)at, err);
}

struct option_parsing {
	struct nt_bench_options *o;
	struct nt_error *err;
	bool help;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct option_parsing *parsing = state->input;
	struct nt_error why = { "" };

	switch (key) {
	case ARGP_KEY_INIT: state->err_stream = NULL; return 0;
	case 'h':
		parsing->help = true;
		argp_state_help(state, stdout,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_ARG: nt_error_set(parsing->err, "unknown argument '%s'", arg); return EINVAL;
	default: break;
	}
	if (key < FIRST_KEY || key >= FIRST_KEY + OPTIONS)
		return ARGP_ERR_UNKNOWN;
	if (apply(parsing->o, &table[key - FIRST_KEY], arg, &why) == 0)
		return 0;
	nt_error_set(parsing->err, "--%s: %s", table[key - FIRST_KEY].name, why.text);
	return EINVAL;
}

/* Checks across options. */
static int check(struct nt_bench_options *o, struct nt_error *err)
{
	if (o->procs > 1 && (o->ranks > NT_BENCH_RANKS / o->procs || o->channel))
		return nt_error_set(err, "--procs-per-task: %d of %d tasks", o->procs, o->ranks);
	o->ranks *= o->procs;
	o->rank *= o->procs;
	o->local_rank *= o->procs;
	if (o->rank >= o->ranks)
		return nt_error_set(err, "rank %d of %d", o->rank, o->ranks);
	if (o->split != NT_SPLIT_NONE && o->ranks % o->split_ranks)
		return nt_error_set(err, "--split: %d ranks are not a multiple of %d", o->ranks,
				    o->split_ranks);
	if (o->simulate_rank >= o->ranks)
		return nt_error_set(err, "--simulate-on: no rank %d of %d", o->simulate_rank,
				    o->ranks);
	if (o->seconds && !o->last_seconds)
		return nt_error_set(err, "--seconds needs --last-seconds");
	if (o->channel && (o->abort_every || o->samples_path))
		return nt_error_set(err, "--channel: not with --abort-every or --samples");
	if (o->abort_every && (o->mode == NT_BENCH_GRAPH || o->mode == NT_BENCH_MIXED))
		return nt_error_set(err, "--abort-every: not in mode %s", mode_names[o->mode]);
	for (unsigned i = 0; i < o->sizes; i++) {
		if (o->size_bytes[i] % sizeof(float))
			return nt_error_set(err, "--sizes: %zu is not a multiple of %zu",
					    o->size_bytes[i], sizeof(float));
	}
	return 0;
}

int nt_bench_parse(struct nt_bench_options *o, int argc, char **argv, bool *help,
		   struct nt_error *err)
{
	struct argp_option options[OPTIONS + 2] = {
		[OPTIONS] = { "help", 'h', NULL, 0, "Print this help", -1 },
	};
	const struct argp argp = { .options = options, .parser = parse_option, .doc = about };
	struct option_parsing parsing = { .o = o, .err = err };
	int rc;

	for (int i = 0; i < OPTIONS; i++)
		options[i] = (struct argp_option){ .name = table[i].name,
						   .key = FIRST_KEY + i,
						   .arg = table[i].value,
						   .doc = table[i].help };
	defaults(o);
	nt_error_set(err, "try nccl-tune-bench --help");
	rc = argp_parse(&argp, (unsigned)argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &parsing);
	*help = parsing.help;
	if (rc != 0)
		return -1;
	return *help ? 0 : check(o, err);
}

const char *nt_bench_run_name(char *out, size_t out_bytes)
{
	const char *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");

	snprintf(out, out_bytes, "%s.%s", job ? job : "0", step ? step : "0");
	return out;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one table of options; every value is checked against its domain */
#include "bench/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { FLAG, NUMBER, TEXT, OWN };

typedef int (*parser)(struct nt_bench_options *o, const char *text, struct nt_error *err);

struct option {
	const char *name;
	enum kind kind;
	size_t at; /* of an int, a bool or a text */
	long low, high; /* NUMBER */
	parser parse; /* OWN */
	const char *value;
	const char *help;
};

static const char *const mode_names[NT_BENCH_MODES] = { "seq",	   "burst", "both",
							"grouped", "graph", "mixed" };

const char *nt_bench_mode_name(enum nt_bench_mode mode)
{
	return mode_names[mode];
}

static int parse_long(const char *text, long low, long high, long *out, struct nt_error *err)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	if (end == text || *end || errno || *out < low || *out > high)
		return nt_error_set(err, "'%s' (want %ld to %ld)", text, low, high);
	return 0;
}

/* The next part of a comma list into out; false at the end, or where a part has no room. */
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

/* Was all of a list read, and does it end with a part? */
static bool is_whole(const char *list, const char *rest)
{
	return rest > list && !*rest && rest[-1] != ',';
}

static int parse_colls(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->colls = 0;
	while (o->colls < NT_COLLS && next_part(&rest, part, sizeof(part))) {
		int coll = 0;

		while (coll < NT_COLLS && strcasecmp(nt_coll_name(coll), part) != 0)
			coll++;
		if (coll == NT_COLLS)
			return nt_error_set(err,
					    "'%s' (want allreduce, allgather, reducescatter, "
					    "broadcast, reduce)",
					    part);
		o->coll[o->colls++] = coll;
	}
	if (!is_whole(text, rest))
		return nt_error_set(err, "'%s' (want a list of 1 to %d collectives)", text,
				    NT_COLLS);
	return 0;
}

static int parse_size(const char *text, size_t *bytes, struct nt_error *err)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (end == text || errno || value < 1 || value > 1L << 30 || (*end && (!unit || end[1])))
		return nt_error_set(
			err, "size '%s' (want 4 to 64G: a number, or one with K, M or G)", text);
	*bytes = (size_t)value << (unit ? 10 * (unit - units + 1) : 0);
	if (*bytes < 4 || *bytes > (size_t)64 << 30)
		return nt_error_set(err, "size '%s' (want 4 to 64G)", text);
	return 0;
}

static int parse_sizes(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->sizes = 0;
	while (o->sizes < NT_BENCH_SIZES && next_part(&rest, part, sizeof(part))) {
		if (parse_size(part, &o->size_bytes[o->sizes], err) < 0)
			return -1;
		o->sizes++;
	}
	if (!is_whole(text, rest))
		return nt_error_set(err, "'%s' (want a list of 1 to %d sizes)", text,
				    NT_BENCH_SIZES);
	return 0;
}

static int parse_mode(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	for (int m = 0; m < NT_BENCH_MODES; m++) {
		if (strcmp(mode_names[m], text) == 0) {
			o->mode = (enum nt_bench_mode)m;
			return 0;
		}
	}
	return nt_error_set(err, "'%s' (want seq, burst, both, grouped, graph or mixed)", text);
}

static int parse_device(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	static const char *const names[] = { "auto", "global", "local" };

	for (int d = 0; d < 3; d++) {
		if (strcmp(names[d], text) == 0) {
			o->device = (enum nt_bench_device)d;
			return 0;
		}
	}
	return nt_error_set(err, "'%s' (want auto, global or local)", text);
}

/* block:K or stride:K */
static int parse_split(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	struct nt_error why;
	long ranks;

	o->split = strncmp(text, "block:", 6) == 0    ? NT_SPLIT_BLOCK
		   : strncmp(text, "stride:", 7) == 0 ? NT_SPLIT_STRIDE
						      : NT_SPLIT_NONE;
	if (o->split == NT_SPLIT_NONE ||
	    parse_long(strchr(text, ':') + 1, 1, NT_BENCH_RANKS, &ranks, &why) < 0)
		return nt_error_set(err,
				    "'%s' (want block:K, K ranks in a row, or stride:K, every "
				    "K-th rank)",
				    text);
	o->split_ranks = (int)ranks;
	return 0;
}

/* RANK@EVERY or all@EVERY */
static int parse_simulate(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *at = strchr(text, '@');
	long rank = 0, every = 0;
	char head[16] = "";

	if (at && (size_t)(at - text) < sizeof(head))
		memcpy(head, text, (size_t)(at - text));
	o->simulate_all = strcmp(head, "all") == 0;
	if (!at || parse_long(at + 1, 1, 1000000, &every, NULL) < 0 ||
	    (!o->simulate_all && parse_long(head, 0, NT_BENCH_RANKS - 1, &rank, NULL) < 0))
		return nt_error_set(err, "'%s' (want RANK@ROUNDS or all@ROUNDS)", text);
	o->simulate_rank = o->simulate_all ? -1 : (int)rank;
	o->simulate_every = (int)every;
	return 0;
}

static int parse_even(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	return parse_size(text, &o->even_bytes, err);
}

/* ALGO/PROTO as NCCL_ALGO and NCCL_PROTO have them. */
static int parse_arms(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->arms = 0;
	while (o->arms < NT_BENCH_ARMS && next_part(&rest, part, sizeof(part))) {
		struct nt_bench_arm *arm = &o->arm[o->arms++];
		const char *slash = strchr(part, '/');
		const size_t algo = slash ? (size_t)(slash - part) : 0;

		*arm = (struct nt_bench_arm){ .algo = "" };
		if (algo == 0 || algo >= sizeof(arm->algo) || !slash[1] ||
		    strlen(slash + 1) >= sizeof(arm->proto))
			return nt_error_set(err, "'%s' (want ALGO/PROTO)", part);
		memcpy(arm->algo, part, algo);
		memcpy(arm->proto, slash + 1, strlen(slash + 1));
	}
	if (!is_whole(text, rest))
		return nt_error_set(err, "'%s' (want a list of 1 to %d arms)", text, NT_BENCH_ARMS);
	return 0;
}

/* gemm:N; tiles of the product are 128 rows and columns */
static int parse_load(struct nt_bench_options *o, const char *text, struct nt_error *err)
{
	long n = 0;

	if (strncmp(text, "gemm:", 5) != 0 || parse_long(text + 5, 128, 16384, &n, NULL) < 0 ||
	    n % 128)
		return nt_error_set(err, "'%s' (want gemm:N, N a multiple of 128 up to 16384)",
				    text);
	o->load_n = (int)n;
	return 0;
}

#define AT(member) offsetof(struct nt_bench_options, member)

/* clang-format off */
static const struct option table[] = {
	{ "coll", OWN, 0, 0, 0, parse_colls, "LIST", "allreduce,allgather,reducescatter,broadcast,reduce" },
	{ "sizes", OWN, 0, 0, 0, parse_sizes, "LIST", "64K,256K,1M,...: bytes of the larger buffer" },
	{ "iters", NUMBER, AT(iters), 1, 10000000, NULL, "N", "rounds over all collectives and sizes" },
	{ "warmup", NUMBER, AT(warmup), 0, 1000000, NULL, "N", "rounds before, not recorded" },
	{ "mode", OWN, 0, 0, 0, parse_mode, "MODE", "seq (each call waited for), burst, both, grouped, graph, mixed" },
	{ "burst", NUMBER, AT(burst), 1, 10000, NULL, "N", "calls in a burst or a graph" },
	{ "even", OWN, 0, 0, 0, parse_even, "SIZE", "larger sizes less often, by the root of the ratio" },
	{ "align", FLAG, AT(align), 0, 0, NULL, NULL, "ranks start samples together; all on one machine" },
	{ "seconds", NUMBER, AT(seconds), 1, 3600, NULL, "S", "rounds for so long, then the last part" },
	{ "last-seconds", NUMBER, AT(last_seconds), 1, 3600, NULL, "S", "how long the last part takes" },
	{ "capture-at", NUMBER, AT(capture_at), 0, 10000000, NULL, "N", "capture graphs in round N" },
	{ "abort-every", NUMBER, AT(abort_every), 1, 10000000, NULL, "N", "ncclCommAbort, and new communicators" },
	{ "arms", OWN, 0, 0, 0, parse_arms, "LIST", "also in communicators held to ALGO/PROTO" },
	{ "plan", TEXT, AT(plan_path), 0, 0, NULL, "FILE", "there only these: COLLECTIVE BYTES ARM a line" },
	{ "load", OWN, 0, 0, 0, parse_load, "gemm:N", "matrix products on another stream all the while" },
	{ "phase-report", NUMBER, AT(part), 1, 10000000, NULL, "N", "rounds of the first and last part" },
	{ "check", NUMBER, AT(check_every), 1, 1000000, NULL, "N", "verify every N-th result of each" },
	{ "no-gpu-times", FLAG, AT(no_gpu_times), 0, 0, NULL, NULL, "record no CUDA events" },
	{ "samples", TEXT, AT(samples_path), 0, 0, NULL, "FILE", "all samples of all ranks, as csv" },
	{ "split", OWN, 0, 0, 0, parse_split, "HOW", "also in communicators of block:K or stride:K" },
	{ "split-share", FLAG, AT(split_share), 0, 0, NULL, NULL, "these share the parent's resources" },
	{ "simulate-on", OWN, 0, 0, 0, parse_simulate, "RANK@N", "ncclGroupSimulateEnd there, or all@N" },
	{ "device", OWN, 0, 0, 0, parse_device, "HOW", "which GPU: by global or local rank, or auto" },
	{ "gpu-base", NUMBER, AT(gpu_base), 0, 64, NULL, "N", "number of the first GPU" },
	{ "rendezvous", TEXT, AT(meet_dir), 0, 0, NULL, "DIR", "a directory that all ranks see (TMPDIR)" },
	{ "stall", NUMBER, AT(stall_s), 1, 3600, NULL, "S", "end where a round takes longer" },
	{ "rank", NUMBER, AT(rank), 0, NT_BENCH_RANKS - 1, NULL, "N", "SLURM_PROCID" },
	{ "ranks", NUMBER, AT(ranks), 1, NT_BENCH_RANKS, NULL, "N", "SLURM_NTASKS" },
	{ "local-rank", NUMBER, AT(local_rank), 0, NT_BENCH_RANKS - 1, NULL, "N", "SLURM_LOCALID" },
	{ "nodes", NUMBER, AT(nodes), 1, NT_BENCH_RANKS, NULL, "N", "SLURM_NNODES" },
};
/* clang-format on */

void nt_bench_usage(void)
{
	printf("usage: nccl-tune-bench [OPTION...]\n"
	       "Collectives of NCCL, one process a GPU, timed call by call. Start it with srun.\n\n");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		printf("  --%s%s%-*s  %s\n", table[i].name, table[i].value ? "=" : " ",
		       (int)(24 - strlen(table[i].name)), table[i].value ? table[i].value : "",
		       table[i].help);
}

static int from_environment(const char *name, int fallback)
{
	const char *text = getenv(name);
	long value;

	if (!text || parse_long(text, 0, NT_BENCH_RANKS, &value, NULL) < 0)
		return fallback;
	return (int)value;
}

static void defaults(struct nt_bench_options *o)
{
	const char *tmp = getenv("TMPDIR");

	*o = (struct nt_bench_options){
		.rank = from_environment("SLURM_PROCID", 0),
		.ranks = from_environment("SLURM_NTASKS", 1),
		.local_rank = from_environment("SLURM_LOCALID", 0),
		.nodes = from_environment("SLURM_NNODES", 1),
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

static int apply(struct nt_bench_options *o, const struct option *opt, const char *text,
		 struct nt_error *err)
{
	char *at = (char *)o + opt->at;
	long value;

	switch (opt->kind) {
	case FLAG: *(bool *)at = true; return 0;
	case TEXT: *(const char **)at = text; return 0;
	case OWN: return opt->parse(o, text, err);
	case NUMBER: break;
	}
	if (parse_long(text, opt->low, opt->high, &value, err) < 0)
		return -1;
	*(int *)at = (int)value;
	return 0;
}

static const struct option *find(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].name) == length && strncmp(table[i].name, text, length) == 0)
			return &table[i];
	}
	return NULL;
}

/* One option of argv from *i on; moves *i past a value in a word of its own. */
static int take(struct nt_bench_options *o, int argc, char **argv, int *i, struct nt_error *err)
{
	const char *word = argv[*i];
	const size_t length = strcspn(word, "=");
	const struct option *opt = strncmp(word, "--", 2) == 0 ? find(word + 2, length - 2) : NULL;
	const char *text = word[length] ? word + length + 1 : NULL;
	struct nt_error why = { "" };

	if (!opt)
		return nt_error_set(err, "unknown option '%s' (see --help)", word);
	if (opt->kind == FLAG && text)
		return nt_error_set(err, "--%s takes no value", opt->name);
	if (opt->kind != FLAG && !text) {
		*i += 1;
		text = *i < argc ? argv[*i] : NULL;
		if (!text)
			return nt_error_set(err, "--%s: a value is missing", opt->name);
	}
	if (apply(o, opt, text, &why) < 0)
		return nt_error_set(err, "--%s: %s", opt->name, why.text);
	return 0;
}

/* What no single option can know. */
static int check(struct nt_bench_options *o, struct nt_error *err)
{
	if (o->rank >= o->ranks)
		return nt_error_set(err, "rank %d of %d", o->rank, o->ranks);
	if (o->split != NT_SPLIT_NONE && o->ranks % o->split_ranks)
		return nt_error_set(err, "--split: %d ranks do not divide by %d", o->ranks,
				    o->split_ranks);
	if (o->simulate_rank >= o->ranks)
		return nt_error_set(err, "--simulate-on: no rank %d of %d", o->simulate_rank,
				    o->ranks);
	if (o->seconds && !o->last_seconds)
		return nt_error_set(err, "--seconds needs --last-seconds");
	if (o->abort_every && !o->align)
		return nt_error_set(err, "--abort-every needs --align");
	if (o->abort_every && (o->mode == NT_BENCH_GRAPH || o->mode == NT_BENCH_MIXED))
		return nt_error_set(err, "--abort-every: not in mode %s", mode_names[o->mode]);
	if (o->part == 0)
		o->part = o->iters < 4 ? 1 : o->iters / 4;
	if (o->part > o->iters)
		return nt_error_set(err, "--phase-report: %d rounds of %d", o->part, o->iters);
	for (unsigned i = 0; i < o->sizes; i++) {
		if (o->size_bytes[i] % sizeof(float))
			return nt_error_set(err, "--sizes: %zu is no multiple of %zu",
					    o->size_bytes[i], sizeof(float));
	}
	return 0;
}

int nt_bench_parse(struct nt_bench_options *o, int argc, char **argv, bool *help,
		   struct nt_error *err)
{
	*help = false;
	defaults(o);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			*help = true;
			return 0;
		}
		if (take(o, argc, argv, &i, err) < 0)
			return -1;
	}
	return check(o, err);
}

const char *nt_bench_run_name(char *out, size_t out_bytes)
{
	const char *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");

	snprintf(out, out_bytes, "%s.%s", job ? job : "0", step ? step : "0");
	return out;
}

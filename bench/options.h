/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options of nccl-tune-bench
 *
 * Rank and number of ranks come from Slurm's variables. Options override them, so that a shell can
 * start the processes, too.
 *
 * Threads:  pure except for getenv.
 * Memory:   texts point into argv and the environment.
 * Errors:   -1 and *err: the option, the value and what is accepted.
 * Units:    in the names.
 */
#ifndef NT_BENCH_OPTIONS_H
#define NT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"
#include "lib/error.h"

#define NT_BENCH_SIZES 32 /* in one run */
#define NT_BENCH_RANKS 4096
#define NT_BENCH_WRONG 3 /* exit status for a wrong result, on all ranks */

enum nt_bench_mode {
	NT_BENCH_SEQ,
	NT_BENCH_BURST,
	NT_BENCH_GROUPED,
	NT_BENCH_GRAPH,
	NT_BENCH_MIXED,
	NT_BENCH_MODES
};
/* --check=light: the whole first and last results, and a piece of every eighth result between. */
#define NT_CHECK_LIGHT (-1)

enum nt_bench_split { NT_SPLIT_NONE, NT_SPLIT_BLOCK, NT_SPLIT_STRIDE };

struct nt_bench_options {
	/* This process. */
	int rank, ranks, local_rank, nodes;
	int procs; /* to be started here, of which rank and local_rank are the first */
	const char *meet_dir; /* shared by all ranks */
	int channel; /* a descriptor instead (lane.c); 0: none */
	bool count_gpus; /* print their number, and nothing else */
	const char *nccl_path; /* NULL: search for it (search.h) */
	/* What runs. */
	int coll[NT_KINDS];
	unsigned colls;
	size_t size_bytes[NT_BENCH_SIZES];
	unsigned sizes;
	bool listed; /* of each size only this collective, and with --split only on its
		      * communicators */
	int size_coll[NT_BENCH_SIZES];
	enum nt_bench_mode mode;
	int iters, warmup; /* iterations of all collectives and sizes */
	int burst; /* calls in each sample, except in mode seq */
	enum nt_bench_split split;
	int split_ranks;
	bool split_share; /* the new communicators use the parent's resources */
	size_t even_bytes; /* larger sizes are called less often; 0: all equally often */
	int seconds, last_seconds; /* instead of numbers of iterations; 0: not given */
	int capture_at; /* iteration */
	int abort_every; /* iterations; 0: never */
	int simulate_rank, simulate_every; /* -1: none */
	bool simulate_all;
	/* Checks and output. */
	int check_every; /* samples of a call; 0: never; or NT_CHECK_LIGHT */
	bool no_gpu_times;
	const char *samples_path;
	int stall_s;
};

/* 0 with *help set after the help was printed. */
int nt_bench_parse(struct nt_bench_options *o, int argc, char **argv, bool *help,
		   struct nt_error *err);
const char *nt_bench_mode_name(enum nt_bench_mode mode);

/* Job and step, or "0.0": tells runs apart that share a directory. */
const char *nt_bench_run_name(char *out, size_t out_bytes);

#endif

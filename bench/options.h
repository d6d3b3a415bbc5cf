/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what nccl-tune-bench is asked to do
 *
 * The place of a process comes from Slurm's variables; options win over them, so that a shell can
 * start the processes as well.
 *
 * Threads:  pure but for getenv.
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
#include "contract/error.h"

#define NT_BENCH_SIZES 32 /* in one run */
#define NT_BENCH_RANKS 4096

#define NT_BENCH_ARMS 8
#define NT_BENCH_ARM_NAME 24 /* ALGO/PROTO and the end */

enum nt_bench_mode {
	NT_BENCH_SEQ,
	NT_BENCH_BURST,
	NT_BENCH_BOTH,
	NT_BENCH_GROUPED,
	NT_BENCH_GRAPH,
	NT_BENCH_MIXED,
	NT_BENCH_MODES
};
enum nt_bench_device { NT_DEVICE_AUTO, NT_DEVICE_GLOBAL, NT_DEVICE_LOCAL };
enum nt_bench_split { NT_SPLIT_NONE, NT_SPLIT_BLOCK, NT_SPLIT_STRIDE };

/* What NCCL_ALGO and NCCL_PROTO are set to. */
struct nt_bench_arm {
	char algo[NT_BENCH_ARM_NAME / 2], proto[NT_BENCH_ARM_NAME / 2];
};

struct nt_bench_options {
	/* Where this process is. */
	int rank, ranks, local_rank, nodes;
	enum nt_bench_device device;
	int gpu_base;
	const char *meet_dir; /* shared by all ranks */
	/* What is run. */
	int coll[NT_COLLS];
	unsigned colls;
	size_t size_bytes[NT_BENCH_SIZES];
	unsigned sizes;
	enum nt_bench_mode mode;
	int iters, warmup; /* rounds over all collectives and sizes */
	int burst; /* calls to a sample, but in mode seq */
	enum nt_bench_split split;
	int split_ranks;
	bool split_share; /* the child uses the parent's resources */
	struct nt_bench_arm
		arm[NT_BENCH_ARMS]; /* communicators of all ranks that are held to one */
	unsigned arms;
	const char *plan_path; /* what is called in those; NULL: all that NCCL has */
	size_t even_bytes; /* larger sizes are called less often; 0: all the same */
	bool align; /* ranks start each sample together */
	int seconds, last_seconds; /* in place of numbers of rounds; 0: none */
	int capture_at; /* round */
	int abort_every; /* rounds; 0: never */
	int load_n; /* rows of the matrices of a product beside it; 0: none */
	int simulate_rank, simulate_every; /* -1: none; a rank, or all with simulate_all */
	bool simulate_all;
	/* What is looked at. */
	int part; /* samples of the first and of the last part; 0: a quarter */
	int check_every; /* samples of each call; 0: never */
	bool no_gpu_times;
	const char *samples_path;
	int stall_s;
};

/* 0 with *help set where help was asked for. */
int nt_bench_parse(struct nt_bench_options *o, int argc, char **argv, bool *help,
		   struct nt_error *err);
void nt_bench_usage(void);
const char *nt_bench_mode_name(enum nt_bench_mode mode);

/* Job and step, or "0.0": tells apart runs that share a directory. */
const char *nt_bench_run_name(char *out, size_t out_bytes);

#endif

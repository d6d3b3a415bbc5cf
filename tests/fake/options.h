/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - options of the simulated NCCL
 *
 * Threads:  read only after parsing.
 * Memory:   the caller's storage; texts point into argv.
 * Errors:   -1 and *err: unknown option, value out of its domain.
 * Units:    in the names; sizes in bytes of one call's data as nccl-tests count them.
 */
#ifndef NT_FAKE_OPTIONS_H
#define NT_FAKE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/coll.h"
#include "lib/error.h"
#include "tests/fake/limits.h"
#include "tests/fake/split.h"

/* RANK@CALL or RANK@EVERY; rank -1: nobody. */
struct nt_when {
	int rank;
	uint64_t call;
};

/* The event mask that RAS sets, and when: rank r at its call with kernel times number call + r;
 * 0: never. */
struct nt_ras {
	int mask;
	uint64_t call;
};

/* The delay of the collective after one with this arm. */
struct nt_drag {
	int arm;
	double us;
};

/* Calls with an algSelection. */
struct nt_selected {
	uint64_t every; /* 0: none */
	uint32_t pairs;
};

/* An arm whose true time differs from NCCL's prediction: factor on the time, from op on. */
struct nt_arm_truth {
	int coll; /* -1: all */
	int arm;
	double factor;
	uint64_t from_op;
};

/* A factor on times, from a round on, if that set of launch variables is in force. */
struct nt_launch_effect {
	double factor;
	uint64_t from_round;
	const char *set; /* NULL: any */
};

/* Communicators last that many rounds, that often; the last ones until the end. */
struct nt_renewal {
	uint64_t rounds; /* 0: all until the end */
	uint64_t times;
};

/* Calls that send and receive on each communicator. */
struct nt_sends {
	int kind; /* enum nt_p2p_kind */
	uint64_t bytes; /* that a rank sends in each */
	unsigned calls;
};

struct nt_expected {
	int coll;
	uint64_t bytes;
	int arm;
};

enum nt_noise { NT_NOISE_NONE, NT_NOISE_GAUSSIAN, NT_NOISE_LOGNORMAL, NT_NOISE_BIMODAL };
enum nt_late { NT_LATE_NO, NT_LATE_TUNER, NT_LATE_PROFILER };

struct nt_options {
	const char *nccl; /* release to simulate */
	unsigned fork; /* tasks to fork; 0: the task is Slurm's, or the only one */
	unsigned processes; /* processes of a task; with srun, started by a launcher */
	unsigned threads; /* ranks in a process */
	bool one_thread; /* for all of them, in one group */
	uint64_t idle_tasks; /* bit of each task without ranks */
	unsigned idle_s; /* how long they run */
	unsigned poor_node; /* number, from 1, of the node with fewer links in its dump; 0: none */
	unsigned nodes; /* without Slurm: number of emulated nodes, with ranks spread evenly */
	const char *wire_dir; /* directory of the ranks' shared file; NULL: TMPDIR */
	/* NAME=VALUE with %r rank, %n node, %l local rank, %t task */
	const char *env[NT_MAX_ENV];
	unsigned envs;

	int coll[NT_COLLS];
	unsigned colls;
	uint64_t size_bytes[NT_MAX_SIZES];
	unsigned repeat[NT_MAX_SIZES]; /* calls of that size, one after the other */
	unsigned sizes;
	struct nt_sends p2p[NT_MAX_SENDS]; /* after the collectives of each round */
	unsigned p2ps;
	uint64_t iters; /* rounds over all collectives and sizes */
	uint64_t more; /* most rounds after them, while a rank still wants events */
	bool settled; /* ... or its node has work pending */
	bool shuffle;
	uint64_t seed;
	uint64_t sync_every; /* calls between stream synchronisations; 0: never */
	unsigned group; /* tasks in a group */
	struct nt_split split[NT_MAX_SPLITS];
	unsigned splits;
	bool interleave; /* each rank uses its communicators in a different order */
	struct nt_renewal churn;
	bool same_id; /* new communicators have the ids of earlier ones */
	const char *datatype;
	uint64_t call_gap_us;
	double compute_us; /* on the GPU, before the first call of each round */
	struct nt_launch_effect compute_factor[NT_MAX_EFFECTS];
	unsigned compute_factors;
	unsigned queue;
	double realtime; /* GPU seconds slept per simulated second */
	bool nonblocking;

	const char *trace_path;
	char trace_topology[16]; /* empty: from the communicator */
	char trace_mode[16];
	const char *picks_path;
	const char *launch_else; /* the set whose rows are used if the trace has none for the
				  * current one */
	struct nt_launch_effect slow[NT_MAX_EFFECTS];
	unsigned slows;
	enum nt_noise noise;
	double noise_width; /* relative standard deviation */
	double fast_share; /* bimodal */
	double slow_ratio;
	struct nt_drag drag; /* us 0: none */
	struct nt_arm_truth truth[NT_MAX_TRUTHS];
	unsigned truths;
	double cost_skew; /* relative difference of cost tables between ranks */
	double lateness_us;
	struct nt_when slow_rank; /* so many microseconds late for each call */
	uint64_t slow_calls; /* then the next rank is, and so on; 0: it stays */
	double connect_us;
	unsigned channels; /* of a communicator; 0: 2 across nodes, 24 within one */
	bool nvls;
	bool ll128; /* LL128 across nodes too */
	bool no_nvlink; /* nor LL128 within one */

	struct nt_when simulate;
	bool probe;
	struct nt_when probe_on;
	uint64_t probe_from; /* from this call of a communicator on; 0: never */
	bool tls; /* sockets are encrypted (2.32 on) */
	bool one_question; /* for all kinds of kernels, also without the variable (2.31 on) */
	struct nt_selected selected;
	uint64_t symmetric_every; /* a call by a symmetric kernel; 0: never */
	struct nt_ras ras;
	unsigned profiler_threads; /* of each communicator */
	uint64_t fail_every; /* a call on all ranks that fails after its decision; 0: never */
	/* a call is a group of Broadcasts with different roots; 0: never */
	uint64_t gather_every;
	uint64_t capture_every; /* 0: never */
	unsigned replays;
	struct nt_when kill;
	struct nt_when exit;
	struct nt_when stuck;
	double drop_kernelch;
	bool proxy_pool;
	enum nt_late late_kernelch;
	bool abort;
	struct nt_renewal abort_every; /* with ncclCommAbort */
	bool no_destroy;

	unsigned peer_timeout_s;
	bool time_decisions;
	struct nt_expected expected[NT_MAX_SIZES];
	unsigned expectations;
};

int nt_options_parse(struct nt_options *o, int argc, char **argv, struct nt_error *err);
void nt_options_help(void);

/* "64K", "1.5M", "96". */
int nt_parse_size(const char *text, uint64_t *bytes, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the predicted and the true time of a collective in the simulated NCCL
 *
 * Threads:  read only after setup; all functions are pure except for the caller's cursors.
 * Errors:   only during setup.
 * Units:    costs in microseconds as in NCCL's table, durations in nanoseconds of GPU time.
 */
#ifndef NT_FAKE_MODEL_H
#define NT_FAKE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "tests/fake/options.h"
#include "lab/replay/trace.h"

/* A communicator's shape and its legal choices. */
struct nt_shape {
	int ranks;
	int nodes;
	int per_node; /* the most ranks on one node */
	int algos; /* rows of the cost table: 6 up to 2.22, else 7 */
	unsigned channels;
	bool fp8; /* the datatype is an 8-bit float */
	bool wide_pat; /* PAT with several ranks a node */
	uint32_t barred; /* a bit for each pair that NCCL_ALGO and NCCL_PROTO exclude */
};

struct nt_model {
	const struct nt_options *options;
	struct nt_trace trace;
	struct nt_trace picks;
	/* After reading the launch variables: */
	char launch[NT_MAX_LAUNCH_TEXT]; /* the set in force; empty: no launch variables are used */
	bool slow[NT_MAX_EFFECTS]; /* of the options' list */
	double compute_factor;
};

/* A collective: what it is, its arm, NCCL's pick, and its number. */
struct nt_run {
	int coll;
	uint64_t bytes;
	int arm; /* the pair */
	int auto_arm;
	int cap; /* of channels; 0: NCCL's own */
	uint64_t op; /* of the communicator, counted from 0 */
	uint64_t round; /* of the program, counted from 0 */
	uint64_t key; /* for noise: the same on all ranks */
};

int nt_model_init(struct nt_model *m, const struct nt_options *o, struct nt_error *err);
void nt_model_fini(struct nt_model *m);

/* Call it once, after the environment is complete: of a trace with launch variables, only the rows
 * of the set in force are kept. */
int nt_model_launch(struct nt_model *m, struct nt_error *err);

/* The program's computing before the first call of a round. */
uint64_t nt_model_compute_ns(const struct nt_model *m, uint64_t round);

/* Fills algos * NT_PROTOS entries; -1 (with fp8 -1024) if an arm is not legal. */
void nt_model_costs(const struct nt_model *m, const struct nt_shape *p, int coll, uint64_t bytes,
		    int pipe_ops, float *table);

/* NCCL's rule: the first strict minimum of the entries that are not negative. -1: there is none. */
int nt_model_pick(const float *table, int algos);

/* Without noise, only from the model. */
double nt_model_truth_us(const struct nt_model *m, const struct nt_shape *p,
			 const struct nt_run *r);

/* From the trace if it has the arm, else from the model. cursor: one counter for each row of the
 * trace, shared by all ranks; one rank at a time may call this. */
uint64_t nt_model_duration_ns(const struct nt_model *m, const struct nt_shape *p,
			      const struct nt_run *r, uint32_t *cursor);

/* NCCL's largest number of channels for a collective, before it is reduced by size. */
int nt_model_channels(const struct nt_shape *p, uint64_t bytes, int arm);

/* NCCL's weight of a task for each byte (of the larger buffer over all ranks). */
int nt_model_traffic(int coll);

#endif

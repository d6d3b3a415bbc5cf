/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - what the engine makes of measured cells
 *
 * Threads:  the main thread.
 * Memory:   rows own only their array; nt_replay_rows_fini() frees it.
 * Errors:   -1 and *err.
 * Units:    in the names; rates and p as fractions of 1; NAN: does not apply.
 */
#ifndef NT_REPLAY_REPLAY_H
#define NT_REPLAY_REPLAY_H

#include <stdio.h>
#include "contract/policy.h"
#include "lab/replay/drive.h"
#include "lab/replay/source.h"
#include "lab/replay/trace.h"

enum nt_replay_kind {
	NT_REPLAY_CELLS, /* which arm is chosen */
	NT_REPLAY_AA, /* how often one of identical arms is */
	NT_REPLAY_POWER, /* how often a faster one is */
	NT_REPLAY_RECORD, /* the decisions of a job */
};

struct nt_replay {
	enum nt_replay_kind kind;
	struct nt_policy policy;
	unsigned trials;
	double gain; /* of the faster arm */
	uint64_t seed;
	const struct nt_trace *picks; /* what NCCL picks and masks; NULL: unknown */
	struct nt_drive drive;
};

#define NT_REPLAY_EARLY 40

/* One cell. */
struct nt_replay_row {
	char launch[NT_TRACE_LAUNCH], collective[16], topology[32], mode[32];
	uint64_t bytes;
	unsigned arms;
	double auto_us, best_us, chosen_us; /* medians of all samples of the trace */
	unsigned auto_arm; /* NCCL's own pick; NT_ARM_BASELINE: unknown */
	unsigned best_arm, chosen_arm;
	enum nt_verdict verdict;
	double p;
	unsigned samples; /* measured */
	double calls; /* the mean over trials */
	double extra_us; /* CELLS: time of exploring beyond AUTO's median */
	unsigned trials;
	double rate; /* share of trials: found, or falsely overridden */
	double early_rate; /* POWER: found within NT_REPLAY_EARLY calls of each arm */
	double wrong_rate; /* POWER: another arm than the faster was chosen */
	bool recorded; /* the row is from a job's record, which has the members below */
	unsigned recorded_arm;
	bool same; /* the decision is the recorded one */
};

struct nt_replay_rows {
	struct nt_replay_row *row;
	size_t count;
};

/* Kind, policy, trials, gain and seed are set before. */
void nt_replay_init(struct nt_replay *replay);
void nt_replay_rows_fini(struct nt_replay_rows *rows);

/* Add all cells of a trace to rows. Those without an AUTO row are left out and counted. */
int nt_replay_trace(struct nt_replay *replay, const struct nt_trace *trace,
		    struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err);

/* Repeat a job's decisions from the record of the process that made them, with the job's policy.
 * *left_out: decisions whose times are not in this record. */
int nt_replay_record(struct nt_replay *replay, const char *text, size_t text_bytes,
		     struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err);

int nt_replay_print(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows,
		    struct nt_error *err);

/* Print the cells by set of launch variables, if they were measured with several. */
void nt_replay_print_launch(FILE *out, const struct nt_replay_rows *rows);
int nt_replay_json(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows);

#endif

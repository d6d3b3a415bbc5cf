/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - what a rule makes of measured cells: what the subcommands replay and explain share
 *
 * Threads:  the main thread.
 * Memory:   rows own nothing but their array, until nt_replay_rows_fini().
 * Errors:   -1 and *err.
 * Units:    in the names; rates and p as fractions of 1; NAN stands for what does not apply.
 */
#ifndef NT_REPLAY_REPLAY_H
#define NT_REPLAY_REPLAY_H

#include <stdio.h>
#include "contract/policy.h"
#include "replay/drive.h"
#include "replay/source.h"
#include "replay/trace.h"

enum nt_replay_kind {
	NT_REPLAY_CELLS, /* what is chosen */
	NT_REPLAY_AA, /* how often one of identical arms is */
	NT_REPLAY_POWER, /* how often a faster one is */
	NT_REPLAY_RECORD, /* what was chosen in a job */
};

struct nt_replay {
	enum nt_replay_kind kind;
	struct nt_policy policy; /* the rule among the settings */
	bool ucb1; /* instead of the policy's rule */
	unsigned trials;
	double gain; /* of the faster arm */
	uint64_t seed;
	const struct nt_trace *picks; /* what NCCL picks and masks; NULL: not known */
	struct nt_drive drive;
};

#define NT_REPLAY_EARLY 40

/* One cell. */
struct nt_replay_row {
	char launch[NT_TRACE_LAUNCH], collective[16], topology[32], mode[32];
	uint64_t bytes;
	unsigned arms;
	double auto_us, best_us, chosen_us; /* medians of all samples of the trace */
	unsigned auto_arm; /* NCCL's own pick; NT_ARM_AUTO: not known */
	unsigned best_arm, chosen_arm;
	enum nt_verdict verdict;
	double p;
	unsigned samples; /* measured */
	double calls; /* a mean, where there are trials */
	double extra_us; /* CELLS: of the calls spent, beyond AUTO's median */
	unsigned trials;
	double rate; /* found, or falsely overridden */
	double early_rate; /* POWER: found within NT_REPLAY_EARLY calls of each arm */
	double wrong_rate; /* POWER: another arm than the faster was chosen */
	bool recorded; /* the row is of a job's record, which says what follows */
	unsigned recorded_arm;
	bool same; /* the decision came out as it is recorded */
};

struct nt_replay_rows {
	struct nt_replay_row *row;
	size_t count;
};

/* "nccl-tune", "race", "paper-online", "paper-offline", "ucb1". -1: no such rule. */
int nt_replay_rule(struct nt_replay *replay, const char *name);
const char *nt_replay_rule_name(const struct nt_replay *replay);

/* Kind, policy, trials, gain and seed are set before. */
void nt_replay_init(struct nt_replay *replay);
void nt_replay_rows_fini(struct nt_replay_rows *rows);

/* All cells of a trace are added to rows. Those without an AUTO row are left out and counted. */
int nt_replay_trace(struct nt_replay *replay, const struct nt_trace *trace,
		    struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err);

/* The decisions of a job, from the record of the process that made them; the job's policy
 * counts. *left_out: decisions whose times are not in this record. */
int nt_replay_record(struct nt_replay *replay, const char *text, size_t text_bytes,
		     struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err);

int nt_replay_print(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows,
		    struct nt_error *err);

/* Where cells were measured under several sets of launch variables: what each set makes of them. */
void nt_replay_print_launch(FILE *out, const struct nt_replay_rows *rows);
int nt_replay_json(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows);

#endif

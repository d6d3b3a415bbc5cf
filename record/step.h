/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the records of a step and of a job: their fields, and how a step's is written
 *
 * Step record, the value of "<step>" (a number, of a component of a heterogeneous step
 * number+component, or "batch") in the job's, at most
 * NT_STEP_RECORD_MAX bytes, printable ASCII without backslash, braces only as JSON's own:
 *
 *	{ NT_STEP_FIELDS, "8r2n":{"AllReduce 256K":{ NT_ROW_FIELDS }, ...}, "8r2n NAME":{...},
 *	  "names":["8r2n NAME", ...], "why":["...", ...], "rest":["2 <reason>", ...], "more":3 }
 *
 * One member for each family of communicators, which has its shape (ranks, nodes) and, where there
 * are several of a shape, its name; "names" has the others'. In it is one row for each collective
 * and size. "why" names every communicator that was not tuned, once each. "rest"
 * counts rows that are not there, by reason; "more" counts rows and reasons that had no room.
 *
 * The version is that of what its readers must understand: members that they do not know they skip,
 * and so versions of this release and all later ones of version 1 read each other.
 *
 * Job record, in AdminComment, at most NT_JOB_RECORD_MAX bytes; "more" counts steps that had no
 * room:
 *
 *	{"nccl_tune":{"v":1,"0":STEP,"1":STEP,...,"more":2}}
 *
 * splice.h puts a step's record into a job's, summary.h reads a job's.
 *
 * Threads:  any; structs belong to their caller.
 * Memory:   nothing is allocated.
 * Errors:   put->full (put.h).
 * Units:    in the names; medians in microseconds, gain in percent of AUTO's.
 */
#ifndef NT_STEP_RECORD_H
#define NT_STEP_RECORD_H

#include "contract/error.h"
#include "contract/names.h"
#include "record/field.h"
#include "record/reason.h"

#define NT_STEP_DEPTH 4 /* step, shape, row, times */
#define NT_STEP_WHY "why"
#define NT_STEP_MORE "more"
#define NT_STEP_LONG "long"
#define NT_STEP_NO_LONG "no_long"
#define NT_STEP_LONG_MAX 176
#define NT_STEP_RUN "run"
#define NT_STEP_REST "rest"
#define NT_STEP_NAMES "names"
#define NT_STEP_CHOSEN "chosen" /* in it: rows that have no reason, as an arm was chosen */
#define NT_FAMILY_MAX (NT_COMM_NAME + 24) /* "8r2n NAME" with its NUL */

/* clang-format off */
#define NT_STEP_FIELDS(X) \
	X(TEXT, "mode", mode, 16, NT_MUST) \
	X(TEXT, "nccl", nccl, 16, NT_MAY) \
	X(COUNT, "ranks", ranks, 0, NT_MAY) \
	X(COUNT, "nodes", nodes, 0, NT_MAY) \
	X(TEXT, "launch", launch, 33, NT_MAY) /* profile; without it, nothing of these was asked for */ \
	X(TEXT, "set", set, 400, NT_MAY) /* its variables, "NCCL_A=1 NCCL_B=2" */ \
	X(TEXT, "left", left, 160, NT_MAY) /* variables left alone, as they were set */ \
	X(TEXT, "from", from, 128, NT_MAY) /* where the choice came from, in words */ \
	X(NUMBER, "expected", expected, 2, NT_MAY) /* times as fast as the default; on the mix */ \
	X(NUMBER, "measured", measured, 2, NT_MAY) /* the same, by the program's own steps */ \
	X(QUARTILES, "step_us", step_us, 1, NT_MAY) /* of the program's own step */ \
	X(COUNT, "steps", steps, 0, NT_MAY) /* that the program made */ \
	X(TEXT, "fp", fingerprint, 17, NT_MAY) /* of all nodes; only of a step that is evidence */ \
	X(TEXT, "fabric", fabric, 8, NT_MAY) \
	X(TEXT, "driver", driver, 24, NT_MAY) \
	X(TALLY, "own", own, 0, NT_MAY) /* hash of the user's own variables */ \
	X(COUNT, "per_node", per_node, 0, NT_MAY) \
	X(TALLY, "calibration", calibration, 0, NT_MAY) \
	X(TALLY, "early", early, 0, NT_MAY) /* 1: written while the step ran */ \
	X(TALLY, NT_STEP_RUN, run, 0, NT_MAY) /* how often the job was started again before */ \
	X(COUNT, "heard", heard, 0, NT_MAY) /* nodes whose rank records it is made of */ \
	X(TIME, "comm_ms", comm_ms, 1, NT_MAY) /* an average rank's time in collectives */ \
	X(TIME, "spent_ms", spent_ms, 1, NT_MAY) /* of all rows, those left out and unfinished too */ \
	X(NUMBER, "saved_ms", saved_ms, 1, NT_MAY) \
	X(TEXT, NT_STEP_LONG, long_form, NT_STEP_LONG_MAX, NT_MAY) /* where the long form is */ \
	X(TEXT, NT_STEP_NO_LONG, no_long, NT_STEP_LONG_MAX, NT_MAY) /* why there is none */ \
	X(TEXT, "remark", remark, 176, NT_MAY) /* on the profile, or on what is remembered of it */

#define NT_ROW_FIELDS(X) \
	X(ARM, "auto", auto_arm, 0, NT_MUST) /* NCCL's pick */ \
	X(ARM, "arm", arm, 0, NT_MUST) /* in use; AUTO where that pick stays */ \
	X(TIMES, "us", us, 1, NT_MAY) /* medians; arm_us is the best other arm's where AUTO stays */ \
	X(NUMBER, "gain", gain_percent, 1, NT_MAY) \
	X(TIMES, "own", own_us, 1, NT_MAY) /* as in a rank's record */ \
	X(TIMES, "period", period_us, 1, NT_MAY) \
	X(SHARE, "p", p, 3, NT_MAY) \
	X(COUNT, "n", samples, 0, NT_MAY) \
	X(COUNT, "calls", calls, 0, NT_MAY) \
	X(COUNT, "spent", spent_calls, 0, NT_MAY) \
	X(TIME, "spent_ms", spent_ms, 1, NT_MAY) \
	X(NUMBER, "saved_ms", saved_ms, 1, NT_MAY) \
	X(TALLY, "rechecks", rechecks, 0, NT_MAY) \
	X(TALLY, "rollbacks", rollbacks, 0, NT_MAY) \
	X(REASON, "why", reason, 0, NT_MAY) /* as reason.h has it */ \
	X(SHARE, "share", share, 2, NT_MAY) /* of the step's communication time */ \
	X(TIMES, "pred", predicted_us, 1, NT_MAY) /* by NCCL */ \
	X(TIMES, "p25", p25_us, 1, NT_MAY) /* quartiles of us, own and period */ \
	X(TIMES, "p75", p75_us, 1, NT_MAY) \
	X(TIMES, "own_p25", own_p25_us, 1, NT_MAY) \
	X(TIMES, "own_p75", own_p75_us, 1, NT_MAY) \
	X(TIMES, "period_p25", period_p25_us, 1, NT_MAY) \
	X(TIMES, "period_p75", period_p75_us, 1, NT_MAY) \
	X(COUNT, "decided", decided, 0, NT_MAY) /* calls when it was decided last */ \
	X(TALLY, "changes", changes, 0, NT_MAY) /* other arms instead */ \
	X(TEXT, "from", from, 8, NT_MAY) /* NT_KEYFROM_* */ \
	X(TEXT, "round", round, 8, NT_MAY) /* NT_KEYROUND_*: while it is explored; as in a rank's */ \
	X(COUNT, "round_arms", round_arms, 0, NT_MAY) \
	X(COUNT, "round_calls", round_calls, 0, NT_MAY) \
	X(COUNT, "round_done", round_done, 0, NT_MAY) \
	X(COUNT, "forced", forced, 0, NT_MAY) /* ran the chosen arm, as NCCL's events say */ \
	X(COUNT, "differed", differed, 0, NT_MAY) /* did not */ \
	X(COUNT, "comms", comms, 0, NT_MAY) /* communicators whose key it is, where several */ \
	X(COUNT, "same", same, 0, NT_MAY) /* ... of which so many came to the same */ \
	X(ARM, "best", best_arm, 0, NT_MAY) /* whose arm_us is, where NCCL's pick stays */
/* clang-format on */

struct nt_step {
	char name[NT_STEP_NAME_MAX]; /* "0", "0+1", "batch" */
	NT_STEP_FIELDS(NT_FIELD_MEMBER)
	int64_t more; /* entries that had no room in the record */
	int64_t rest[NT_REASON_COUNT]; /* rows among them by their reason */
	bool whole; /* made of rank records: nothing had to be left out */
};

struct nt_row {
	size_t step; /* index into a summary's steps */
	size_t family; /* index into a summary's families; not of a row that is to be written */
	uint32_t ranks, nodes; /* of the communicator */
	int coll;
	size_t bytes;
	NT_ROW_FIELDS(NT_FIELD_MEMBER)
	const char *state; /* NT_KEYSTATE_*; not written, what a row holds tells */
	size_t first_arm, arm_count; /* in a summary's arms; from rank records alone */
	size_t first_try, try_count; /* in its tries, in time order; likewise */
};

extern const struct nt_fields nt_step_fields, nt_row_fields;

/* "8r2n NAME", or "8r2n" without a name, into NT_FAMILY_MAX bytes. Returns out. */
const char *nt_step_family(char *out, uint32_t ranks, uint32_t nodes, const char *name);

/* Rows of one family stand together: open it by that, put them, close it with nt_put_close. */
void nt_step_put_row(struct nt_put *put, const struct nt_row *row);

/* Why a step was not tuned as it was asked for, by the flags of its records (NT_PLACE_*). */
#define NT_STEP_WHYS 4
struct nt_step_why {
	uint32_t flag;
	const char *text;
};
extern const struct nt_step_why nt_step_whys[NT_STEP_WHYS];

/* What stands before a reason: "8r2n, 2 communicators: "; "" without ranks. Returns out. */
const char *nt_step_why_shape(int64_t ranks, int64_t nodes, int64_t comms, char *out,
			      size_t out_bytes);

/* Is record what stands above: one JSON object of printable ASCII without backslash, of at most
 * NT_STEP_RECORD_MAX bytes? */
int nt_step_check(const char *record, size_t record_bytes, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the records of a step and of a job
 *
 * A step record is the value of "<step>" (a number, number+component of a heterogeneous step, or
 * "batch") in the job's: at most NT_STEP_RECORD_MAX bytes of printable ASCII without backslashes,
 * and with braces only as JSON's own:
 *
 *	{ NT_STEP_FIELDS, "8r2n":{"AllReduce 256K":{ NT_KEY_FIELDS }, ...}, "8r2n NAME":{...},
 *	  "names":["8r2n NAME", ...], "why":["8r2n 2 <reason>", "<reason>", ...], "rest":["2 <reason>", ...],
 *	  "findings":["<finding>", ...], "more":3 }
 *
 * Each family of communicators has a member, named by its shape (ranks, nodes) and, if several
 * families have that shape, by its name; "names" has the names of the others. "why" has the reasons
 * why communicators were not tuned, after their shape and number, and the reasons of the step
 * (contract/reason.h). "rest" counts omitted rows by reason, "more" rows and reasons that had no
 * room. "findings" has what is wrong with the set-up (contract/finding.h). Readers skip unknown members.
 *
 * A job record, in AdminComment, has at most NT_JOB_RECORD_MAX bytes; "more" counts steps that had
 * no room, "says" is a sentence for people (says.h):
 *
 *	{"nccl_tune":{"says":SENTENCE,"v":1,"0":STEP,"1":STEP,...,"more":2}}
 *
 * admincomment-merge.h adds a step to a job record, job-summary.h reads one.
 *
 * Threads:  any; structs belong to their caller.
 * Memory:   nothing is allocated.
 * Errors:   put->full (json-writer.h).
 * Units:    in the names; medians in microseconds, gain in percent of AUTO's.
 */
#ifndef NT_STEP_RECORD_H
#define NT_STEP_RECORD_H

#include "lib/error.h"
#include "contract/names.h"
#include "contract/reason.h"
#include "record/key.h"

#define NT_STEP_DEPTH 4 /* step, shape, row, times */
#define NT_STEP_WHY "why"
#define NT_STEP_MORE "more"
#define NT_STEP_SAYS "says"
#define NT_STEP_LONG "long"
#define NT_STEP_NO_LONG "no_long"
#define NT_STEP_LONG_MAX 176
#define NT_STEP_RUN "run"
#define NT_STEP_REST "rest"
#define NT_STEP_NAMES "names"
#define NT_STEP_FINDINGS "findings"
#define NT_STEP_CHOSEN "chosen" /* in it: rows without a reason, since an arm was chosen */
#define NT_FAMILY_MAX (NT_COMM_NAME + 24) /* "8r2n NAME" with its NUL */

struct nt_step {
	char name[NT_STEP_NAME_MAX]; /* "0", "0+1", "batch" */
	NT_STEP_FIELDS(NT_FIELD_MEMBER)
	int64_t more; /* entries that had no room */
	int64_t rest[NT_REASON_COUNT]; /* omitted rows by reason */
	bool whole; /* made from rank records: complete */
	bool running; /* its tasks run, as Slurm says */
};

extern const struct nt_fields nt_step_fields;

/* "8r2n NAME", or "8r2n" without a name, into NT_FAMILY_MAX bytes. Returns out. */
const char *nt_step_family(char *out, uint32_t ranks, uint32_t nodes, const char *name);

/* Rows of a family are consecutive; nt_json_put_close closes it. */
void nt_step_put_row(struct nt_json_writer *put, const struct nt_key *row);

/* Why a step was not tuned as requested, by the flags of its records (NT_FLAG_*). */
#define NT_STEP_WHYS 8
struct nt_step_why {
	uint32_t flag;
	int reason;
};
extern const struct nt_step_why nt_step_whys[NT_STEP_WHYS];

/* The prefix of a reason: "8r2n 2 " for two communicators; "" without ranks. Returns out. */
const char *nt_step_why_shape(int64_t ranks, int64_t nodes, int64_t comms, char *out,
			      size_t out_bytes);

/* Is record one JSON object as described above? */
int nt_step_check(const char *record, size_t record_bytes, struct nt_error *err);

#endif

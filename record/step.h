/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the records of a step and of a job: their fields, and how a step's is written
 *
 * Step record, the value of "<step>" (a number, of a component of a heterogeneous step
 * number+component, or "batch") in the job's, at most
 * NT_STEP_RECORD_MAX bytes, printable ASCII without backslash, braces only as JSON's own:
 *
 *	{ NT_STEP_FIELDS, "8r2n":{"AllReduce 256K":{ NT_KEY_FIELDS }, ...}, "8r2n NAME":{...},
 *	  "names":["8r2n NAME", ...], "why":["8r2n 2 <reason>", "<reason>", ...], "rest":["2 <reason>", ...], "more":3 }
 *
 * Each family of communicators has one member, named by its shape (ranks, nodes) and, if several
 * families have the shape, its name; "names" has the names of the others. The member has one row
 * for each collective and size. "why" has each reason why communicators were not tuned, after their
 * shape and number, and the reasons of the step, both in the form of contract/reason.h. "rest"
 * counts rows that are left out, by reason; "more" counts rows and reasons that had no room.
 *
 * Readers skip unknown members, so this release and all later ones of version 1 can read each
 * other's records.
 *
 * Job record, in AdminComment, at most NT_JOB_RECORD_MAX bytes; "more" counts steps that had no
 * room, and "says" is a sentence for people (says.h):
 *
 *	{"nccl_tune":{"says":SENTENCE,"v":1,"0":STEP,"1":STEP,...,"more":2}}
 *
 * admincomment-merge.h adds a step's record to a job's, job-summary.h reads a job's.
 *
 * Threads:  any; structs belong to their caller.
 * Memory:   nothing is allocated.
 * Errors:   put->full (put.h).
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
#define NT_STEP_CHOSEN "chosen" /* in it: rows that have no reason, as an arm was chosen */
#define NT_FAMILY_MAX (NT_COMM_NAME + 24) /* "8r2n NAME" with its NUL */

struct nt_step {
	char name[NT_STEP_NAME_MAX]; /* "0", "0+1", "batch" */
	NT_STEP_FIELDS(NT_FIELD_MEMBER)
	int64_t more; /* entries that had no room in the record */
	int64_t rest[NT_REASON_COUNT]; /* rows among them by their reason */
	bool whole; /* made of rank records: nothing had to be left out */
	bool running; /* its tasks run, as far as is known: who has asked Slurm sets it */
};

extern const struct nt_fields nt_step_fields;

/* "8r2n NAME", or "8r2n" without a name, into NT_FAMILY_MAX bytes. Returns out. */
const char *nt_step_family(char *out, uint32_t ranks, uint32_t nodes, const char *name);

/* Rows of one family are consecutive: open the family with this, put its rows, close it with
 * nt_json_put_close. */
void nt_step_put_row(struct nt_json_writer *put, const struct nt_key *row);

/* Why a step was not tuned as requested, from the flags of its records (NT_PLACE_*). */
#define NT_STEP_WHYS 6
struct nt_step_why {
	uint32_t flag;
	int reason;
};
extern const struct nt_step_why nt_step_whys[NT_STEP_WHYS];

/* The prefix of a reason: "8r2n 2 " for two communicators; "" without ranks. Returns out. */
const char *nt_step_why_shape(int64_t ranks, int64_t nodes, int64_t comms, char *out,
			      size_t out_bytes);

/* Is record as described above: one JSON object of printable ASCII without backslash, of at most
 * NT_STEP_RECORD_MAX bytes? */
int nt_step_check(const char *record, size_t record_bytes, struct nt_error *err);

#endif

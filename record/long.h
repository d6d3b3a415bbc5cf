/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* long.h - the long form of a step's record: a part per node
 *
 * A part is DIRECTORY/CLUSTER.JOBID/STEP.NODE.jsonl.gz; of a requeued job, STEP.NODE.rRUN.jsonl.gz.
 * It has lines of JSON, each compressed as a gzip member:
 *
 *	{ NT_LONG_FIELDS }                        the first line, and nowhere else
 *	{"step":{...}}                            the step's record as this node sees it (step.h)
 *	{"fingerprint":"0123456789abcdef"}        of the node's hardware
 *	{"topology":{...}}                        of a communicator here (topology.h)
 *	{"calls":{...}}                           calls of a process's ranks (calls-record.h)
 *	{"stacks":{...}}                          of a rank that others wait for (stacks.h)
 *	{"rank":{...}}                            a rank record (rank.h), byte for byte
 *
 * Unknown lines are skipped. The first line, not the file's name, identifies the part.
 *
 * longwrite.h writes a part, longset.h reads it and combines those of a job.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Units:    in the names.
 */
#ifndef NT_LONG_H
#define NT_LONG_H

#include "contract/names.h"
#include "record/field.h"

#define NT_LONG_VERSION 1
#define NT_LONG_SUFFIX ".jsonl.gz"
#define NT_LONG_NODE_MAX 64 /* a node's name, with its NUL */
#define NT_LONG_RANK "rank"
#define NT_LONG_STEP "step"
#define NT_LONG_FINGERPRINT "fingerprint"
#define NT_LONG_TOPOLOGY "topology"
#define NT_LONG_CALLS "calls"
#define NT_LONG_STACKS "stacks"

/* The longest line: a rank record and its name. */
#define NT_LONG_LINE_MAX (NT_RANK_RECORD_MAX + 64)
/* Size of a part before compression; more is omitted and counted. */
#define NT_LONG_TEXT_MAX ((size_t)66 << 20)
#define NT_LONG_LINES_MAX 4352 /* rank records, and some more */

/* clang-format off */
#define NT_LONG_FIELDS(X) \
	X(COUNT, "nccl_tune_long", version, 0, NT_MUST, "", "") \
	X(TEXT, "cluster", cluster, 64, NT_MUST, "", "") \
	X(COUNT, "job", job, 0, NT_MUST, "", "") \
	X(TEXT, "step", step, NT_STEP_NAME_MAX, NT_MUST, "", "") \
	X(TEXT, "node", node, NT_LONG_NODE_MAX, NT_MUST, "", "") \
	X(COUNT, "nodes", nodes, 0, NT_MAY, "", "of the step") \
	X(COUNT, "user", uid, 0, NT_MAY, "", "") \
	X(TALLY, "run", run, 0, NT_MAY, "", "how often the job was started again before") \
	X(BOOL, "final", final, 0, NT_MUST, "", "the step's tasks here have ended") \
	X(COUNT, "written", written_s, 0, NT_MAY, "", "since 1970") \
	X(TEXT, "version", release, 24, NT_MAY, "", "of nccl-tune") \
	X(COUNT, "records", records, 0, NT_MAY, "", "rank records that follow") \
	X(TALLY, "dropped", dropped, 0, NT_MAY, "", "that had no room") \
	X(TALLY, "unusable", unusable, 0, NT_MAY, "", "that are no records")
/* clang-format on */

struct nt_long_head {
	NT_LONG_FIELDS(NT_FIELD_MEMBER)
};

extern const struct nt_fields nt_long_fields;

/* "CLUSTER.JOBID" and "STEP.NODE.jsonl.gz"; invalid characters become '_'. */
#define NT_LONG_NAME_MAX 128
void nt_long_job_name(char out[NT_LONG_NAME_MAX], const char *cluster, uint32_t job);
void nt_long_part_name(char out[NT_LONG_NAME_MAX], const struct nt_long_head *head);
bool nt_long_part_is(const char *name);

#endif

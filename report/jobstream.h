/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobstream.h - jobs as accounting has them, one after the other, however many there are
 *
 * Accounting is asked for a piece of the time at a time, of some thousands of jobs: neither sacct
 * nor slurmdbd ever holds all. Each job is seen once, in the piece of its end.
 *
 * Texts of users are among what is read (Comment, Extra): columns are kept apart by a word that is
 * drawn anew for each question, so that no text can pass for another job's line.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   one line, and the newest bytes of sacct's output; what a visit gets is its own until
 *           it returns.
 * Errors:   -1 and *err says what could not be asked, or what the visit said. Jobs that were seen
 *           until then were seen.
 * Units:    seconds since 1970.
 * Host:     the command sacct, which knows who may see whose jobs.
 */
#ifndef NT_JOBSTREAM_H
#define NT_JOBSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "report/jobid.h"

/* Where a record may be. Users write into all but the first. */
enum nt_streamed_text {
	NT_STREAMED_ADMINCOMMENT,
	NT_STREAMED_COMMENT,
	NT_STREAMED_EXTRA,
	NT_STREAMED_TEXTS,
};

struct nt_streamed_job {
	char label[NT_JOB_LABEL_MAX]; /* "12", "12_3", "12+1" */
	char cluster[64], partition[64], user[64], account[64]; /* printable */
	uint32_t nodes;
	int64_t elapsed_s;
	int64_t end_s; /* 0: it has not ended */
	const char *text[NT_STREAMED_TEXTS]; /* not terminated */
	size_t text_bytes[NT_STREAMED_TEXTS];
};

/* Lists as sacct takes them; NULL: all. */
struct nt_jobstream_query {
	int64_t since_s, until_s; /* ended from, and before */
	const char *user, *partition, *account, *cluster;
	bool all_users; /* that the caller may see; else the caller's own, unless user is given */
};

/* Returns -1 and *err to end it. */
struct nt_jobstream_visitor {
	int (*visit)(void *argument, const struct nt_streamed_job *job, struct nt_error *err);
	void *argument;
};

int nt_jobstream_each(const struct nt_jobstream_query *query,
		      const struct nt_jobstream_visitor *visitor, struct nt_error *err);

#endif

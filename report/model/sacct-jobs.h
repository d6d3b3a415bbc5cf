/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct-jobs.h - visit jobs in accounting one by one, however many there are
 *
 * Accounting is asked about one slice of time after the other, each of some thousands of jobs, so
 * neither sacct nor slurmdbd holds all. Each job is visited once, in the slice of its end.
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   one row of sacct's output; what a visit gets is valid until it returns.
 * Errors:   -1 and *err: what could not be asked, or the error of a visit. Earlier visits stay.
 * Units:    seconds since 1970.
 * Host:     the command sacct (lib/sacct.h), which knows who may see whose jobs.
 */
#ifndef NT_JOBSTREAM_H
#define NT_JOBSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "report/model/jobid.h"

struct nt_streamed_job {
	char label[NT_JOB_LABEL_MAX]; /* "12", "12_3", "12+1" */
	char cluster[64], partition[64], user[64]; /* printable */
	uint32_t nodes;
	int64_t elapsed_s;
	int64_t end_s; /* 0: it has not ended */
	bool requeued; /* a run that another one follows */
	/* Its AdminComment, not terminated. Users can write to other fields: these are not read. */
	const char *text;
	size_t text_bytes;
};

/* Lists as sacct takes them; NULL: all. */
struct nt_sacct_jobs_query {
	int64_t since_s, until_s; /* ended from, and before */
	const char *user, *partition, *account, *cluster;
	bool all_users; /* the caller may see; else the caller's own, unless user is given */
};

/* Returns -1 and *err to end it. */
struct nt_sacct_jobs_visitor {
	int (*visit)(void *argument, const struct nt_streamed_job *job, struct nt_error *err);
	void *argument;
};

int nt_sacct_jobs_each(const struct nt_sacct_jobs_query *query,
		       const struct nt_sacct_jobs_visitor *visitor, struct nt_error *err);

#endif

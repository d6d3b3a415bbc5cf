/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/sacct-jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/printable.h"
#include "lib/sacct.h"

#define TIMEOUT_MS 300000 /* of a query */
/* The length of a slice: a day at first, then so that a query returns about this many rows. Each
 * query costs slurmdbd a search, each row memory there and in sacct. */
#define SLICE_S 86400
#define SLICE_LEAST_S 3600
#define SLICE_MOST_S (32 * 86400)
#define ROWS_FEW 2500
#define ROWS_MANY 10000
#define SLICES_MAX 1000 /* of a query; longer spans have longer slices */
/* If slurmdbd's own query fails, its answer is empty and sacct exits with 0 (22.05.8). So an empty
 * answer is only believed after this many queries. */
#define EMPTY_ASKED 3
#define REQUEUED "REQUEUED"

enum column {
	LABEL,
	CLUSTER,
	PARTITION,
	USER,
	NODES,
	ELAPSED,
	STATE,
	TEXT,
	END,
	COLUMNS,
};

struct jobs_query {
	const struct nt_sacct_jobs_query *query;
	const struct nt_sacct_jobs_visitor *visitor;
	int64_t from_s, until_s; /* the present slice */
	unsigned long rows; /* of this slice, even of jobs that are not visited in it */
};

static void copy_word(char *out, size_t out_bytes, struct nt_text text)
{
	nt_printable_copy(out, out_bytes, text.at, text.bytes);
}

/* A job belongs to the slice in which it ended, or to the last one if it has not. */
static bool is_of_slice(const struct jobs_query *asking, int64_t end_s)
{
	if (end_s == 0)
		return asking->until_s == asking->query->until_s;
	return end_s >= asking->from_s && end_s < asking->until_s;
}

static int take_row(void *argument, const struct nt_text *column, struct nt_error *err)
{
	struct jobs_query *asking = argument;
	struct nt_streamed_job job = {
		.nodes = (uint32_t)nt_sacct_number(column[NODES]),
		.elapsed_s = nt_sacct_number(column[ELAPSED]),
		.end_s = nt_sacct_number(column[END]),
	};

	job.requeued = nt_text_begins(column[STATE], REQUEUED);
	asking->rows++;
	if (!is_of_slice(asking, job.end_s))
		return 0;
	copy_word(job.label, sizeof(job.label), column[LABEL]);
	copy_word(job.cluster, sizeof(job.cluster), column[CLUSTER]);
	copy_word(job.partition, sizeof(job.partition), column[PARTITION]);
	copy_word(job.user, sizeof(job.user), column[USER]);
	job.text = column[TEXT].at;
	job.text_bytes = column[TEXT].bytes;
	return asking->visitor->visit(asking->visitor->argument, &job, err);
}

static int ask_slice(struct jobs_query *asking, struct nt_error *err)
{
	const struct nt_sacct_jobs_query *query = asking->query;
	char since[32], until[32];
	const struct nt_sacct question = {
		.columns = "JobID,Cluster,Partition,User,NNodes,ElapsedRaw,State,AdminComment,End",
		.count = COLUMNS,
		.since = since,
		.until = until,
		.user = query->user,
		.partition = query->partition,
		.account = query->account,
		.cluster = query->cluster,
		.all_users = query->all_users && !query->user,
		.timeout_ms = TIMEOUT_MS,
	};

	snprintf(since, sizeof(since), "uts%" PRId64, asking->from_s);
	snprintf(until, sizeof(until), "uts%" PRId64, asking->until_s);
	return nt_sacct_ask(&question, take_row, asking, err);
}

static int64_t adapt(int64_t slice_s, int64_t least_s, unsigned long rows)
{
	if (rows > ROWS_MANY && slice_s / 2 >= least_s)
		return slice_s / 2;
	if (rows < ROWS_FEW && slice_s * 2 <= SLICE_MOST_S)
		return slice_s * 2;
	return slice_s;
}

int nt_sacct_jobs_each(const struct nt_sacct_jobs_query *query,
		       const struct nt_sacct_jobs_visitor *visitor, struct nt_error *err)
{
	struct jobs_query asking = { .query = query, .visitor = visitor, .from_s = query->since_s };
	int64_t least_s = (query->until_s - query->since_s) / SLICES_MAX + 1;
	int64_t slice_s = SLICE_S;

	least_s = least_s < SLICE_LEAST_S ? SLICE_LEAST_S : least_s;
	slice_s = slice_s < least_s ? least_s : slice_s;
	while (asking.from_s < query->until_s) {
		asking.until_s = asking.from_s + slice_s < query->until_s ? asking.from_s + slice_s
									  : query->until_s;
		asking.rows = 0;
		for (int i = 0; i < EMPTY_ASKED && asking.rows == 0; i++) {
			if (ask_slice(&asking, err) < 0)
				return -1;
		}
		slice_s = adapt(slice_s, least_s, asking.rows);
		asking.from_s = asking.until_s;
	}
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs from sacct, as they come. Why it is sacct that is asked is told in accounting.c. */
#include "report/jobstream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "record/child.h"
#include "record/printable.h"
#include "report/rowcut.h"

#define TIMEOUT_MS 300000 /* for one question */
/* How much of the time one question is about: a day at first, then so much that the answers have
 * about this many rows. Each question costs slurmdbd a search, each row memory there and in
 * sacct. */
#define SLICE_S 86400
#define SLICE_LEAST_S 3600
#define SLICE_MOST_S (32 * 86400)
#define ROWS_FEW 2500
#define ROWS_MANY 10000
#define SLICES_MAX 1000 /* questions, or they are about more time */
/* Where slurmdbd's own query fails its answer is an empty one, and sacct's status is 0 (22.05.8):
 * what is empty is asked for so often before it is believed. */
#define EMPTY_ASKED 3
#define ARGUMENTS 24
#define HELP_MAX (1u << 16)

enum column {
	LABEL,
	CLUSTER,
	PARTITION,
	USER,
	ACCOUNT,
	NODES,
	ELAPSED,
	TEXTS,
	COLUMNS_WITHOUT_EXTRA = TEXTS + 3, /* AdminComment, Comment, End */
	COLUMNS,
};

struct asking {
	const struct nt_jobstream_query *query;
	const struct nt_jobstream_visitor *visitor;
	int64_t from_s, until_s; /* the slice that is being asked about */
	bool has_extra;
	unsigned long rows; /* that sacct has told of this slice, of whichever jobs */
};

static bool knows_extra(void)
{
	char *argv[] = { "sacct", "--helpformat", NULL };
	struct nt_child child;
	bool found = nt_child_run(&child, argv, HELP_MAX, TIMEOUT_MS, NULL) == 0 && child.out &&
		     strstr(child.out, "Extra");

	nt_child_fini(&child);
	return found;
}

static void copy_word(char *out, size_t out_bytes, const char *text, size_t bytes)
{
	nt_printable_copy(out, out_bytes, text, bytes);
}

/* 0 for "Unknown" and the like. */
static int64_t number_of(const char *text, size_t bytes)
{
	char copy[24];

	copy_word(copy, sizeof(copy), text, bytes);
	return strtoll(copy, NULL, 10);
}

/* A job belongs to the slice of its end; one that has not ended to the last. */
static bool is_of_slice(const struct asking *asking, int64_t end_s)
{
	if (end_s == 0)
		return asking->until_s == asking->query->until_s;
	return end_s >= asking->from_s && end_s < asking->until_s;
}

static int take_row(void *argument, const char *const *column, const size_t *bytes,
		    struct nt_error *err)
{
	struct asking *asking = argument;
	unsigned texts = asking->has_extra ? 3 : 2;
	struct nt_streamed_job job = {
		.nodes = (uint32_t)number_of(column[NODES], bytes[NODES]),
		.elapsed_s = number_of(column[ELAPSED], bytes[ELAPSED]),
		.end_s = number_of(column[TEXTS + texts], bytes[TEXTS + texts]),
	};

	asking->rows++;
	if (!is_of_slice(asking, job.end_s))
		return 0;
	copy_word(job.label, sizeof(job.label), column[LABEL], bytes[LABEL]);
	copy_word(job.cluster, sizeof(job.cluster), column[CLUSTER], bytes[CLUSTER]);
	copy_word(job.partition, sizeof(job.partition), column[PARTITION], bytes[PARTITION]);
	copy_word(job.user, sizeof(job.user), column[USER], bytes[USER]);
	copy_word(job.account, sizeof(job.account), column[ACCOUNT], bytes[ACCOUNT]);
	for (unsigned i = 0; i < texts; i++) {
		job.text[i] = column[TEXTS + i];
		job.text_bytes[i] = bytes[TEXTS + i];
	}
	return asking->visitor->visit(asking->visitor->argument, &job, err);
}

static int take_output(void *argument, const char *data, size_t bytes, struct nt_error *err)
{
	return nt_rowcut_take(argument, data, bytes, err);
}

/* sacct begins some of its complaints with its name, and some not. */
static int complain(const struct nt_child *child, struct nt_error *err)
{
	const char *text = child->complaint;

	return nt_error_set(err, "%s%.140s", strncmp(text, "sacct", 5) == 0 ? "" : "sacct: ",
			    text[0] ? text : "it failed and did not say why");
}

static int run_sacct(struct asking *asking, char *argv[], const char *delimiter,
		     struct nt_error *err)
{
	struct nt_rowcut cut = {
		.delimiter = delimiter,
		.columns = asking->has_extra ? COLUMNS : COLUMNS_WITHOUT_EXTRA,
		.row = take_row,
		.argument = asking,
	};
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + TIMEOUT_MS,
		.take = take_output,
		.argument = &cut,
	};
	struct nt_error reason;
	struct nt_child child;
	int rc = nt_child_run_within(&child, argv, &bounds, &reason);
	int cut_rc = nt_rowcut_end(&cut, rc == 0 ? &reason : NULL);

	if (rc == 0 && child.status != 0)
		rc = complain(&child, err);
	else if (rc < 0 || cut_rc < 0)
		rc = nt_error_set(err, "sacct: %.140s", reason.text);
	nt_child_fini(&child);
	return rc;
}

/* 128 bits that nobody can have known when a text was written. */
static int draw_delimiter(char *out, size_t out_bytes, struct nt_error *err)
{
	uint64_t bits[2];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return nt_error_set(err, "no random number: %m");
	snprintf(out, out_bytes, "\x1f%016" PRIx64 "%016" PRIx64 "\x1f", bits[0], bits[1]);
	return 0;
}

static int ask_slice(struct asking *asking, struct nt_error *err)
{
	const struct nt_jobstream_query *query = asking->query;
	const struct {
		const char *key, *value;
	} given[] = { { "--user=", query->user },
		      { "--partition=", query->partition },
		      { "--accounts=", query->account },
		      { "--clusters=", query->cluster } };
	char delimiter[48], option[64], since[48], until[48], text[4][512];
	char columns[] = "--format=JobID,Cluster,Partition,User,Account,NNodes,ElapsedRaw,"
			 "AdminComment,Comment,Extra,End";
	char *argv[ARGUMENTS] = { "sacct", "-n", "-P", "-X", option, columns, since, until };
	unsigned count = 8;

	if (!asking->has_extra)
		memmove(strstr(columns, "Extra,"), "End", sizeof("End"));
	if (draw_delimiter(delimiter, sizeof(delimiter), err) < 0)
		return -1;
	snprintf(option, sizeof(option), "--delimiter=%s", delimiter);
	snprintf(since, sizeof(since), "--starttime=uts%" PRId64, asking->from_s);
	snprintf(until, sizeof(until), "--endtime=uts%" PRId64, asking->until_s);
	if (query->all_users && !query->user)
		argv[count++] = "--allusers";
	for (unsigned i = 0; i < 4; i++) {
		if (!given[i].value)
			continue;
		if (snprintf(text[i], sizeof(text[i]), "%s%s", given[i].key, given[i].value) >=
		    (int)sizeof(text[i]))
			return nt_error_set(err, "'%.40s...' is too long", given[i].value);
		argv[count++] = text[i];
	}
	return run_sacct(asking, argv, delimiter, err);
}

/* The length of the next slice. */
static int64_t adapt(int64_t slice_s, int64_t least_s, unsigned long rows)
{
	if (rows > ROWS_MANY && slice_s / 2 >= least_s)
		return slice_s / 2;
	if (rows < ROWS_FEW && slice_s * 2 <= SLICE_MOST_S)
		return slice_s * 2;
	return slice_s;
}

int nt_jobstream_each(const struct nt_jobstream_query *query,
		      const struct nt_jobstream_visitor *visitor, struct nt_error *err)
{
	struct asking asking = { .query = query, .visitor = visitor, .from_s = query->since_s };
	int64_t least_s = (query->until_s - query->since_s) / SLICES_MAX + 1;
	int64_t slice_s = SLICE_S;

	/* Local times are not the same everywhere, and some hours come twice. */
	if (setenv("SLURM_TIME_FORMAT", "%s", 1) < 0)
		return nt_error_set(err, "no memory");
	least_s = least_s < SLICE_LEAST_S ? SLICE_LEAST_S : least_s;
	slice_s = slice_s < least_s ? least_s : slice_s;
	asking.has_extra = knows_extra();
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

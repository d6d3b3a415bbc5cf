/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Many jobs' records as text, 80 columns wide. */
#include "report/tally-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report/table.h"
#include "report/tally-cell.h"

#define NAME_WIDTH 17 /* of a group; the rest of a line is numbers */
#define LINES_MAX 20 /* of a table; the others are in what programs read */

/* ---- cells */

static void put_percent(char *cell, int64_t part, int64_t whole)
{
	nt_cell_decimal(cell, whole > 0 ? 100.0 * (double)part / (double)whole : NAN, 1);
}

/* A group as the columns see it; the cluster is told where there are several. */
struct line {
	const struct nt_tally_group *group;
	bool several;
};

#define SUM(line) (&((const struct line *)(line))->group->sum)

static void print_name(char *cell, const void *line)
{
	const struct line *it = line;

	nt_tally_name_cell(cell, it->several ? it->group->cluster : "", it->group->name,
			   NAME_WIDTH);
}

static void print_jobs(char *cell, const void *line)
{
	nt_cell_count(cell, nt_tally_recorded(SUM(line)));
}

static void print_gained(char *cell, const void *line)
{
	put_percent(cell, SUM(line)->jobs[NT_JOB_GAINED], nt_tally_recorded(SUM(line)));
}

static void print_nothing(char *cell, const void *line)
{
	put_percent(cell, SUM(line)->jobs[NT_JOB_NOTHING_TO_GAIN], nt_tally_recorded(SUM(line)));
}

static void print_keys(char *cell, const void *line)
{
	nt_cell_count(cell, SUM(line)->keys);
}

static void print_chosen(char *cell, const void *line)
{
	put_percent(cell, SUM(line)->chosen, SUM(line)->keys);
}

static void print_saved(char *cell, const void *line)
{
	nt_tally_time_cell(cell, SUM(line)->saved_us);
}

static void print_spent(char *cell, const void *line)
{
	nt_tally_time_cell(cell, SUM(line)->spent_us);
}

static void print_net(char *cell, const void *line)
{
	nt_tally_time_cell(cell, SUM(line)->saved_us - SUM(line)->spent_us);
}

#define TIME_COLUMNS                                                                      \
	{ { "", "SAVED" }, false, print_saved }, { { "", "SPENT" }, false, print_spent }, \
	{                                                                                 \
		{ "", "NET" }, false, print_net                                           \
	}
#define JOB_COLUMNS(head)                                                                  \
	{                                                                                  \
		{ { "", head }, true, print_name }, { { "", "JOBS" }, false, print_jobs }, \
			{ { "GAINED", "%" }, false, print_gained },                        \
			{ { "NOTHING", "TO GAIN %" }, false, print_nothing }, TIME_COLUMNS \
	}
#define KEY_COLUMNS(head)                                                                  \
	{                                                                                  \
		{ { "", head }, true, print_name }, { { "", "JOBS" }, false, print_jobs }, \
			{ { "", "KEYS" }, false, print_keys },                             \
			{ { "CHOSEN", "%" }, false, print_chosen }, TIME_COLUMNS           \
	}

#define GROUP_COLUMNS 7

static const struct nt_column columns[][GROUP_COLUMNS] = {
	[NT_BY_CLUSTER] = JOB_COLUMNS("CLUSTER"),
	[NT_BY_PARTITION] = JOB_COLUMNS("PARTITION"),
	[NT_BY_ACCOUNT] = JOB_COLUMNS("ACCOUNT"),
	[NT_BY_FINGERPRINT] = JOB_COLUMNS("FINGERPRINT"),
	[NT_BY_COLLECTIVE] = KEY_COLUMNS("COLLECTIVE"),
	[NT_BY_SIZE] = KEY_COLUMNS("SIZE"),
};

/* Groups in which a record counts. */
static int print_groups(FILE *out, const struct nt_tally *tally, enum nt_tally_by by,
			struct nt_error *err)
{
	const struct nt_tally_groups *groups = &tally->by[by];
	const struct nt_table table = { columns[by], GROUP_COLUMNS, sizeof(struct line), 0 };
	struct line lines[LINES_MAX];
	size_t count = 0, more = 0;

	for (size_t i = 0; i < groups->names.count; i++) {
		struct line line = { &groups->group[i], tally->by[NT_BY_CLUSTER].names.count > 1 };

		if (nt_tally_recorded(&line.group->sum) == 0)
			continue;
		if (count < LINES_MAX)
			lines[count++] = line;
		else
			more++;
	}
	if (count == 0)
		return 0;
	fputc('\n', out);
	if (nt_table_print(out, &table, lines, count, err) < 0)
		return -1;
	if (more > 0)
		fprintf(out, "... and %zu more (--json or --csv has all)\n", more);
	return 0;
}

/* ---- jobs */

static void print_job(char *cell, const void *job)
{
	nt_tally_name_cell(cell, "", ((const struct nt_tally_job *)job)->label, 20);
}

static void print_job_cluster(char *cell, const void *job)
{
	const struct nt_tally_job *it = job;

	nt_tally_name_cell(cell, it->cluster, it->partition, NAME_WIDTH);
}

static void print_job_user(char *cell, const void *job)
{
	nt_tally_name_cell(cell, "", ((const struct nt_tally_job *)job)->user, 12);
}

static void print_job_saved(char *cell, const void *job)
{
	nt_tally_time_cell(cell, ((const struct nt_tally_job *)job)->saved_us);
}

static void print_job_spent(char *cell, const void *job)
{
	nt_tally_time_cell(cell, ((const struct nt_tally_job *)job)->spent_us);
}

static void print_job_net(char *cell, const void *job)
{
	const struct nt_tally_job *it = job;

	nt_tally_time_cell(cell, it->saved_us - it->spent_us);
}

static int print_top(FILE *out, const struct nt_tally_top *top, const char *title,
		     struct nt_error *err)
{
	static const struct nt_column job_columns[] = {
		{ { "", "JOB" }, true, print_job },
		{ { "", "USER" }, true, print_job_user },
		{ { "CLUSTER/", "PARTITION" }, true, print_job_cluster },
		{ { "", "SAVED" }, false, print_job_saved },
		{ { "", "SPENT" }, false, print_job_spent },
		{ { "", "NET" }, false, print_job_net },
	};
	const struct nt_table table = { job_columns, sizeof(job_columns) / sizeof(job_columns[0]),
					sizeof(struct nt_tally_job), 0 };

	if (top->count == 0)
		return 0;
	fprintf(out, "\n%s\n", title);
	return nt_table_print(out, &table, top->job, top->count, err);
}

/* ---- the head */

static void print_moment(FILE *out, int64_t when_s)
{
	time_t when = (time_t)when_s;
	struct tm local;
	char text[32];

	localtime_r(&when, &local);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local);
	fputs(text, out);
}

static void print_outcomes(FILE *out, const struct nt_tally_sum *total, int64_t all, int from,
			   int to)
{
	static const char *const words[] = {
		[NT_JOB_RUNNING] = "have not ended: accounting has their records then",
		[NT_JOB_NO_RECORD] = "have no record",
		[NT_JOB_OTHER_TEXT] = "have no record, but another program's text in its place",
		[NT_JOB_USERS_WORD] = "have one where users may write: their word, left out",
		[NT_JOB_DAMAGED] = "have a damaged record, which is left out",
		[NT_JOB_IMPLAUSIBLE] = "claim more than they can have had, and are left out",
		[NT_JOB_NOT_TUNED] = "tuned nothing ('nccl-tune report JOB' says why)",
		[NT_JOB_OBSERVED] = "only observed",
		[NT_JOB_UNDECIDED] = "ended before anything was decided",
		[NT_JOB_NOTHING_TO_GAIN] = "have nothing to gain: NCCL's own choice is best",
		[NT_JOB_REMEMBERED] = "used what earlier jobs had found, and measured nothing",
		[NT_JOB_UNPAID] = "chose something faster, which has not paid for exploring",
		[NT_JOB_GAINED] = "gained more than exploring took",
	};

	for (int i = from; i < to; i++) {
		if (total->jobs[i] > 0)
			fprintf(out, "  %8" PRId64 "  %5.1f %%  %s\n", total->jobs[i],
				100.0 * (double)total->jobs[i] / (double)all, words[i]);
	}
}

static void print_times(FILE *out, const struct nt_tally_view *view,
			const struct nt_tally_sum *total)
{
	char saved[NT_CELL_MAX], spent[NT_CELL_MAX], net[NT_CELL_MAX], comm[NT_CELL_MAX];

	nt_tally_time_cell(saved, total->saved_us);
	nt_tally_time_cell(spent, total->spent_us);
	nt_tally_time_cell(net, total->saved_us - total->spent_us);
	nt_tally_time_cell(comm, total->comm_us);
	fprintf(out, "Net time saved: %s (saved %s, spent %s), as rank time:\n", net, saved, spent);
	fputs("what calls took, times the ranks of their communicator.\n", out);
	if (total->comm_us > 0)
		fprintf(out, "Collectives took %s, by the jobs that say it.\n", comm);
	if (view->tally->left_out > 0)
		fprintf(out, "%" PRId64 " collectives and reasons had no room in the records.\n",
			view->tally->left_out);
}

static void print_head(FILE *out, const struct nt_tally_view *view,
		       const struct nt_tally_sum *total)
{
	int64_t jobs = nt_tally_jobs(total), recorded = nt_tally_recorded(total);

	fprintf(out, "%" PRId64 " jobs ended from ", jobs - total->jobs[NT_JOB_RUNNING]);
	print_moment(out, view->since_s);
	fputs(" to ", out);
	print_moment(out, view->until_s);
	fputs(".\n", out);
	print_outcomes(out, total, jobs, NT_JOB_RUNNING, NT_JOB_NOT_TUNED);
	if (recorded == 0)
		return;
	fprintf(out, "%" PRId64 " of them, of %zu user%s, have a record. Of these\n", recorded,
		view->tally->users.count, view->tally->users.count == 1 ? "" : "s");
	print_outcomes(out, total, recorded, NT_JOB_NOT_TUNED, NT_JOB_OUTCOMES);
	print_times(out, view, total);
}

int nt_tally_text(FILE *out, const struct nt_tally_view *view, struct nt_error *err)
{
	const struct nt_tally *tally = view->tally;
	const struct nt_tally_sum total = nt_tally_total(tally);

	print_head(out, view, &total);
	if (nt_tally_recorded(&total) == 0)
		return 0;
	for (int by = NT_BY_PARTITION; by <= NT_BY_SIZE; by++) {
		if (print_groups(out, tally, (enum nt_tally_by)by, err) < 0)
			return -1;
	}
	nt_tally_reasons_text(out, tally);
	if (print_top(out, &tally->best, "The jobs that gained most:", err) < 0 ||
	    print_top(out, &tally->worst, "The jobs that lost most:", err) < 0)
		return -1;
	return nt_tally_profiles_text(out, &tally->speedups, err);
}

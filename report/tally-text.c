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

#define NAME_WIDTH 17 /* of a group; the rest of a line is numbers */
#define LINES_MAX 20 /* of a table; the others are in what programs read */

/* ---- cells */

/* As much of a name as there is room for. */
static void put_name(char *cell, const char *cluster, const char *name, size_t width)
{
	char all[2 * NT_CELL_MAX + 64];
	bool both = cluster[0] && name[0];

	snprintf(all, sizeof(all), "%s%s%s", cluster, both ? "/" : "", name);
	if (strlen(all) > width)
		memcpy(all + width - 2, "..", 3);
	snprintf(cell, NT_CELL_MAX, "%s", all[0] ? all : "-");
}

static void put_time(char *cell, int64_t us)
{
	if (llabs(us) >= INT64_C(3600000000000))
		snprintf(cell, NT_CELL_MAX, "%.0f h", (double)us / 3.6e9);
	else
		nt_duration_text((double)us / 1000, cell, NT_CELL_MAX);
}

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

	put_name(cell, it->several ? it->group->cluster : "", it->group->name, NAME_WIDTH);
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
	put_time(cell, SUM(line)->saved_us);
}

static void print_spent(char *cell, const void *line)
{
	put_time(cell, SUM(line)->spent_us);
}

static void print_net(char *cell, const void *line)
{
	put_time(cell, SUM(line)->saved_us - SUM(line)->spent_us);
}

#define TIME_COLUMNS                                          \
	{ { "", "SAVED" }, false, print_saved },              \
		{ { "", "SPENT" }, false, print_spent },      \
	{                                                     \
		{ "", "NET" }, false, print_net               \
	}
#define JOB_COLUMNS(head)                                                            \
	{                                                                            \
		{ { "", head }, true, print_name }, { { "", "JOBS" }, false, print_jobs },   \
			{ { "GAINED", "%" }, false, print_gained },                  \
			{ { "NOTHING", "TO GAIN %" }, false, print_nothing }, TIME_COLUMNS \
	}
#define KEY_COLUMNS(head)                                                            \
	{                                                                            \
		{ { "", head }, true, print_name }, { { "", "JOBS" }, false, print_jobs },   \
			{ { "", "KEYS" }, false, print_keys },                       \
			{ { "CHOSEN", "%" }, false, print_chosen }, TIME_COLUMNS     \
	}

#define GROUP_COLUMNS 7

static const struct nt_column columns[NT_TALLY_BYS][GROUP_COLUMNS] = {
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
	put_name(cell, "", ((const struct nt_tally_job *)job)->label, 20);
}

static void print_job_cluster(char *cell, const void *job)
{
	const struct nt_tally_job *it = job;

	put_name(cell, it->cluster, it->partition, NAME_WIDTH);
}

static void print_job_user(char *cell, const void *job)
{
	put_name(cell, "", ((const struct nt_tally_job *)job)->user, 12);
}

static void print_job_saved(char *cell, const void *job)
{
	put_time(cell, ((const struct nt_tally_job *)job)->saved_us);
}

static void print_job_spent(char *cell, const void *job)
{
	put_time(cell, ((const struct nt_tally_job *)job)->spent_us);
}

static void print_job_net(char *cell, const void *job)
{
	const struct nt_tally_job *it = job;

	put_time(cell, it->saved_us - it->spent_us);
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

/* ---- launch profiles */

struct profile {
	const struct nt_evidence *evidence;
	const struct nt_evidence_item *item;
};

#define ITEM(profile) (((const struct profile *)(profile))->item)

static const struct nt_evidence_place *place_of(const void *profile)
{
	return &((const struct profile *)profile)->evidence->place[ITEM(profile)->place];
}

static void print_profile(char *cell, const void *profile)
{
	put_name(cell, "", ITEM(profile)->profile, 16);
}

static void print_fingerprint(char *cell, const void *profile)
{
	put_name(cell, "", place_of(profile)->fingerprint, 16);
}

static void print_place(char *cell, const void *profile)
{
	snprintf(cell, NT_CELL_MAX, "%" PRId64 "x%" PRId64, place_of(profile)->nodes,
		 place_of(profile)->per_node);
}

static void print_measured(char *cell, const void *profile)
{
	nt_cell_count(cell, ITEM(profile)->jobs);
}

static void print_voices(char *cell, const void *profile)
{
	snprintf(cell, NT_CELL_MAX, "%zu%s", ITEM(profile)->voices,
		 ITEM(profile)->voices == NT_EVIDENCE_USERS ? "+" : "");
}

static void print_speed(char *cell, const void *profile)
{
	nt_cell_decimal(cell, nt_evidence_speed(ITEM(profile)), 2);
}

static void print_worth(char *cell, const void *profile)
{
	double us = nt_evidence_worth_us(((const struct profile *)profile)->evidence,
					 ITEM(profile));

	if (isnan(us))
		snprintf(cell, NT_CELL_MAX, "too few");
	else
		put_time(cell, (int64_t)us);
}

static void print_default_jobs(char *cell, const void *profile)
{
	nt_cell_count(cell, place_of(profile)->default_jobs);
}

static int print_profiles(FILE *out, const struct nt_evidence *evidence, struct nt_error *err)
{
	static const struct nt_column profile_columns[] = {
		{ { "", "PROFILE" }, true, print_profile },
		{ { "", "FINGERPRINT" }, true, print_fingerprint },
		{ { "NODES", "xRANKS" }, false, print_place },
		{ { "MEASURED", "BY JOBS" }, false, print_measured },
		{ { "", "USERS" }, false, print_voices },
		{ { "TIMES", "AS FAST" }, false, print_speed },
		{ { "JOBS", "WITHOUT" }, false, print_default_jobs },
		{ { "", "WORTH" }, false, print_worth },
	};
	const struct nt_table table = { profile_columns,
					sizeof(profile_columns) / sizeof(profile_columns[0]),
					sizeof(struct profile), 0 };
	const struct nt_evidence_item **items = nt_evidence_by_worth(evidence);
	struct profile lines[LINES_MAX];
	size_t count = evidence->item_names.count;

	if (!items)
		return nt_error_set(err, "no memory for the summary");
	for (size_t i = 0; i < count && i < LINES_MAX; i++)
		lines[i] = (struct profile){ evidence, items[i] };
	free(items);
	fprintf(out,
		"\nLaunch profiles, by jobs whose own steps were timed with and without one%s\n",
		count == 0 ? ": none did." : ".");
	if (count == 0)
		return 0;
	fprintf(out, "Worth: what the jobs without it, at the same place, would have taken less.\n"
		     "It is said where %d jobs or more have measured.\n",
		NT_EVIDENCE_JOBS);
	return nt_table_print(out, &table, lines, count < LINES_MAX ? count : LINES_MAX, err);
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

static void print_share(FILE *out, int64_t jobs, int64_t of, const char *what)
{
	if (jobs > 0)
		fprintf(out, "  %8" PRId64 "  %5.1f %%  %s\n", jobs,
			100.0 * (double)jobs / (double)of, what);
}

static void print_outcomes(FILE *out, const struct nt_tally_sum *total, const char *const *words,
			   int from, int to)
{
	for (int i = from; i < to; i++)
		print_share(out, total->jobs[i], nt_tally_jobs(total), words[i]);
}

static void print_head(FILE *out, const struct nt_tally_view *view,
		       const struct nt_tally_sum *total)
{
	static const char *const words[] = {
		[NT_JOB_RUNNING] = "have not ended: accounting has their records then",
		[NT_JOB_NO_RECORD] = "have no record",
		[NT_JOB_OTHER_TEXT] = "have no record, but another program's text in its place",
		[NT_JOB_DAMAGED] = "have a damaged record, which is left out",
		[NT_JOB_IMPLAUSIBLE] = "claim more than they can have had, and are left out",
		[NT_JOB_NOT_TUNED] = "measured no collective ('nccl-tune report JOB' says why)",
		[NT_JOB_OBSERVED] = "only observed",
		[NT_JOB_UNDECIDED] = "ended before anything was decided",
		[NT_JOB_NOTHING_TO_GAIN] = "have nothing to gain: NCCL's own choice is best",
		[NT_JOB_UNPAID] = "chose something faster, which has not paid for exploring",
		[NT_JOB_GAINED] = "gained more than exploring took",
	};
	char saved[NT_CELL_MAX], spent[NT_CELL_MAX], net[NT_CELL_MAX];

	fprintf(out, "%" PRId64 " jobs ended from ", nt_tally_jobs(total) - total->jobs[0]);
	print_moment(out, view->since_s);
	fputs(" to ", out);
	print_moment(out, view->until_s);
	fputs(".\n", out);
	print_outcomes(out, total, words, NT_JOB_NOT_TUNED, NT_JOB_OUTCOMES);
	print_outcomes(out, total, words, NT_JOB_RUNNING, NT_JOB_NOT_TUNED);
	if (nt_tally_recorded(total) == 0)
		return;
	put_time(saved, total->saved_us);
	put_time(spent, total->spent_us);
	put_time(net, total->saved_us - total->spent_us);
	fprintf(out,
		"Of %zu user%s. Net time saved: %s (saved %s, spent %s), as rank time:\n"
		"what calls took, times the ranks of their communicator.\n",
		view->tally->users.count, view->tally->users.count == 1 ? "" : "s", net, saved,
		spent);
	if (view->tally->left_out > 0)
		fprintf(out, "%" PRId64 " collectives and reasons had no room in the records.\n",
			view->tally->left_out);
}

int nt_tally_text(FILE *out, const struct nt_tally_view *view, struct nt_error *err)
{
	const struct nt_tally *tally = view->tally;
	const struct nt_tally_sum total = nt_tally_total(tally);

	print_head(out, view, &total);
	if (nt_tally_recorded(&total) == 0)
		return 0;
	for (int by = NT_BY_PARTITION; by < NT_TALLY_BYS; by++) {
		if (print_groups(out, tally, (enum nt_tally_by)by, err) < 0)
			return -1;
	}
	if (print_top(out, &tally->best, "The jobs that gained most:", err) < 0 ||
	    print_top(out, &tally->worst, "The jobs that lost most:", err) < 0)
		return -1;
	return print_profiles(out, &tally->evidence, err);
}

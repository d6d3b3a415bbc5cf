/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Totals over many jobs as text of 80 columns. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/plural.h"
#include "lib/table.h"

#define NAME_WIDTH 17 /* of a class */
#define LINES_MAX 20 /* of a table; --json has all */

/* ---- classes */

/* The name, cut to width, behind its cluster unless that is "". */
static void add_name(struct nt_table *table, const char *cluster, const char *name, size_t width)
{
	char all[2 * NT_CELL_MAX + 64];
	bool both = cluster[0] && name[0];

	snprintf(all, sizeof(all), "%s%s%s", cluster, both ? "/" : "", name);
	if (strlen(all) > width)
		memcpy(all + width - 2, "..", 3);
	nt_cell(table, "%s", all[0] ? all : "-");
}

static const char *time_text(int64_t us, char *out, size_t out_bytes)
{
	if (llabs(us) >= INT64_C(3600000000000))
		snprintf(out, out_bytes, "%.0f h", (double)us / 3.6e9);
	else
		nt_duration_text((double)us / 1000, out, out_bytes);
	return out;
}

/* Saved, spent and net time. */
static void add_times(struct nt_table *table, int64_t saved_us, int64_t spent_us)
{
	const int64_t us[] = { saved_us, spent_us, saved_us - spent_us };
	char text[NT_CELL_MAX];

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
		nt_cell(table, "%s", time_text(us[i], text, sizeof(text)));
}

static void add_percent(struct nt_table *table, int64_t part, int64_t whole)
{
	nt_cell_decimal(table, whole > 0 ? 100.0 * (double)part / (double)whole : NAN, 1);
}

static void add_class(struct nt_table *table, const struct nt_site_stats_class *class,
		      const char *cluster)
{
	const struct nt_site_stats_sum *sum = &class->sum;
	const int64_t recorded = nt_site_stats_recorded(sum);

	add_name(table, cluster, class->name, NAME_WIDTH);
	nt_cell_count(table, recorded);
	add_percent(table, sum->jobs[NT_JOB_GAINED], recorded);
	add_percent(table, sum->jobs[NT_JOB_NOTHING_TO_GAIN], recorded);
	add_times(table, sum->saved_us, sum->spent_us);
}

/* Only classes with a record that counts. */
static int print_classes(FILE *out, const struct nt_site_stats *tally, enum nt_site_stats_by by,
			 struct nt_error *err)
{
	static const char *const heads[] = {
		[NT_BY_PARTITION] = "-PARTITION",
		[NT_BY_USER] = "-USER",
		[NT_BY_NCCL] = "-NCCL",
	};
	const struct nt_site_stats_classes *classes = &tally->by[by];
	const bool several = tally->by[NT_BY_CLUSTER].names.count > 1;
	const char *const columns[] = { heads[by], "JOBS",  "GAINED\n%", "NOTHING\nTO GAIN %",
					"SAVED",   "SPENT", "NET" };
	struct nt_table table = NT_TABLE(columns, 0);
	size_t count = 0, more = 0;

	for (size_t i = 0; i < classes->names.count; i++) {
		const struct nt_site_stats_class *class = &classes->class[i];

		if (nt_site_stats_recorded(&class->sum) == 0)
			continue;
		if (count == LINES_MAX) {
			more++;
			continue;
		}
		count++;
		add_class(&table, class, several ? class->cluster : "");
	}
	if (count == 0)
		return 0;
	fputc('\n', out);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	if (more > 0)
		fprintf(out, "... and %zu more (--json has all)\n", more);
	return 0;
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

static void print_outcomes(FILE *out, const struct nt_site_stats_sum *total, int64_t all, int from,
			   int to)
{
	static const char *const words[] = {
		[NT_JOB_RUNNING] = "have not ended; accounting gets their records then",
		[NT_JOB_NO_RECORD] = "have no record",
		[NT_JOB_OTHER_TEXT] = "have another program's text instead of a record",
		[NT_JOB_DAMAGED] = "have a damaged record (ignored)",
		[NT_JOB_IMPLAUSIBLE] = "have an implausible record (ignored)",
		[NT_JOB_NOT_TUNED] = "tuned nothing ('nccl-tune report JOB' says why)",
		[NT_JOB_OBSERVED] = "only observed",
		[NT_JOB_UNDECIDED] = "ended before anything was decided",
		[NT_JOB_NOTHING_TO_GAIN] = "have nothing to gain: NCCL's choice is best",
		[NT_JOB_REMEMBERED] = "used results of earlier jobs and measured nothing",
		[NT_JOB_UNPAID] = "found something faster, but saved less than exploring cost",
		[NT_JOB_GAINED] = "saved more than exploring cost",
	};

	for (int i = from; i < to; i++) {
		if (total->jobs[i] > 0)
			fprintf(out, "  %8" PRId64 "  %5.1f %%  %s\n", total->jobs[i],
				100.0 * (double)total->jobs[i] / (double)all, words[i]);
	}
}

static void print_times(FILE *out, const struct nt_site_stats_view *view,
			const struct nt_site_stats_sum *total)
{
	char saved[32], spent[32], net[32], comm[32], launch[32];

	time_text(total->saved_us, saved, sizeof(saved));
	time_text(total->spent_us, spent, sizeof(spent));
	time_text(total->saved_us - total->spent_us, net, sizeof(net));
	time_text(total->comm_us, comm, sizeof(comm));
	fprintf(out, "Net time saved: %s (saved %s, spent %s).\n", net, saved, spent);
	if (total->launch_us != 0)
		fprintf(out, "Launch profiles account for %s of it.\n",
			time_text(total->launch_us, launch, sizeof(launch)));
	if (total->calibration_us != 0)
		fprintf(out, "Calibrations account for %s of what was spent.\n",
			time_text(total->calibration_us, launch, sizeof(launch)));
	fputs("These are rank times: time of calls, times the ranks of their communicator.\n", out);
	if (total->comm_us > 0)
		fprintf(out,
			"Collectives took at least %s: what was measured of calls' own times.\n",
			comm);
	if (view->tally->left_out > 0)
		fprintf(out, "%" PRId64 " collectives and reasons did not fit into the records.\n",
			view->tally->left_out);
}

static void print_head(FILE *out, const struct nt_site_stats_view *view,
		       const struct nt_site_stats_sum *total)
{
	int64_t jobs = nt_site_stats_jobs(total), recorded = nt_site_stats_recorded(total);
	const int64_t ended = jobs - total->jobs[NT_JOB_RUNNING];

	fprintf(out, "%" PRId64 " job%s ended from ", ended, nt_plural(ended));
	print_moment(out, view->since_s);
	fputs(" to ", out);
	print_moment(out, view->until_s);
	fputs(".\n", out);
	print_outcomes(out, total, jobs, NT_JOB_RUNNING, NT_JOB_NOT_TUNED);
	if (recorded == 0)
		return;
	fprintf(out, "%" PRId64 " of them, of %zu user%s, %s a record. Of these\n", recorded,
		view->tally->users.count, nt_plural(view->tally->users.count),
		recorded == 1 ? "has" : "have");
	print_outcomes(out, total, recorded, NT_JOB_NOT_TUNED, NT_JOB_OUTCOMES);
	print_times(out, view, total);
}

int nt_site_stats_text(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err)
{
	const struct nt_site_stats *tally = view->tally;
	const struct nt_site_stats_sum total = nt_site_stats_total(tally);

	print_head(out, view, &total);
	if (nt_site_stats_recorded(&total) == 0)
		return 0;
	for (int by = NT_BY_PARTITION; by <= NT_BY_NCCL; by++) {
		if (print_classes(out, tally, (enum nt_site_stats_by)by, err) < 0)
			return -1;
	}
	return 0;
}

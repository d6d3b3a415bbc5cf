/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Totals over many jobs as comma-separated values. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "report/metrics/csv.h"

static void put_text(FILE *out, const char *text)
{
	nt_values_put_text(out, text, true);
}

static void put_seconds(FILE *out, double us)
{
	if (isnan(us))
		fputc(',', out);
	else
		fprintf(out, ",%.6f", us / 1e6);
}

static void put_times(FILE *out, int64_t saved_us, int64_t spent_us)
{
	put_seconds(out, (double)saved_us);
	put_seconds(out, (double)spent_us);
	put_seconds(out, (double)(saved_us - spent_us));
}

static void put_group(FILE *out, enum nt_site_stats_by by, const struct nt_site_stats_group *group)
{
	const struct nt_site_stats_sum *sum = &group->sum;

	fprintf(out, "%s,", nt_site_stats_by_name(by));
	put_text(out, group->cluster);
	fputc(',', out);
	put_text(out, group->name);
	fprintf(out, ",,%" PRId64, nt_site_stats_recorded(sum));
	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		fprintf(out, ",%" PRId64, sum->jobs[i]);
	fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, sum->keys, sum->decided,
		sum->chosen, sum->calls);
	put_times(out, sum->saved_us, sum->spent_us);
	put_seconds(out, (double)sum->comm_us);
	fputs(",,,", out);
	put_seconds(out, (double)sum->launch_us);
	put_seconds(out, (double)sum->calibration_us);
	fputc('\n', out);
}

static void skip(FILE *out, int columns)
{
	while (columns-- > 0)
		fputc(',', out);
}

static void put_top(FILE *out, const char *what, const struct nt_site_stats_top *top)
{
	for (size_t i = 0; i < top->count; i++) {
		const struct nt_site_stats_job *job = &top->job[i];

		fprintf(out, "%s,", what);
		put_text(out, job->cluster);
		fputc(',', out);
		put_text(out, job->label);
		fputc(',', out);
		put_text(out, job->user);
		fputs(",1", out);
		skip(out, NT_JOB_OUTCOMES + 4);
		put_times(out, job->saved_us, job->spent_us);
		fputs(",,,,,,\n", out);
	}
}

static void put_profile(FILE *out, const struct nt_speedups *speedups,
			const struct nt_speedup_item *item)
{
	const struct nt_speedup_place *place = &speedups->place[item->place];

	fputs("launch_profile,", out);
	put_text(out, place->cluster);
	fputc(',', out);
	put_text(out, item->profile);
	fprintf(out, ",\"%s %s %" PRId64 "x%" PRId64 "\",%" PRId64, place->fingerprint,
		place->fabric, place->nodes, place->per_node, item->jobs);
	skip(out, NT_JOB_OUTCOMES + 4 + 4);
	fprintf(out, ",%.3f", nt_speedup_of(item));
	put_seconds(out, (double)place->default_us);
	put_seconds(out, nt_speedup_worth_us(speedups, item));
	fputs(",,\n", out);
}

int nt_site_stats_csv(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err)
{
	const struct nt_site_stats *tally = view->tally;
	const struct nt_speedup_item **items = nt_speedup_by_worth(&tally->speedups);

	if (!items)
		return nt_error_set(err, "no memory for the summary");
	fputs("what,cluster,name,whose,jobs_with_record", out);
	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		fprintf(out, ",%s", nt_job_outcome_name((enum nt_job_outcome)i));
	fputs(",keys,decided,chosen,calls,saved_rank_s,spent_rank_s,net_rank_s,comm_rank_s,"
	      "times_as_fast,default_rank_s,worth_rank_s,launch_saved_rank_s,"
	      "calibration_rank_s\n",
	      out);
	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		for (size_t i = 0; i < tally->by[by].names.count; i++)
			put_group(out, (enum nt_site_stats_by)by, &tally->by[by].group[i]);
	}
	put_top(out, "best", &tally->best);
	put_top(out, "worst", &tally->worst);
	for (size_t i = 0; i < tally->speedups.item_names.count; i++)
		put_profile(out, &tally->speedups, items[i]);
	free(items);
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Totals over many jobs for Prometheus' textfile collector. Labels have the names that NCCL's
 * Inspector uses (cluster, collective, message_size, n_nodes), if it has them. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "report/metrics/prometheus.h"

/* Each way to group has metrics of its own, so that the sum of a metric counts nothing twice. */
static const struct {
	const char *name, *help;
	size_t offset;
	double unit;
	bool of_steps; /* not known by collective or size */
} metrics[] = {
	{ "saved_rank_seconds",
	  "Time saved by choices other than NCCL's and by launch profiles, times ranks",
	  offsetof(struct nt_site_stats_sum, saved_us), 1e6, false },
	{ "launch_saved_rank_seconds",
	  "Of it, time saved by launch profiles, by the programs' own steps, times ranks",
	  offsetof(struct nt_site_stats_sum, launch_us), 1e6, true },
	{ "spent_rank_seconds", "Time that exploring and calibrations took, times ranks",
	  offsetof(struct nt_site_stats_sum, spent_us), 1e6, false },
	{ "calibration_rank_seconds", "Of it, time that calibrations took, times ranks",
	  offsetof(struct nt_site_stats_sum, calibration_us), 1e6, true },
	{ "comm_rank_seconds",
	  "Time in collectives, times ranks, as far as calls' own times were measured",
	  offsetof(struct nt_site_stats_sum, comm_us), 1e6, true },
	{ "calls", "Calls of collectives", offsetof(struct nt_site_stats_sum, calls), 1, false },
	{ "keys", "Collectives and sizes of communicators",
	  offsetof(struct nt_site_stats_sum, keys), 1, false },
	{ "decided_keys", "Keys that were decided", offsetof(struct nt_site_stats_sum, decided), 1,
	  false },
	{ "chosen_keys", "Keys for which a choice other than NCCL's was made",
	  offsetof(struct nt_site_stats_sum, chosen), 1, false },
};

static void put_group_labels(FILE *out, enum nt_site_stats_by by,
			     const struct nt_site_stats_group *group)
{
	nt_metric_label(out, "{", "cluster", group->cluster);
	if (by != NT_BY_CLUSTER)
		nt_metric_label(out, ",", nt_site_stats_by_name(by), group->name);
}

static void put_jobs(FILE *out, enum nt_site_stats_by by, const struct nt_site_stats_groups *groups)
{
	char name[64];

	snprintf(name, sizeof(name), "nccl_tune_%s_jobs", nt_site_stats_by_name(by));
	nt_metric_head(out, name, "Jobs by outcome; a job may be in several groups");
	for (size_t i = 0; i < groups->names.count; i++) {
		if (by > NT_BY_FINGERPRINT) {
			fputs(name, out);
			put_group_labels(out, by, &groups->group[i]);
			fprintf(out, "} %" PRId64 "\n",
				nt_site_stats_recorded(&groups->group[i].sum));
			continue;
		}
		for (int j = 0; j < NT_JOB_OUTCOMES; j++) {
			fputs(name, out);
			put_group_labels(out, by, &groups->group[i]);
			nt_metric_label(out, ",", "outcome",
					nt_job_outcome_name((enum nt_job_outcome)j));
			fprintf(out, "} %" PRId64 "\n", groups->group[i].sum.jobs[j]);
		}
	}
}

static void put_metric(FILE *out, enum nt_site_stats_by by,
		       const struct nt_site_stats_groups *groups, size_t metric)
{
	char name[80];

	if (by > NT_BY_FINGERPRINT && metrics[metric].of_steps)
		return;
	snprintf(name, sizeof(name), "nccl_tune_%s_%s", nt_site_stats_by_name(by),
		 metrics[metric].name);
	nt_metric_head(out, name, metrics[metric].help);
	for (size_t i = 0; i < groups->names.count; i++) {
		const char *sum = (const char *)&groups->group[i].sum;
		int64_t value = *(const int64_t *)(const void *)(sum + metrics[metric].offset);

		fputs(name, out);
		put_group_labels(out, by, &groups->group[i]);
		fprintf(out, "} %.*f\n", metrics[metric].unit == 1 ? 0 : 6,
			(double)value / metrics[metric].unit);
	}
}

static void put_profile(FILE *out, const char *name, const struct nt_speedups *speedups,
			const struct nt_speedup_item *item, double value)
{
	const struct nt_speedup_place *place = &speedups->place[item->place];

	if (isnan(value))
		return;
	fputs(name, out);
	nt_metric_label(out, "{", "cluster", place->cluster);
	nt_metric_label(out, ",", "launch_profile", item->profile);
	nt_metric_label(out, ",", "fingerprint", place->fingerprint);
	nt_metric_label(out, ",", "fabric", place->fabric);
	fprintf(out, ",n_nodes=\"%" PRId64 "\",ranks_per_node=\"%" PRId64 "\"} %.6g\n",
		place->nodes, place->per_node, value);
}

static int put_profiles(FILE *out, const struct nt_speedups *speedups, struct nt_error *err)
{
	static const struct {
		const char *name, *help;
	} told[] = {
		{ "nccl_tune_profile_measured_jobs", "Jobs that measured the launch profile" },
		{ "nccl_tune_profile_speed_ratio",
		  "Speed relative to NCCL's default, by the programs' own steps" },
		{ "nccl_tune_profile_worth_rank_seconds",
		  "Time that jobs without the profile would have saved, times ranks" },
	};
	const struct nt_speedup_item **items = nt_speedup_by_worth(speedups);

	if (!items)
		return nt_error_set(err, "no memory for the summary");
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		nt_metric_head(out, told[i].name, told[i].help);
		for (size_t j = 0; j < speedups->item_names.count; j++) {
			const double values[] = { (double)items[j]->jobs, nt_speedup_of(items[j]),
						  nt_speedup_worth_us(speedups, items[j]) / 1e6 };

			if (items[j]->jobs >= NT_SPEEDUP_JOBS)
				put_profile(out, told[i].name, speedups, items[j], values[i]);
		}
	}
	free(items);
	return 0;
}

int nt_site_stats_prometheus(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err)
{
	const struct nt_site_stats *tally = view->tally;

	nt_metric_head(out, "nccl_tune_since_timestamp_seconds", "Jobs that ended from then on");
	fprintf(out, "nccl_tune_since_timestamp_seconds %" PRId64 "\n", view->since_s);
	nt_metric_head(out, "nccl_tune_until_timestamp_seconds", "and before");
	fprintf(out, "nccl_tune_until_timestamp_seconds %" PRId64 "\n", view->until_s);
	nt_metric_head(out, "nccl_tune_users", "Users who have a job with a record");
	fprintf(out, "nccl_tune_users %zu\n", tally->users.count);
	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		put_jobs(out, (enum nt_site_stats_by)by, &tally->by[by]);
		for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
			put_metric(out, (enum nt_site_stats_by)by, &tally->by[by], i);
	}
	return put_profiles(out, &tally->speedups, err);
}

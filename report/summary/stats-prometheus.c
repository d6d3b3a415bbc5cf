/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Totals over many jobs for Prometheus' textfile collector. Labels have the names that NCCL's
 * Inspector uses, if it has them. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "report/metrics/prometheus.h"

/* Each way to classify has metrics of its own, so that the sum of a metric counts nothing twice. */
static const struct {
	const char *name, *help;
	size_t offset;
	double unit;
} metrics[] = {
	{ "saved_rank_seconds",
	  "Time saved by choices other than NCCL's and by launch profiles, times ranks",
	  offsetof(struct nt_site_stats_sum, saved_us), 1e6 },
	{ "launch_saved_rank_seconds",
	  "Of it, time saved by launch profiles, by the programs' own steps, times ranks",
	  offsetof(struct nt_site_stats_sum, launch_us), 1e6 },
	{ "spent_rank_seconds", "Time that exploring and calibrations took, times ranks",
	  offsetof(struct nt_site_stats_sum, spent_us), 1e6 },
	{ "calibration_rank_seconds", "Of it, time that calibrations took, times ranks",
	  offsetof(struct nt_site_stats_sum, calibration_us), 1e6 },
	{ "comm_rank_seconds",
	  "Time in collectives, times ranks, as far as calls' own times were measured",
	  offsetof(struct nt_site_stats_sum, comm_us), 1e6 },
	{ "calls", "Calls of collectives", offsetof(struct nt_site_stats_sum, calls), 1 },
	{ "keys", "Collectives and sizes of communicators",
	  offsetof(struct nt_site_stats_sum, keys), 1 },
	{
		"decided_keys",
		"Keys that were decided",
		offsetof(struct nt_site_stats_sum, decided),
		1,
	},
	{ "chosen_keys", "Keys for which a choice other than NCCL's was made",
	  offsetof(struct nt_site_stats_sum, chosen), 1 },
};

static void put_class_labels(FILE *out, enum nt_site_stats_by by,
			     const struct nt_site_stats_class *class)
{
	nt_metric_label(out, "{", "cluster", class->cluster);
	if (by != NT_BY_CLUSTER)
		nt_metric_label(out, ",", nt_site_stats_by_name(by), class->name);
}

static void put_jobs(FILE *out, enum nt_site_stats_by by,
		     const struct nt_site_stats_classes *classes)
{
	char name[64];

	snprintf(name, sizeof(name), "nccl_tune_%s_jobs", nt_site_stats_by_name(by));
	nt_metric_head(out, name, "Jobs by outcome; a job may be in several");
	for (size_t i = 0; i < classes->names.count; i++) {
		for (int j = 0; j < NT_JOB_OUTCOMES; j++) {
			fputs(name, out);
			put_class_labels(out, by, &classes->class[i]);
			nt_metric_label(out, ",", "outcome",
					nt_job_outcome_name((enum nt_job_outcome)j));
			fprintf(out, "} %" PRId64 "\n", classes->class[i].sum.jobs[j]);
		}
	}
}

static void put_metric(FILE *out, enum nt_site_stats_by by,
		       const struct nt_site_stats_classes *classes, size_t metric)
{
	char name[80];

	snprintf(name, sizeof(name), "nccl_tune_%s_%s", nt_site_stats_by_name(by),
		 metrics[metric].name);
	nt_metric_head(out, name, metrics[metric].help);
	for (size_t i = 0; i < classes->names.count; i++) {
		const char *sum = (const char *)&classes->class[i].sum;
		int64_t value = *(const int64_t *)(const void *)(sum + metrics[metric].offset);

		fputs(name, out);
		put_class_labels(out, by, &classes->class[i]);
		fprintf(out, "} %.*f\n", metrics[metric].unit == 1 ? 0 : 6,
			(double)value / metrics[metric].unit);
	}
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
	(void)err;
	return 0;
}

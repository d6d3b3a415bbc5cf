/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/prometheus.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/array.h"
#include "lib/compare.h"
#include "report/model/job-figures.h"
#include "report/text/row-text.h"
#include "report/model/row-time.h"

enum metric {
	METRIC_CALL,
	METRIC_PERIOD,
	METRIC_BUSBW,
	METRIC_GAIN,
	METRIC_CALLS,
	METRIC_SPENT,
	METRIC_SAVED,
	METRIC_DECISION,
	METRIC_UNTUNED,
	METRIC_STEP,
	METRIC_OWN_STEP,
	METRIC_NET,
	METRIC_LAUNCH,
	METRIC_CALIBRATION,
	METRIC_WAITING,
	METRIC_LATE,
	METRIC_FINDING,
	METRIC_DAMAGED,
};

/* All are gauges: a job that ended leaves the file. */
static const struct {
	const char *name, *help;
} metrics[] = {
	[METRIC_CALL] = { "nccl_tune_call_seconds",
			  "Median time of a call, from its start to its end on the slowest rank." },
	[METRIC_PERIOD] = { "nccl_tune_period_seconds",
			    "Median time from one call to the next of its kind." },
	[METRIC_BUSBW] = { "nccl_tune_bus_bandwidth_gbs",
			   "Bus bandwidth of a call in GB/s, as nccl-tests defines it." },
	[METRIC_GAIN] = { "nccl_tune_gain_ratio",
			  "Fraction of a call's time with NCCL's choice that the chosen one "
			  "saves." },
	[METRIC_CALLS] = { "nccl_tune_calls", "Calls made." },
	[METRIC_SPENT] = { "nccl_tune_spent_seconds", "Time that exploring cost." },
	[METRIC_SAVED] = { "nccl_tune_saved_seconds", "Time saved by choices other than NCCL's." },
	[METRIC_DECISION] = { "nccl_tune_decision",
			      "Always 1; labels: decision on a collective and size, and its "
			      "reason." },
	[METRIC_UNTUNED] = { "nccl_tune_untuned",
			     "Reasons why communicators or steps were not tuned." },
	[METRIC_STEP] = { "nccl_tune_step_info", "Always 1; labels: settings of a step." },
	[METRIC_OWN_STEP] = { "nccl_tune_program_step_seconds",
			      "Time of the program's own step; label with: the launch profile, or "
			      "NCCL's own settings." },
	[METRIC_NET] = { "nccl_tune_net_saved_seconds",
			 "What the job saved less what exploring and calibrating cost it." },
	[METRIC_LAUNCH] = { "nccl_tune_launch_saved_seconds",
			    "Time that the launch profile saved, by the program's own steps." },
	[METRIC_CALIBRATION] = { "nccl_tune_calibration_seconds",
				 "Time that a step of a calibration took, which is its only cost "
				 "and gain." },
	[METRIC_WAITING] = { "nccl_tune_waiting_ratio",
			     "Fraction of the time in measured calls that ranks waited for the "
			     "last one." },
	[METRIC_LATE] = { "nccl_tune_late_calls_ratio",
			  "Fraction of the calls in which this rank or node came last; only of one "
			  "that others wait for." },
	[METRIC_FINDING] = { "nccl_tune_finding",
			     "Findings on the set-up of steps, by code and node." },
	[METRIC_DAMAGED] = { "nccl_tune_record_damaged", "1 if the job's record is damaged." },
};

struct nt_metric {
	enum metric metric;
	char *labels;
	double value;
};

struct sample_adder {
	struct nt_samples *samples;
	bool no_memory;
};

void nt_metric_head(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

void nt_metric_label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", before, name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

/* "256-384KB" */
static void put_message_size(FILE *out, size_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double low = (double)bytes, high = (double)nt_band_floor(nt_band(bytes) + 1);
	int unit = 0;

	for (; low >= 1024 && unit < 4; unit++) {
		low /= 1024;
		high /= 1024;
	}
	fprintf(out, ",message_size=\"%.4g-%.4g%s\"", low, high, units[unit]);
}

struct subject {
	const char *job;
	const struct nt_job_seen *seen;
	const struct nt_step *step;
	const struct nt_key *row; /* NULL: of the step */
	const struct nt_family *family;
};

struct label {
	const char *name, *value;
};

static void put_subject(FILE *out, const struct subject *subject)
{
	const struct nt_key *row = subject->row;

	nt_metric_label(out, "", "version", PACKAGE_VERSION);
	nt_metric_label(out, ",", "slurm_job_id", subject->job ? subject->job : "unknown");
	if (subject->seen->cluster[0])
		nt_metric_label(out, ",", "cluster", subject->seen->cluster);
	if (subject->seen->user[0])
		nt_metric_label(out, ",", "user", subject->seen->user);
	if (subject->seen->partition[0])
		nt_metric_label(out, ",", "partition", subject->seen->partition);
	if (subject->step)
		nt_metric_label(out, ",", "slurm_step_id", subject->step->name);
	if (!row)
		return;
	nt_metric_label(out, ",", "comm_name",
			subject->family->name[0] ? subject->family->name : "unknown");
	fprintf(out, ",n_nodes=\"%" PRIu32 "\",nranks=\"%" PRIu32 "\"", row->nodes, row->ranks);
	nt_metric_label(out, ",", "collective", nt_coll_name(row->coll));
	put_message_size(out, row->bytes);
}

/* The labels of a sample; NULL: no memory. more ends with a NULL name. */
static char *labels_of(const struct subject *subject, const struct label *more)
{
	char *labels = NULL;
	size_t bytes;
	FILE *out = open_memstream(&labels, &bytes);

	if (!out)
		return NULL;
	put_subject(out, subject);
	for (; more->name; more++)
		nt_metric_label(out, ",", more->name, more->value);
	fclose(out);
	return labels;
}

/* No sample if the value is unknown. */
static void add(struct sample_adder *adder, const struct subject *subject, enum metric metric,
		double value, const struct label *more)
{
	struct nt_samples *samples = adder->samples;
	struct nt_metric *added;
	char *labels;

	if (isnan(value))
		return;
	labels = labels_of(subject, more);
	added = labels ? nt_array_add(&samples->items, &samples->count, SIZE_MAX, sizeof(*added))
		       : NULL;
	if (!added) {
		adder->no_memory = true;
		free(labels);
		return;
	}
	*added = (struct nt_metric){ metric, labels, value };
}

static void add_plain(struct sample_adder *adder, const struct subject *subject, enum metric metric,
		      double value)
{
	add(adder, subject, metric, value, &(struct label){ NULL, NULL });
}

static void add_side(struct sample_adder *adder, const struct subject *subject, enum nt_which side)
{
	const struct nt_key *row = subject->row;
	char name[NT_ARM_TEXT];
	const struct label more[] = {
		{ "algo_proto", name },
		{ "choice", side == NT_OF_AUTO ? "nccl" : "chosen" },
		{ NULL, NULL },
	};

	if (side == NT_OF_ARM && !nt_row_is_tuned(row))
		return;
	/* "RING_SIMPLE": as the Inspector joins them. */
	snprintf(name, sizeof(name), "%s",
		 nt_arm_name(side == NT_OF_AUTO ? row->auto_arm : row->arm));
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '_' : *c;
	add(adder, subject, METRIC_CALL, nt_row_own_us(row, side) / 1e6, more);
	add(adder, subject, METRIC_PERIOD, row->period_us[side] / 1e6, more);
	add(adder, subject, METRIC_BUSBW, nt_row_busbw(row, side), more);
}

static void add_row(struct sample_adder *adder, const struct subject *subject)
{
	const struct nt_key *row = subject->row;

	add_side(adder, subject, NT_OF_AUTO);
	add_side(adder, subject, NT_OF_ARM);
	if (nt_row_is_tuned(row) && nt_row_duration_known(row))
		add_plain(adder, subject, METRIC_GAIN, nt_row_gain(row) / 100);
	add_plain(adder, subject, METRIC_CALLS, row->calls >= 0 ? (double)row->calls : NAN);
	add_plain(adder, subject, METRIC_SPENT, row->spent_ms / 1e3);
	add_plain(adder, subject, METRIC_SAVED, row->saved_ms / 1e3);
	add(adder, subject, METRIC_DECISION, 1,
	    (struct label[]){ { "state", nt_keystate_name(row->state) },
			      { "reason", nt_reason_code(nt_row_reason(row)) },
			      { NULL, NULL } });
}

static void add_late(struct sample_adder *adder, const struct subject *subject)
{
	const struct nt_step *step = subject->step;
	char rank[24] = "";

	if (!step->late_node[0])
		return;
	if (step->late_rank >= 0)
		snprintf(rank, sizeof(rank), "%" PRId64, step->late_rank);
	add(adder, subject, METRIC_LATE, step->late_calls,
	    (struct label[]){ { "late", step->late },
			      { "late_node", step->late_node },
			      { "late_rank", rank },
			      { NULL, NULL } });
}

static void add_step(struct sample_adder *adder, const struct subject *subject,
		     const struct nt_says_gain *gain)
{
	add(adder, subject, METRIC_STEP, 1,
	    (struct label[]){ { "mode", subject->step->mode },
			      { "nccl", subject->step->nccl },
			      { "launch_profile", subject->step->launch },
			      { NULL, NULL } });
	add_plain(adder, subject, METRIC_LAUNCH, nt_step_launched_ms(gain, subject->step) / 1e3);
	if (subject->step->calibration_s > 0)
		add_plain(adder, subject, METRIC_CALIBRATION, subject->step->calibration_s);
	add_plain(adder, subject, METRIC_WAITING, subject->step->waiting);
	add_late(adder, subject);
}

/* One sample for all remarks of a step with the same reason. */
static void add_untuned(struct sample_adder *adder, const char *job,
			const struct nt_summary *summary, size_t which)
{
	const struct nt_remark *remark = &summary->remarks[which];
	const struct subject subject = { job, &summary->job, nt_summary_step(summary, remark->step),
					 NULL, NULL };
	size_t count = 0;

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *other = &summary->remarks[i];

		if (other->kind != NT_REMARK_WHY || strcmp(other->step, remark->step) != 0 ||
		    other->why.id != remark->why.id)
			continue;
		if (i < which)
			return; /* it has the sample */
		count += other->comms > 1 ? (size_t)other->comms : 1;
	}
	add(adder, &subject, METRIC_UNTUNED, (double)count,
	    (struct label[]){ { "reason", nt_reason_code(remark->why.id) }, { NULL, NULL } });
}

static void add_job(struct sample_adder *adder, const struct subject *subject,
		    const struct nt_summary *summary, const struct nt_says_gain *gain)
{
	if (gain->step_us > 0)
		add(adder, subject, METRIC_OWN_STEP, gain->step_us / 1e6,
		    (struct label[]){ { "with", gain->profile[0] ? gain->profile : "default" },
				      { NULL, NULL } });
	if (gain->without_us > 0)
		add(adder, subject, METRIC_OWN_STEP, gain->without_us / 1e6,
		    (struct label[]){ { "with", "default" }, { NULL, NULL } });
	add_plain(adder, subject, METRIC_NET, gain->net_ms / 1e3);
	add_plain(adder, subject, METRIC_DAMAGED, nt_summary_damaged(summary));
}

/* One sample for all findings of a step with the same code and node. */
static void add_finding(struct sample_adder *adder, const char *job,
			const struct nt_summary *summary, size_t which)
{
	const struct nt_finding_seen *seen = &summary->findings[which];
	const struct subject subject = { job, &summary->job, &summary->steps[seen->step], NULL,
					 NULL };
	char node[NT_FINDING_NODE_MAX], other[NT_FINDING_NODE_MAX];
	size_t count = 0;

	nt_finding_node(&seen->finding, node);
	for (size_t i = 0; i < summary->finding_count; i++) {
		const struct nt_finding_seen *one = &summary->findings[i];

		if (one->step != seen->step || one->finding.id != seen->finding.id ||
		    strcmp(nt_finding_node(&one->finding, other), node) != 0)
			continue;
		if (i < which)
			return; /* it has the sample */
		count++;
	}
	add(adder, &subject, METRIC_FINDING, (double)count,
	    (struct label[]){ { "code", nt_finding_code(seen->finding.id) },
			      { "node", node },
			      { NULL, NULL } });
}

int nt_samples_add(struct nt_samples *samples, const char *job, const struct nt_summary *summary,
		   struct nt_error *err)
{
	struct sample_adder adder = { samples, false };
	struct nt_job_figures figures;

	nt_job_figures_make(&figures, summary);
	for (size_t i = 0; i < summary->row_count; i++)
		add_row(&adder, &(struct subject){ job, &summary->job,
						   &summary->steps[summary->rows[i].step],
						   &summary->rows[i],
						   &summary->families[summary->rows[i].family] });
	for (size_t i = 0; i < summary->step_count; i++)
		add_step(&adder,
			 &(struct subject){ job, &summary->job, &summary->steps[i], NULL, NULL },
			 &figures.gain);
	for (size_t i = 0; i < summary->remark_count; i++) {
		if (summary->remarks[i].kind == NT_REMARK_WHY &&
		    nt_reason_about(summary->remarks[i].why.id) != NT_ABOUT_CALLS)
			add_untuned(&adder, job, summary, i);
	}
	for (size_t i = 0; i < summary->finding_count; i++)
		add_finding(&adder, job, summary, i);
	add_job(&adder, &(struct subject){ job, &summary->job, NULL, NULL, NULL }, summary,
		&figures.gain);
	return adder.no_memory ? nt_error_set(err, "no memory for the report") : 0;
}

static int compare(const void *left, const void *right)
{
	const struct nt_metric *a = left, *b = right;

	NT_COMPARE(a->metric, b->metric);
	return strcmp(a->labels, b->labels);
}

void nt_samples_print(FILE *out, struct nt_samples *samples)
{
	if (samples->count > 0)
		qsort(samples->items, samples->count, sizeof(samples->items[0]), compare);
	for (size_t i = 0; i < samples->count; i++) {
		const struct nt_metric *item = &samples->items[i];

		if (i == 0 || item->metric != item[-1].metric)
			nt_metric_head(out, metrics[item->metric].name, metrics[item->metric].help);
		if (i == 0 || compare(item, item - 1) != 0)
			fprintf(out, "%s{%s} %.10g\n", metrics[item->metric].name, item->labels,
				item->value);
	}
}

void nt_samples_fini(struct nt_samples *samples)
{
	for (size_t i = 0; i < samples->count; i++)
		free(samples->items[i].labels);
	free(samples->items);
	memset(samples, 0, sizeof(*samples));
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to samples, samples to text. */
#include "report/prometheus.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "report/rowtext.h"
#include "report/rowtime.h"

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
	METRIC_DAMAGED,
};

/* All are gauges: the file is of jobs that end and go. */
static const struct {
	const char *name, *help;
} metrics[] = {
	[METRIC_CALL] = { "nccl_tune_call_microseconds",
			  "Median time of a call, from its start to its end on the slowest rank." },
	[METRIC_PERIOD] = { "nccl_tune_period_microseconds",
			    "Median time from one call to the next of its kind." },
	[METRIC_BUSBW] = { "nccl_tune_bus_bandwidth_gbs",
			   "Bus bandwidth of a call in GB/s, as nccl-tests defines it." },
	[METRIC_GAIN] = { "nccl_tune_gain_ratio",
			  "Part of the time of NCCL's choice that the chosen one saves." },
	[METRIC_CALLS] = { "nccl_tune_calls", "Calls made." },
	[METRIC_SPENT] = { "nccl_tune_spent_seconds", "Time that exploring cost." },
	[METRIC_SAVED] = { "nccl_tune_saved_seconds", "Time saved by what was chosen." },
	[METRIC_DECISION] = { "nccl_tune_decision",
			      "1: what was decided of a collective and size, and why." },
	[METRIC_UNTUNED] = { "nccl_tune_untuned",
			     "Reasons for which communicators or steps were not tuned." },
	[METRIC_STEP] = { "nccl_tune_step_info", "1: what a step ran with." },
	[METRIC_DAMAGED] = { "nccl_tune_record_damaged", "1: a job's record is damaged." },
};

struct nt_sample {
	enum metric metric;
	char *labels;
	double value;
};

struct adder {
	struct nt_samples *samples;
	bool no_memory;
};

/* A value of a label, its quotes and backslashes escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(*value, out);
	}
	fputs("\",", out);
}

static void put_number(FILE *out, const char *name, int64_t value)
{
	fprintf(out, "%s=\"%" PRId64 "\",", name, value);
}

/* Takes labels, which end with a comma. A value that is not known is no sample. */
static void take(struct adder *adder, enum metric metric, double value, char *labels)
{
	struct nt_samples *samples = adder->samples;
	struct nt_sample *items = isnan(value) || !labels
					  ? NULL
					  : realloc(samples->items,
						    (samples->count + 1) * sizeof(*items));

	if (!items) {
		adder->no_memory |= !labels || !isnan(value);
		free(labels);
		return;
	}
	labels[strlen(labels) - 1] = '\0';
	samples->items = items;
	items[samples->count++] = (struct nt_sample){ metric, labels, value };
}

/* "256-384KB": the size band. */
static void put_message_size(FILE *out, size_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double low = (double)bytes, high = (double)nt_band_floor(nt_band(bytes) + 1);
	int unit = 0;

	for (; low >= 1024 && unit < 4; unit++) {
		low /= 1024;
		high /= 1024;
	}
	fprintf(out, "message_size=\"%.4g-%.4g%s\",", low, high, units[unit]);
}

struct place {
	const char *job;
	const struct nt_step *step;
	const struct nt_row *row; /* NULL: of the step */
	const struct nt_family *family;
};

static void put_place(FILE *out, const struct place *place)
{
	put_label(out, "version", PACKAGE_VERSION);
	put_label(out, "slurm_job_id", place->job ? place->job : "unknown");
	if (place->step)
		put_label(out, "slurm_step_id", place->step->name);
	if (!place->row)
		return;
	put_label(out, "comm_name", place->family->name[0] ? place->family->name : "unknown");
	put_number(out, "n_nodes", place->row->nodes);
	put_number(out, "nranks", place->row->ranks);
	put_label(out, "collective", nt_coll_name(place->row->coll));
	put_message_size(out, place->row->bytes);
}

/* "RING_SIMPLE": as the Inspector joins them. */
static void put_arm(FILE *out, const char *choice, int arm)
{
	char name[NT_ARM_TEXT];

	snprintf(name, sizeof(name), "%s", nt_arm_name(arm));
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '_' : *c;
	put_label(out, "algo_proto", name);
	put_label(out, "choice", choice);
}

static void add_side(struct adder *adder, const struct place *place, enum metric metric,
		     enum nt_which side, double value)
{
	const struct nt_row *row = place->row;
	char *labels = NULL;
	size_t bytes;
	FILE *out;

	if (side == NT_OF_ARM && !nt_row_is_tuned(row))
		return;
	out = open_memstream(&labels, &bytes);
	if (out) {
		put_place(out, place);
		put_arm(out, side == NT_OF_AUTO ? "nccl" : "chosen",
			side == NT_OF_AUTO ? row->auto_arm : row->arm);
		fclose(out);
	}
	take(adder, metric, value, labels);
}

static void add_plain(struct adder *adder, const struct place *place, enum metric metric,
		      double value)
{
	char *labels = NULL;
	size_t bytes;
	FILE *out = open_memstream(&labels, &bytes);

	if (out) {
		put_place(out, place);
		fclose(out);
	}
	take(adder, metric, value, labels);
}

static void add_decision(struct adder *adder, const struct place *place)
{
	char *labels = NULL;
	size_t bytes;
	FILE *out = open_memstream(&labels, &bytes);

	if (out) {
		put_place(out, place);
		put_label(out, "state", place->row->state);
		put_label(out, "reason", nt_reason_code(nt_row_reason(place->row)));
		fclose(out);
	}
	take(adder, METRIC_DECISION, 1, labels);
}

static void add_row(struct adder *adder, const struct place *place)
{
	const struct nt_row *row = place->row;

	for (int i = 0; i < 2; i++) {
		enum nt_which side = i == 0 ? NT_OF_AUTO : NT_OF_ARM;

		add_side(adder, place, METRIC_CALL, side, nt_row_call_us(row, side));
		add_side(adder, place, METRIC_PERIOD, side, row->period_us[side]);
		add_side(adder, place, METRIC_BUSBW, side, nt_row_busbw(row, side));
	}
	if (nt_row_is_tuned(row))
		add_plain(adder, place, METRIC_GAIN, nt_row_gain(row) / 100);
	add_plain(adder, place, METRIC_CALLS, row->calls >= 0 ? (double)row->calls : NAN);
	add_plain(adder, place, METRIC_SPENT, row->spent_ms / 1e3);
	add_plain(adder, place, METRIC_SAVED, row->saved_ms / 1e3);
	add_decision(adder, place);
}

static void add_step(struct adder *adder, const struct place *place)
{
	char *labels = NULL;
	size_t bytes;
	FILE *out = open_memstream(&labels, &bytes);

	if (out) {
		put_place(out, place);
		put_label(out, "mode", place->step->mode);
		put_label(out, "nccl", place->step->nccl);
		put_label(out, "launch_profile", place->step->launch);
		fclose(out);
	}
	take(adder, METRIC_STEP, 1, labels);
}

static const struct nt_step *step_of(const struct nt_summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		if (strcmp(summary->steps[i].name, name) == 0)
			return &summary->steps[i];
	}
	return NULL;
}

/* How many remarks of a step give one reason. */
static void add_untuned(struct adder *adder, const char *job, const struct nt_summary *summary,
			size_t which)
{
	const struct nt_remark *remark = &summary->remarks[which];
	struct place place = { job, step_of(summary, remark->step), NULL, NULL };
	char *labels = NULL;
	size_t bytes, count = 0;
	FILE *out;

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *other = &summary->remarks[i];

		if (other->kind != NT_REMARK_WHY || strcmp(other->step, remark->step) != 0 ||
		    other->reason != remark->reason)
			continue;
		if (i < which)
			return; /* counted there */
		count += other->comms > 1 ? (size_t)other->comms : 1;
	}
	out = open_memstream(&labels, &bytes);
	if (out) {
		put_place(out, &place);
		put_label(out, "reason", nt_reason_code(remark->reason));
		fclose(out);
	}
	take(adder, METRIC_UNTUNED, (double)count, labels);
}

int nt_samples_add(struct nt_samples *samples, const char *job, const struct nt_summary *summary,
		   struct nt_error *err)
{
	struct adder adder = { samples, false };

	for (size_t i = 0; i < summary->row_count; i++)
		add_row(&adder, &(struct place){ job, &summary->steps[summary->rows[i].step],
						 &summary->rows[i],
						 &summary->families[summary->rows[i].family] });
	for (size_t i = 0; i < summary->step_count; i++)
		add_step(&adder, &(struct place){ job, &summary->steps[i], NULL, NULL });
	for (size_t i = 0; i < summary->remark_count; i++) {
		if (summary->remarks[i].kind == NT_REMARK_WHY)
			add_untuned(&adder, job, summary, i);
	}
	add_plain(&adder, &(struct place){ job, NULL, NULL, NULL }, METRIC_DAMAGED,
		  nt_summary_damaged(summary));
	return adder.no_memory ? nt_error_set(err, "no memory for the report") : 0;
}

static int compare(const void *left, const void *right)
{
	const struct nt_sample *a = left, *b = right;

	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return strcmp(a->labels, b->labels);
}

void nt_samples_print(FILE *out, struct nt_samples *samples)
{
	if (samples->count > 0)
		qsort(samples->items, samples->count, sizeof(samples->items[0]), compare);
	for (size_t i = 0; i < samples->count; i++) {
		const struct nt_sample *item = &samples->items[i];

		if (i == 0 || item->metric != item[-1].metric)
			fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[item->metric].name,
				metrics[item->metric].help, metrics[item->metric].name);
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

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/shortform.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/compare.h"
#include "record/bandwidth.h"

#define ROWS_MAX 64 /* more never fit */
#define WHYS_MAX 8
#define FINDINGS_MAX 8

enum detail { BARE, USUAL, FULL };

struct form {
	const struct nt_summary *summary;
	const struct nt_step *step;
	struct nt_key *rows; /* those worth showing, the most important first */
	size_t row_count, shown;
	const struct nt_remark *whys[WHYS_MAX];
	size_t why_count, why_total;
	size_t findings; /* of the summary's, the first */
	enum detail detail;
	int64_t rest[NT_REASON_COUNT]; /* rows that are only counted */
};

/* Microseconds of all ranks: of its calls with NCCL's choice, saved and spent. */
static double at_stake_us(const struct nt_key *row)
{
	double us = nt_row_call_us(row, NT_OF_AUTO);

	if (isnan(us))
		us = nt_or_zero(row->auto_predicted_us);
	return row->ranks * (us * (double)(row->calls > 0 ? row->calls : 0) +
			     1e3 * (fabs(nt_or_zero(row->saved_ms)) + nt_or_zero(row->spent_ms)));
}

static int firmness(const struct nt_key *row)
{
	if (row->arm != NT_ARM_BASELINE)
		return 2;
	return nt_reason_about(row->reason) == NT_ABOUT_KEY;
}

static int compare_key(const void *left, const void *right)
{
	const struct nt_key *a = left;
	const struct nt_key *b = right;

	NT_COMPARE(b->ranks, a->ranks);
	NT_COMPARE(a->nodes, b->nodes);
	NT_COMPARE(a->family, b->family);
	NT_COMPARE(a->coll, b->coll);
	NT_COMPARE(a->bytes, b->bytes);
	return 0;
}

static int compare_worth(const void *left, const void *right)
{
	const struct nt_key *a = left;
	const struct nt_key *b = right;

	NT_COMPARE(at_stake_us(b), at_stake_us(a));
	NT_COMPARE(firmness(b), firmness(a));
	NT_COMPARE(b->calls, a->calls);
	return compare_key(left, right);
}

static int take_rows(struct form *form)
{
	const struct nt_summary *summary = form->summary;

	form->rows = calloc(summary->row_count + 1, sizeof(form->rows[0]));
	if (!form->rows)
		return -1;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != 0)
			continue;
		/* Counting these is enough. */
		if (row->reason == NT_REASON_UNWORTHY || row->reason == NT_REASON_COMM_NOT_TUNED)
			form->rest[row->reason]++;
		else
			form->rows[form->row_count++] = *row;
	}
	qsort(form->rows, form->row_count, sizeof(form->rows[0]), compare_worth);
	form->shown = form->row_count < ROWS_MAX ? form->row_count : ROWS_MAX;
	return 0;
}

static void take_whys(struct form *form)
{
	for (size_t i = 0; i < form->summary->remark_count; i++) {
		const struct nt_remark *remark = &form->summary->remarks[i];

		if (remark->kind != NT_REMARK_WHY || strcmp(remark->step, form->step->name) != 0)
			continue;
		if (form->why_total++ < WHYS_MAX)
			form->whys[form->why_count++] = remark;
	}
}

static void forget(double us[2])
{
	us[0] = us[1] = NAN;
}

/* Removes details. */
static void lessen(struct nt_key *row, enum detail detail)
{
	forget(row->p25_us);
	forget(row->p75_us);
	row->gain_percent = NAN;
	row->forced = row->differed = -1;
	if (detail == FULL)
		return;
	forget(row->period_us);
	forget(row->predicted_us);
	row->decided = -1;
	if (detail == USUAL)
		return;
	row->p = row->share = row->spent_ms = NAN; /* the share follows from the rest */
	row->spent_calls = row->comms = row->same = -1;
	row->changes = row->rechecks = row->rollbacks = 0;
	row->from[0] = '\0';
}

static bool same_shape(const struct nt_family *a, const struct nt_family *b)
{
	return a->step == b->step && a->ranks == b->ranks && a->nodes == b->nodes;
}

/* Of families of one shape, one is called by its shape alone: the one without a name, or the
 * first. */
static bool is_plain(const struct nt_summary *summary, size_t at)
{
	const struct nt_family *family = &summary->families[at];

	for (size_t i = 0; family->name[0] && i < summary->family_count; i++) {
		const struct nt_family *other = &summary->families[i];

		if (same_shape(family, other) && (!other->name[0] || i < at))
			return false;
	}
	return true;
}

static void open_family(struct nt_json_writer *put, const struct form *form, size_t at)
{
	const struct nt_family *family = &form->summary->families[at];
	char label[NT_FAMILY_MAX];

	nt_json_put_open(put,
			 nt_step_family(label, family->ranks, family->nodes,
					is_plain(form->summary, at) ? "" : family->name),
			 '{');
}

static bool is_shown(const struct form *form, size_t family)
{
	for (size_t i = 0; i < form->shown; i++) {
		if (form->rows[i].family == family)
			return true;
	}
	return false;
}

/* Names of families that are called by their shape alone. */
static void put_names(struct nt_json_writer *put, const struct form *form)
{
	char label[NT_FAMILY_MAX];
	bool any = false;

	for (size_t i = 0; i < form->summary->family_count; i++) {
		const struct nt_family *family = &form->summary->families[i];

		if (!family->name[0] || !is_plain(form->summary, i) || !is_shown(form, i))
			continue;
		if (!any)
			nt_json_put_open(put, NT_STEP_NAMES, '[');
		any = true;
		nt_json_put_text(put, NULL,
				 nt_step_family(label, family->ranks, family->nodes, family->name));
	}
	if (any)
		nt_json_put_close(put);
}

static void put_rows(struct nt_json_writer *put, const struct form *form, struct nt_key *shown)
{
	memcpy(shown, form->rows, form->shown * sizeof(shown[0]));
	qsort(shown, form->shown, sizeof(shown[0]), compare_key);
	for (size_t i = 0; i < form->shown; i++) {
		if (i == 0 || shown[i].family != shown[i - 1].family) {
			if (i > 0)
				nt_json_put_close(put);
			open_family(put, form, shown[i].family);
		}
		lessen(&shown[i], form->detail);
		nt_step_put_row(put, &shown[i]);
	}
	if (form->shown > 0)
		nt_json_put_close(put);
}

static void put_whys(struct nt_json_writer *put, const struct form *form)
{
	if (form->why_count == 0)
		return;
	nt_json_put_open(put, NT_STEP_WHY, '[');
	for (size_t i = 0; i < form->why_count; i++) {
		const struct nt_remark *remark = form->whys[i];
		char text[NT_REASON_BYTES + 64];

		nt_step_why_shape(remark->ranks, remark->nodes, remark->comms, text, sizeof(text));
		nt_append(text, sizeof(text), "%s", remark->why.text);
		nt_json_put_text(put, NULL, text);
	}
	nt_json_put_close(put);
}

static void put_findings(struct nt_json_writer *put, const struct form *form)
{
	if (form->findings == 0)
		return;
	nt_json_put_open(put, NT_STEP_FINDINGS, '[');
	for (size_t i = 0; i < form->findings; i++)
		nt_json_put_text(put, NULL, form->summary->findings[i].finding.text);
	nt_json_put_close(put);
}

static void put_rest(struct nt_json_writer *put, const struct form *form)
{
	int64_t rest[NT_REASON_COUNT];
	char text[48];
	bool any = false;

	memcpy(rest, form->rest, sizeof(rest));
	for (size_t i = form->shown; i < form->row_count; i++)
		rest[form->rows[i].reason]++;
	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		if (rest[reason] == 0)
			continue;
		if (!any)
			nt_json_put_open(put, NT_STEP_REST, '[');
		any = true;
		snprintf(text, sizeof(text), "%" PRId64 " %s", rest[reason],
			 reason == NT_REASON_NONE ? NT_STEP_CHOSEN : nt_reason_code(reason));
		nt_json_put_text(put, NULL, text);
	}
	if (any)
		nt_json_put_close(put);
}

/* 0: it does not fit. */
static size_t write_form(const struct form *form, struct nt_key *shown, char *out, size_t out_bytes)
{
	size_t more = form->row_count - form->shown + form->why_total - form->why_count +
		      form->summary->finding_count - form->findings;
	struct nt_json_writer put;

	nt_json_put_begin(&put, out, out_bytes, NT_STEP_DEPTH);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_step_fields, form->step);
	put_rows(&put, form, shown);
	put_names(&put, form);
	put_whys(&put, form);
	put_rest(&put, form);
	put_findings(&put, form);
	if (more > 0)
		nt_json_put_count(&put, NT_STEP_MORE, more);
	nt_json_put_close(&put);
	return put.full ? 0 : put.used;
}

/* First details go, then the least important rows, then reasons, then findings. */
static bool say_less(struct form *form)
{
	if (form->shown > 0 && form->detail > BARE)
		form->detail--;
	else if (form->shown > 0)
		form->shown--;
	else if (form->why_count > 0)
		form->why_count--;
	else if (form->findings > 0)
		form->findings--;
	else
		return false;
	return true;
}

size_t nt_short_format(const struct nt_summary *summary, char *out, size_t out_bytes)
{
	struct form form = {
		.summary = summary,
		.step = &summary->steps[0],
		.detail = FULL,
	};
	struct nt_key *shown;
	size_t used = 0;

	if (out_bytes > NT_STEP_RECORD_MAX + 1)
		out_bytes = NT_STEP_RECORD_MAX + 1;
	if (take_rows(&form) < 0)
		return 0;
	take_whys(&form);
	form.findings = summary->finding_count < FINDINGS_MAX ? summary->finding_count
							      : FINDINGS_MAX;
	shown = calloc(form.shown + 1, sizeof(*shown));
	while (shown && (used = write_form(&form, shown, out, out_bytes)) == 0 && say_less(&form))
		;
	free(shown);
	free(form.rows);
	return used;
}

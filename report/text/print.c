/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's summary as text: the main sentences, the table with a reason for each line, the other
 * sentences, advice. */
#include "report/text/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/plural.h"
#include "report/text/findings.h"
#include "report/text/row-text.h"
#include "report/model/row-time.h"
#include "lib/append.h"
#include "lib/table.h"
#include "report/model/topology-compare.h"
#include "report/text/verdict.h"
#include "report/text/words.h"
#include "lib/wrap.h"

static const char *const columns[] = { "-COLLECTIVE",	  "SIZE",     "CALL us\nNCCL's",
				       "CALL us\nchosen", "GAIN\n%",  "COST\nms",
				       "SAVED\nms",	  "ESTIM\nms" };

/* Times to the next call are marked. */
static void add_us(struct nt_table *table, const struct nt_key *row, enum nt_which side)
{
	const double us = nt_row_call_us(row, side);
	const char *mark = nt_row_duration_known(row) ? "" : "*";

	nt_cell_us(table, us, mark);
}

static void add_ms(struct nt_table *table, double ms)
{
	if (fabs(ms) >= 1e6)
		nt_cell(table, "%.0fs", ms / 1e3);
	else
		nt_cell_decimal(table, ms, 1);
}

/* Cells are empty if NCCL's choice stayed: the reason names the best other choice. */
static void add_row(struct nt_table *table, const struct nt_summary *summary,
		    const struct nt_key *row, bool estimated)
{
	const bool tuned = nt_row_is_tuned(row);
	struct nt_said said;
	char size[24];

	nt_cell(table, "%s", nt_coll_name(row->coll));
	nt_cell(table, "%s", nt_size_text(row->bytes, size, sizeof(size)));
	add_us(table, row, NT_OF_AUTO);
	if (tuned) {
		add_us(table, row, NT_OF_ARM);
		nt_cell_decimal(table, nt_row_gain(row), 1);
	} else {
		nt_cell(table, "%s", "");
		nt_cell(table, "%s", "");
	}
	add_ms(table, row->spent_ms);
	if (tuned || !isnan(row->saved_ms))
		add_ms(table, row->saved_ms);
	else
		nt_cell(table, "%s", "");
	if (estimated && !isnan(row->estimated_ms))
		add_ms(table, row->estimated_ms);
	else if (estimated)
		nt_cell(table, "%s", "");
	nt_row_say(&said, summary, row);
	nt_table_note(table, "    ", 4, said.says);
}

/* The step and the communicators of the next rows. */
static void add_group(struct nt_table *table, const struct nt_step *step,
		      const struct nt_family *family)
{
	char words[160], looks[64], text[280];

	snprintf(text, sizeof(text), "Step %s, %s%s:", step->name,
		 nt_family_words(family, words, sizeof(words)),
		 nt_family_looks(family, looks, sizeof(looks)));
	nt_table_note(table, "", 2, text);
}

/* What its tasks measured before the program. */
static void print_calibration(FILE *out, const struct nt_step *step)
{
	char text[256] = "", more[64];

	if (!(step->calibration_s > 0))
		return;
	nt_append(text, sizeof(text), "launch profiles were measured for %s before the program",
		  nt_duration_text(step->calibration_s * 1e3, more, sizeof(more)));
	if (step->calibration_ranks > 0)
		nt_append(text, sizeof(text), ", on %" PRId64 " rank%s", step->calibration_ranks,
			  nt_plural(step->calibration_ranks));
	if (step->calibration_why[0])
		nt_append(text, sizeof(text), ", without a result: %s", step->calibration_why);
	nt_wrap(out, "  ", 4, text);
}

static void print_launch(FILE *out, const struct nt_step *step)
{
	char text[1024] = "", more[64];

	nt_append(text, sizeof(text), "launch profile %s (%s", step->launch,
		  step->from[0] ? step->from : "no reason is recorded");
	if (!isnan(step->expected))
		nt_append(text, sizeof(text), ": expected %s",
			  nt_speed_text(step->expected, more, sizeof(more)));
	if (!isnan(step->measured))
		nt_append(text, sizeof(text), "%s measured %s by the program's own steps",
			  isnan(step->expected) ? ":" : ",",
			  nt_speed_text(step->measured, more, sizeof(more)));
	if (!isnan(step->step_us[1]))
		nt_append(text, sizeof(text), "; %s a step",
			  nt_time_text(step->step_us[1], more, sizeof(more)));
	if (step->steps >= 0)
		nt_append(text, sizeof(text), ", %" PRId64 " step%s", step->steps,
			  nt_plural(step->steps));
	nt_append(text, sizeof(text), ")");
	nt_wrap(out, "  ", 4, text);
	print_calibration(out, step);
	if (step->set[0])
		nt_wrap(out, "  set: ", 4, step->set);
	if (step->left[0])
		nt_wrap(out, "  not changed, set by the job: ", 4, step->left);
	if (step->remark[0])
		nt_wrap(out, "  ", 4, step->remark);
}

static void print_steps(FILE *out, const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		fprintf(out, "Step %s: mode %s", step->name,
			step->mode[0] ? step->mode : "unknown");
		if (step->nccl[0])
			fprintf(out, ", NCCL %s", step->nccl);
		if (step->ranks >= 0)
			fprintf(out, ", %" PRId64 " rank%s", step->ranks, nt_plural(step->ranks));
		if (step->nodes >= 0)
			fprintf(out, ", %" PRId64 " node%s", step->nodes, nt_plural(step->nodes));
		if (step->run > 0)
			fprintf(out, ", run %" PRId64, step->run + 1);
		fputc('\n', out);
		if (step->launch[0])
			print_launch(out, step);
	}
}

/* Advice follows the last of the sentences that have the same. */
static bool is_told_later(const struct nt_verdict_text *verdict, size_t which, size_t until)
{
	for (size_t i = which + 1; i < until; i++) {
		if (strcmp(verdict->items[i].type, verdict->items[which].type) == 0)
			return true;
	}
	return false;
}

static void print_sentences(FILE *out, const struct nt_verdict_text *verdict, size_t from,
			    size_t until)
{
	for (size_t i = from; i < until; i++) {
		const struct nt_sentence *sentence = &verdict->items[i];

		nt_wrap(out, "", 2, sentence->text);
		if (sentence->type[0] && !is_told_later(verdict, i, until))
			nt_wrap(out, "  -> ", 5, sentence->type);
	}
}

/* The number of sentences before the table. */
static size_t count_first(const struct nt_verdict_text *verdict)
{
	size_t first = NT_SENTENCES_FIRST;

	first += verdict->count > 0 && verdict->items[0].kind == NT_SENTENCE_LAUNCH;
	return verdict->count < first ? verdict->count : first;
}

static bool is_marked(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		if (!nt_row_duration_known(&summary->rows[i]) && !isnan(summary->rows[i].auto_us))
			return true;
	}
	return false;
}

static bool is_estimated(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		if (!isnan(summary->rows[i].estimated_ms))
			return true;
	}
	return false;
}

static int print_rows(FILE *out, const struct nt_summary *summary, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 0);
	const bool estimated = is_estimated(summary);

	if (summary->row_count == 0)
		return 0;
	if (!estimated)
		table.column_count--;
	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (i == 0 || row->step != row[-1].step || row->family != row[-1].family)
			add_group(&table, &summary->steps[row->step],
				  &summary->families[row->family]);
		add_row(&table, summary, row, estimated);
	}
	fputc('\n', out);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	nt_wrap(out, "", 0,
		"CALL: time of a call from start to end on the slowest rank. COST: time spent "
		"exploring. SAVED: time saved compared with NCCL's choice. COST and SAVED are "
		"one rank's time. p: probability that the difference is chance.");
	if (estimated)
		nt_wrap(out, "", 0,
			"ESTIM: time saved by remembered choices that this job has not measured, "
			"estimated from earlier steps. SAVED does not include it.");
	if (is_marked(summary))
		nt_wrap(out, "", 0,
			"*: from the call's start to the start of the next call of "
			"any kind.");
	return 0;
}

static void print_more(FILE *out, const struct nt_verdict_text *verdict)
{
	const size_t first = count_first(verdict);

	if (first < verdict->count)
		fputc('\n', out);
	print_sentences(out, verdict, first, verdict->count);
}

static bool is_in(const struct nt_verdict_text *verdict, const char *type)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (strcmp(verdict->items[i].type, type) == 0)
			return true;
	}
	return false;
}

/* Advice for the reasons of rows, each once, except what the sentences have. */
static void print_what_to_do(FILE *out, const struct nt_summary *summary,
			     const struct nt_verdict_text *verdict)
{
	bool told[NT_REASON_COUNT] = { false };
	bool any = false;

	for (size_t i = 0; i < summary->row_count; i++) {
		struct nt_said said;

		nt_row_say(&said, summary, &summary->rows[i]);
		if (!said.type[0] || told[said.reason] || is_in(verdict, said.type))
			continue;
		if (!any)
			fputc('\n', out);
		any = true;
		told[said.reason] = true;
		nt_wrap(out, "-> ", 3, said.type);
	}
}

static void print_damage(FILE *out, const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];
		char first[64] = "Damaged: ";

		if (remark->kind != NT_REMARK_DAMAGE)
			continue;
		if (remark->step[0])
			snprintf(first, sizeof(first), "Damaged: step %s: ", remark->step);
		nt_wrap(out, first, 4, remark->text);
	}
}

int nt_summary_print(FILE *out, const char *job, const struct nt_summary *summary,
		     struct nt_error *err)
{
	struct nt_verdict_text verdict;
	int rc;

	if (nt_verdict_make(&verdict, summary, err) < 0)
		return -1;
	if (job)
		fprintf(out, "Job %s\n", job);
	print_sentences(out, &verdict, 0, count_first(&verdict));
	(void)nt_print_findings(out, summary, NT_FINDINGS_FIRST);
	fputc('\n', out);
	print_steps(out, summary);
	rc = print_rows(out, summary, err);
	if (rc == 0)
		rc = nt_topology_print(out, summary, err);
	if (rc == 0) {
		print_more(out, &verdict);
		print_what_to_do(out, summary, &verdict);
		print_damage(out, summary);
	}
	nt_verdict_fini(&verdict);
	return rc;
}

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
#include "report/model/job-figures.h"
#include "report/text/findings.h"
#include "report/text/row-text.h"
#include "report/model/row-time.h"
#include "lib/append.h"
#include "lib/table.h"
#include "report/model/topology-compare.h"
#include "report/text/verdict.h"
#include "report/text/words.h"
#include "lib/wrap.h"

static const char *const columns[] = { "-COLLECTIVE",	  "SIZE",    "TIME\n%", "CALL us\nNCCL's",
				       "CALL us\nchosen", "GAIN\n%", "NET\nms", "ESTIM\nms",
				       "-CHOICE\n(WHY)" };

/* How much is told. */
struct view {
	const struct nt_summary *summary;
	bool full, estimated;
	struct nt_job_figures figures;
	size_t step; /* the only one whose rows are shown; the number of steps: all */
	bool told[NT_REASON_COUNT]; /* reasons of rows */
	const struct nt_key *running[NT_REASON_COUNT]; /* a row of a running step with it */
};

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

static double net_ms(const struct nt_key *row)
{
	return isnan(row->saved_ms) && isnan(row->spent_ms)
		       ? NAN
		       : nt_or_zero(row->saved_ms) - nt_or_zero(row->spent_ms);
}

static void add_choice(struct nt_table *table, const struct nt_key *row)
{
	const int arm = nt_row_is_tuned(row) ? row->arm : row->auto_arm;
	const char *why = nt_reason_code(nt_row_reason(row));
	char name[NT_ARM_TEXT] = "NCCL's";

	if (arm != NT_ARM_BASELINE)
		snprintf(name, sizeof(name), "%s", nt_arm_name(arm));
	nt_cell(table, "%s%s%s%s", name, why[0] ? " (" : "", why, why[0] ? ")" : "");
}

static void add_row(struct nt_table *table, struct view *view, const struct nt_key *row)
{
	const bool tuned = nt_row_is_tuned(row);
	struct nt_said said;
	char size[24];

	nt_cell(table, "%s", nt_coll_name(row->coll));
	nt_cell(table, "%s", nt_size_text(row->bytes, size, sizeof(size)));
	nt_cell_decimal(table,
			isnan(nt_row_call_us(row, nt_row_in_force(row)))
				? NAN
				: 100 * nt_row_part(view->summary, row),
			0);
	add_us(table, row, NT_OF_AUTO);
	if (tuned) {
		add_us(table, row, NT_OF_ARM);
		nt_cell_decimal(table, nt_row_gain(row), 1);
	} else {
		nt_cell(table, "%s", "");
		nt_cell(table, "%s", "");
	}
	add_ms(table, net_ms(row));
	if (view->estimated)
		add_ms(table, row->estimated_ms);
	add_choice(table, row);
	view->told[nt_row_reason(row)] = true;
	if (view->summary->steps[row->step].running)
		view->running[nt_row_reason(row)] = row;
	nt_row_say(&said, view->summary, row);
	if (view->full)
		nt_table_note(table, "    ", 4, said.says);
}

/* The step and the communicators of the next rows. */
static void add_family_title(struct nt_table *table, const struct nt_step *step,
			     const struct nt_family *family)
{
	char words[160], looks[64], text[280];

	snprintf(text, sizeof(text), "Step %s, %s%s:", step->name,
		 nt_family_words(family, words, sizeof(words)),
		 nt_family_looks(family, looks, sizeof(looks)));
	nt_table_note(table, "", 2, text);
}

static void print_launch(FILE *out, const struct view *view, const struct nt_step *step)
{
	char text[1024] = "", more[160];

	nt_launch_from(step->from, more, sizeof(more));
	nt_append(text, sizeof(text), "launch profile %s%s%s", step->launch, more[0] ? ": " : "",
		  more);
	if (!isnan(step->expected))
		nt_append(text, sizeof(text), "; expected %s",
			  nt_speed_text(step->expected, more, sizeof(more)));
	if (!isnan(step->measured) && !view->figures.gain.by_job)
		nt_append(text, sizeof(text), "%s measured %s by the program's own steps",
			  isnan(step->expected) ? ";" : ",",
			  nt_speed_text(step->measured, more, sizeof(more)));
	nt_wrap(out, "  ", 4, text);
	if (step->set[0])
		nt_wrap(out, "  set: ", 4, step->set);
	if (step->left[0])
		nt_wrap(out, "  not changed, set by the job: ", 4, step->left);
	if (step->remark[0])
		nt_wrap(out, "  ", 4, step->remark);
}

static void print_step(FILE *out, const struct view *view, const struct nt_step *step)
{
	char us[32];

	fprintf(out, "Step %s: mode %s", step->name, step->mode[0] ? step->mode : "unknown");
	if (step->nccl[0])
		fprintf(out, ", NCCL %s", step->nccl);
	if (step->ranks >= 0)
		fprintf(out, ", %" PRId64 " rank%s", step->ranks, nt_plural(step->ranks));
	if (step->nodes >= 0)
		fprintf(out, ", %" PRId64 " node%s", step->nodes, nt_plural(step->nodes));
	if (step->steps > 0 && step->step_us[1] > 0)
		fprintf(out, ", %" PRId64 " step%s of %s", step->steps, nt_plural(step->steps),
			nt_time_text(step->step_us[1], us, sizeof(us)));
	if (step->run > 0)
		fprintf(out, ", run %" PRId64, step->run + 1);
	fputc('\n', out);
	if (step->launch[0])
		print_launch(out, view, step);
}

static const char *const step_columns[] = { "-STEP",	       "-PROGRAM", "RANKS",	   "-MODE",
					    "-LAUNCH PROFILE", "STEPS",	   "TIME\nof one", "NET" };

static void add_step(struct nt_table *table, const struct view *view, size_t at)
{
	const struct nt_summary *summary = view->summary;
	const struct nt_step *step = &summary->steps[at];
	const bool calibrates = nt_step_is_calibration(step);
	char text[32];

	nt_cell(table, "%s", step->name);
	nt_cell(table, "%.20s", calibrates ? "(calibration)" : step->program);
	nt_cell_count(table, step->ranks);
	nt_cell(table, "%s", step->mode);
	nt_cell(table, "%.24s", step->launch);
	nt_cell_count(table, calibrates ? -1 : step->steps);
	nt_cell(table, "%s",
		step->step_us[1] > 0 && !calibrates
			? nt_time_text(step->step_us[1], text, sizeof(text))
			: "-");
	nt_cell(table, "%s",
		nt_duration_text(nt_or_zero(nt_step_launched_ms(&view->figures.gain, step)) +
					 nt_step_saved_ms(summary, at) -
					 nt_step_spent_ms(summary, at) -
					 nt_step_calibration_ms(step),
				 text, sizeof(text)));
}

#define STEPS_IN_FULL 3 /* more are a table */

static int print_steps(FILE *out, const struct view *view, struct nt_error *err)
{
	const struct nt_summary *summary = view->summary;
	struct nt_table table = NT_TABLE(step_columns, 0);

	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < summary->step_count; i++) {
		if (nt_step_is_empty(summary, i) && summary->step_count > 1)
			continue;
		if (summary->step_count > STEPS_IN_FULL && !view->full)
			add_step(&table, view, i);
		else if (view->full || !nt_step_is_calibration(&summary->steps[i]))
			print_step(out, view, &summary->steps[i]);
	}
	return summary->step_count > STEPS_IN_FULL && !view->full ? nt_table_print(out, &table, err)
								  : 0;
}

/* ---- sentences */

/* Returns the number of its lines; out NULL: only that. full: with advice of any kind. */
static size_t print_sentence(FILE *out, const struct nt_sentence *sentence, bool full)
{
	const bool next = sentence->kind == NT_SENTENCE_NEXT;
	char *lines = NULL;
	size_t bytes = 0, count = 0;
	FILE *to = open_memstream(&lines, &bytes);

	if (!to)
		return 0;
	nt_wrap(to, next ? "-> " : "", next ? 3 : 2, sentence->text);
	if (sentence->type[0] &&
	    (full || sentence->kind == NT_SENTENCE_LATE || sentence->kind > NT_SENTENCE_MORE))
		nt_wrap(to, "  -> ", 5, sentence->type);
	fclose(to);
	for (const char *c = lines; *c; c++)
		count += *c == '\n';
	if (out)
		fputs(lines, out);
	free(lines);
	return count;
}

/* Of the first lines; those that have no room come with the others. */
static void choose_first(const struct nt_verdict_text *verdict, bool *first)
{
	static const enum nt_sentence_kind kinds[] = {
		NT_SENTENCE_JOB,     NT_SENTENCE_NEXT,	 NT_SENTENCE_STALLED,
		NT_SENTENCE_NET,     NT_SENTENCE_LAUNCH, NT_SENTENCE_LATE,
		NT_SENTENCE_UNTUNED, NT_SENTENCE_GAIN,	 NT_SENTENCE_UNFINISHED,
	};
	size_t lines = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (size_t i = 0; i < verdict->count; i++) {
			const size_t more = print_sentence(NULL, &verdict->items[i], false);

			if (verdict->items[i].kind != kinds[k] || lines + more > NT_HEADLINES)
				continue;
			first[i] = true;
			lines += more;
		}
	}
}

static void print_sentences(FILE *out, const struct nt_verdict_text *verdict, const bool *chosen,
			    bool which, bool full)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (chosen[i] == which)
			print_sentence(out, &verdict->items[i], full);
	}
}

/* ---- rows */

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

static bool is_little(const struct view *view, const struct nt_key *row)
{
	return !view->full && nt_row_part(view->summary, row) < NT_SHARE_LEAST;
}

static bool is_shown(const struct view *view, const struct nt_key *row)
{
	return (view->step == view->summary->step_count || row->step == view->step) &&
	       !nt_step_is_calibration(&view->summary->steps[row->step]);
}

/* Those that take hardly any time have a line together. */
static void add_little(struct nt_table *table, size_t count)
{
	char text[96];

	snprintf(text, sizeof(text), "%zu more, seldom or below 1 %% of the time (--full)", count);
	if (count > 0)
		nt_table_note(table, "", 2, text);
}

/* Rows that the record only counts. */
static size_t count_rest(struct view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < view->summary->step_count; i++) {
		for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
			const int64_t rest = view->summary->steps[i].rest[reason];

			if (rest <= 0 ||
			    (view->step != view->summary->step_count && view->step != i))
				continue;
			count += (size_t)rest;
			view->told[reason] |= view->full;
		}
	}
	return count;
}

static void add_rows(struct nt_table *table, struct view *view)
{
	const struct nt_summary *summary = view->summary;
	const struct nt_key *before = NULL;
	size_t little = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (!is_shown(view, row))
			continue;
		if (is_little(view, row)) {
			little++;
			continue;
		}
		if (!before || row->step != before->step || row->family != before->family)
			add_family_title(table, &summary->steps[row->step],
					 &summary->families[row->family]);
		add_row(table, view, row);
		before = row;
	}
	add_little(table, little + count_rest(view));
}

/* What the words in brackets say, and in full what to do. */
static void print_reasons(FILE *out, const struct view *view)
{
	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		struct nt_said said;
		char code[NT_REASON_CODE_MAX + 2];

		nt_said_key(&said, reason, NULL);
		if (!view->told[reason] || !said.says[0])
			continue;
		if (view->running[reason]) {
			struct nt_key row = *view->running[reason];

			row.auto_arm = NT_ARM_BASELINE; /* the table has it */
			nt_row_say(&said, view->summary, &row);
		}
		snprintf(code, sizeof(code), "%s: ", nt_reason_code(reason));
		nt_wrap(out, code, 2, said.says);
		if (view->full && said.type[0])
			nt_wrap(out, "  -> ", 5, said.type);
	}
}

static int print_rows(FILE *out, struct view *view, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 0);
	static const char *plain[sizeof(columns) / sizeof(columns[0]) - 1];

	if (view->summary->row_count == 0)
		return 0;
	if (!view->estimated) {
		memcpy(plain, columns, 7 * sizeof(plain[0]));
		plain[7] = columns[8];
		table = (struct nt_table)NT_TABLE(plain, 0);
	}
	table.max_columns = NT_WRAP_COLUMNS;
	add_rows(&table, view);
	if (table.cell_count == 0 && table.note_count == 0)
		return 0;
	fputc('\n', out);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	nt_wrap(out, "", 0,
		is_marked(view->summary)
			? "TIME: of the program's. CALL: from its start to its end on the slowest "
			  "rank; *: to the start of the next call. NET: what a rank saved less "
			  "what exploring cost it."
			: "TIME: of the program's. CALL: from its start to its end on the slowest "
			  "rank. NET: what a rank saved less what exploring cost it.");
	if (view->estimated)
		nt_wrap(out, "", 0,
			"ESTIM: time saved by remembered choices that this job has not measured, "
			"estimated from earlier steps. NET does not include it.");
	print_reasons(out, view);
	return 0;
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

static int print_all(FILE *out, struct view *view, const struct nt_verdict_text *verdict,
		     struct nt_error *err)
{
	bool *first = calloc(verdict->count + 1, sizeof(first[0]));
	int rc;

	if (!first)
		return nt_error_set(err, "no memory for the report");
	choose_first(verdict, first);
	print_sentences(out, verdict, first, true, view->full);
	(void)nt_findings_print(out, view->summary, NT_FINDINGS_FIRST);
	fputc('\n', out);
	rc = print_steps(out, view, err);
	if (rc == 0)
		print_sentences(out, verdict, first, false, view->full);
	if (rc == 0)
		rc = print_rows(out, view, err);
	if (rc == 0)
		rc = nt_topology_print(out, view->summary, err);
	if (rc == 0)
		print_damage(out, view->summary);
	free(first);
	return rc;
}

int nt_summary_print(FILE *out, const char *job, const struct nt_summary *summary, bool full,
		     struct nt_error *err)
{
	struct view view = { .summary = summary,
			     .full = full,
			     .estimated = is_estimated(summary),
			     .step = summary->step_count };
	struct nt_verdict_text verdict;
	int rc;

	if (nt_verdict_make(&verdict, summary, err) < 0)
		return -1;
	nt_job_figures_make(&view.figures, summary);
	if (!full && summary->step_count > STEPS_IN_FULL)
		view.step = view.figures.main;
	if (job)
		fprintf(out, "Job %s\n", job);
	rc = print_all(out, &view, &verdict, err);
	nt_verdict_fini(&verdict);
	return rc;
}

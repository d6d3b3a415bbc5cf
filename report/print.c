/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's summary as text: what came of it in sentences, then the table, each line with its reason,
 * then what to do about these. */
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "report/rowtext.h"
#include "report/rowtime.h"
#include "report/table.h"
#include "report/topology.h"
#include "report/verdict.h"
#include "report/words.h"
#include "report/wrap.h"

/* A row as the table's columns see it. */
struct line {
	const struct nt_step *step;
	const struct nt_row *row;
	const struct nt_family *family;
};

#define ROW(line) (((const struct line *)(line))->row)

static void print_coll(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_coll_name(ROW(line)->coll));
}

static void print_size(char *cell, const void *line)
{
	nt_size_text(ROW(line)->bytes, cell, NT_CELL_MAX);
}

/* What is long is told in seconds. */
static void print_us(char *cell, double us, const char *mark)
{
	if (isnan(us))
		snprintf(cell, NT_CELL_MAX, "-");
	else if (us >= 1e6)
		snprintf(cell, NT_CELL_MAX, "%.2fs%s", us / 1e6, mark);
	else
		snprintf(cell, NT_CELL_MAX, "%.*f%s", us < 1e5 ? 1 : 0, us, mark);
}

static void print_ms(char *cell, double ms)
{
	if (fabs(ms) >= 1e6)
		snprintf(cell, NT_CELL_MAX, "%.0fs", ms / 1e3);
	else
		nt_cell_decimal(cell, ms, 1);
}

/* Marked where they are not a call's own. */
static const char *mark_of(const struct nt_row *row)
{
	return nt_row_own_known(row) ? "" : "*";
}

static void print_auto_us(char *cell, const void *line)
{
	print_us(cell, nt_row_call_us(ROW(line), NT_OF_AUTO), mark_of(ROW(line)));
}

/* Nothing where nothing else was chosen: its reason names the best other one. */
static void print_arm_us(char *cell, const void *line)
{
	cell[0] = '\0';
	if (nt_row_is_tuned(ROW(line)))
		print_us(cell, nt_row_call_us(ROW(line), NT_OF_ARM), mark_of(ROW(line)));
}

static void print_gain(char *cell, const void *line)
{
	cell[0] = '\0';
	if (nt_row_is_tuned(ROW(line)))
		nt_cell_decimal(cell, nt_row_gain(ROW(line)), 1);
}

static void print_spent(char *cell, const void *line)
{
	print_ms(cell, ROW(line)->spent_ms);
}

static void print_saved(char *cell, const void *line)
{
	cell[0] = '\0';
	if (nt_row_is_tuned(ROW(line)) || !isnan(ROW(line)->saved_ms))
		print_ms(cell, ROW(line)->saved_ms);
}

static const struct nt_column columns[] = {
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_size },
	{ { "CALL us", "NCCL's" }, false, print_auto_us },
	{ { "CALL us", "chosen" }, false, print_arm_us },
	{ { "GAIN", "%" }, false, print_gain },
	{ { "COST", "ms" }, false, print_spent },
	{ { "SAVED", "ms" }, false, print_saved },
};

static bool same_group(const struct line *a, const struct line *b)
{
	return a->step == b->step && a->family == b->family;
}

/* Whose collectives follow. */
static void print_group(FILE *out, const void *row, const void *before)
{
	const struct line *line = row;
	char words[160], looks[64], text[280];

	if (before && same_group(line, before))
		return;
	snprintf(text, sizeof(text), "Step %s, %s%s:", line->step->name,
		 nt_family_words(line->family, words, sizeof(words)),
		 nt_family_looks(line->family, looks, sizeof(looks)));
	nt_wrap(out, "", 2, text);
}

static void print_reason(FILE *out, const void *line)
{
	struct nt_said said;

	nt_row_say(&said, ROW(line));
	nt_wrap(out, "    ", 4, said.says);
}

static const struct nt_table table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_bytes = sizeof(struct line),
};

static const struct nt_table_notes notes = {
	.max_columns = NT_WRAP_COLUMNS,
	.above = print_group,
	.below = print_reason,
};

/* What NCCL was started with, why, and what it brought. */
static void print_launch(FILE *out, const struct nt_step *step)
{
	char text[1024], more[64];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "launch profile %s (%s", step->launch,
				step->from[0] ? step->from : "no reason is recorded");
	if (!isnan(step->expected))
		used += (size_t)snprintf(text + used, sizeof(text) - used, ": %.2f x expected",
					 step->expected);
	if (!isnan(step->measured))
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s %.2f x measured by the program's own step",
					 isnan(step->expected) ? ":" : ",", step->measured);
	if (!isnan(step->step_us[1]))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "; %s a step",
					 nt_time_text(step->step_us[1], more, sizeof(more)));
	if (step->steps >= 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", %" PRId64 " step%s",
					 step->steps, step->steps == 1 ? "" : "s");
	snprintf(text + used, sizeof(text) - used, ")");
	nt_wrap(out, "  ", 4, text);
	if (step->set[0])
		nt_wrap(out, "  set: ", 4, step->set);
	if (step->left[0])
		nt_wrap(out, "  left alone, as the job sets it: ", 4, step->left);
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
			fprintf(out, ", %" PRId64 " rank%s", step->ranks,
				step->ranks == 1 ? "" : "s");
		if (step->nodes >= 0)
			fprintf(out, ", %" PRId64 " node%s", step->nodes,
				step->nodes == 1 ? "" : "s");
		if (step->run > 0)
			fprintf(out, ", run %" PRId64, step->run + 1);
		fputc('\n', out);
		if (step->launch[0])
			print_launch(out, step);
	}
}

/* What to do stands behind the last of the sentences that it is about. */
static bool is_told_later(const struct nt_verdict_text *verdict, size_t which)
{
	for (size_t i = which + 1; i < verdict->count; i++) {
		if (strcmp(verdict->items[i].type, verdict->items[which].type) == 0)
			return true;
	}
	return false;
}

void nt_verdict_print(FILE *out, const struct nt_verdict_text *verdict)
{
	for (size_t i = 0; i < verdict->count; i++) {
		const struct nt_sentence *sentence = &verdict->items[i];

		nt_wrap(out, "", 2, sentence->text);
		if (sentence->type[0] && !is_told_later(verdict, i))
			nt_wrap(out, "  -> ", 5, sentence->type);
	}
}

static bool is_marked(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		if (!nt_row_own_known(&summary->rows[i]) && !isnan(summary->rows[i].auto_us))
			return true;
	}
	return false;
}

static int print_rows(FILE *out, const struct nt_summary *summary, struct nt_error *err)
{
	struct line *lines;
	int rc;

	if (summary->row_count == 0)
		return 0;
	lines = calloc(summary->row_count, sizeof(*lines));
	if (!lines)
		return nt_error_set(err, "no memory for a table of %zu rows", summary->row_count);
	for (size_t i = 0; i < summary->row_count; i++) {
		lines[i].row = &summary->rows[i];
		lines[i].step = &summary->steps[summary->rows[i].step];
		lines[i].family = &summary->families[summary->rows[i].family];
	}
	fputc('\n', out);
	rc = nt_table_print_noted(out, &table, &notes, lines, summary->row_count, err);
	free(lines);
	if (rc < 0)
		return -1;
	nt_wrap(out, "", 0,
		"CALL: from a call's start to its end, on the slowest rank. COST: of exploring. SAVED: "
		"compared with NCCL's choice, since another was made. Both are one rank's time. "
		"p: how likely by chance alone.");
	if (is_marked(summary))
		nt_wrap(out, "", 0, "*: from its start to the start of the next call of any kind.");
	return 0;
}

static bool is_in(const struct nt_verdict_text *verdict, const char *type)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (strcmp(verdict->items[i].type, type) == 0)
			return true;
	}
	return false;
}

/* What to do about the reasons of rows, once each, but for what was told above. */
static void print_what_to_do(FILE *out, const struct nt_summary *summary,
			     const struct nt_verdict_text *verdict)
{
	bool told[NT_REASON_COUNT] = { false };
	bool any = false;

	for (size_t i = 0; i < summary->row_count; i++) {
		struct nt_said said;

		nt_row_say(&said, &summary->rows[i]);
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
	nt_verdict_print(out, &verdict);
	fputc('\n', out);
	print_steps(out, summary);
	rc = print_rows(out, summary, err);
	if (rc == 0)
		rc = nt_topology_print(out, summary, err);
	if (rc == 0) {
		print_what_to_do(out, summary, &verdict);
		print_damage(out, summary);
	}
	nt_verdict_fini(&verdict);
	return rc;
}

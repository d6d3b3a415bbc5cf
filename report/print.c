/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's summary as text. */
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "report/table.h"

/* A row as the table's columns see it. */
struct line {
	const struct nt_step *step;
	const struct nt_row *row;
};

#define ROW(line) (((const struct line *)(line))->row)

static void print_step(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%s", ((const struct line *)line)->step->name);
}

static void print_shape(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%" PRIu32 "r%" PRIu32 "n", ROW(line)->ranks, ROW(line)->nodes);
}

static void print_coll(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_coll_name(ROW(line)->coll));
}

static void print_size(char *cell, const void *line)
{
	nt_size_text(ROW(line)->bytes, cell, NT_CELL_MAX);
}

static void print_auto_arm(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_arm_name(ROW(line)->auto_arm));
}

static void print_arm(char *cell, const void *line)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_arm_name(ROW(line)->arm));
}

static void print_auto_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->auto_us, 1);
}

static void print_arm_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->arm_us, 1);
}

static void print_gain(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->gain_percent, 1);
}

static void print_p(char *cell, const void *line)
{
	nt_cell_share(cell, ROW(line)->p);
}

static void print_samples(char *cell, const void *line)
{
	nt_cell_count(cell, ROW(line)->samples);
}

static void print_spent_calls(char *cell, const void *line)
{
	nt_cell_count(cell, ROW(line)->spent_calls);
}

static void print_spent_ms(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->spent_ms, 1);
}

static void print_saved_ms(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->saved_ms, 1);
}

static const struct nt_column columns[] = {
	{ { "", "STEP" }, true, print_step },
	{ { "", "COMM" }, true, print_shape },
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_size },
	{ { "AUTO", "PICKS" }, true, print_auto_arm },
	{ { "CHOSEN", "ARM" }, true, print_arm },
	{ { "AUTO", "us" }, false, print_auto_us },
	{ { "ARM", "us" }, false, print_arm_us },
	{ { "GAIN", "%" }, false, print_gain },
	{ { "", "P" }, false, print_p },
	{ { "SAM-", "PLES" }, false, print_samples },
	{ { "SPENT", "calls" }, false, print_spent_calls },
	{ { "SPENT", "ms" }, false, print_spent_ms },
	{ { "SAVED", "ms" }, false, print_saved_ms },
};

static const struct nt_table table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_bytes = sizeof(struct line),
};

static void print_auto_own_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->auto_own_us, 1);
}

static void print_arm_own_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->arm_own_us, 1);
}

static void print_auto_period_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->auto_period_us, 1);
}

static void print_arm_period_us(char *cell, const void *line)
{
	nt_cell_decimal(cell, ROW(line)->arm_period_us, 1);
}

/* Beside the first table they would be wider than a terminal. */
static const struct nt_column period_columns[] = {
	{ { "", "STEP" }, true, print_step },
	{ { "", "COMM" }, true, print_shape },
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_size },
	{ { "OWN TIME", "AUTO us" }, false, print_auto_own_us },
	{ { "OWN TIME", "ARM us" }, false, print_arm_own_us },
	{ { "PERIOD", "AUTO us" }, false, print_auto_period_us },
	{ { "PERIOD", "ARM us" }, false, print_arm_period_us },
};

static const struct nt_table period_table = {
	.columns = period_columns,
	.column_count = sizeof(period_columns) / sizeof(period_columns[0]),
	.row_bytes = sizeof(struct line),
};

static void print_time(FILE *out, double us)
{
	if (us < 1000)
		fprintf(out, "%.1f us", us);
	else if (us < 1e6)
		fprintf(out, "%.1f ms", us / 1e3);
	else
		fprintf(out, "%.2f s", us / 1e6);
}

/* What NCCL was started with, why, and what it brought. */
static void print_launch(FILE *out, const struct nt_step *step)
{
	const char *between = ": ";

	fprintf(out, "  launch profile %s (%s", step->launch,
		step->from[0] ? step->from : "no reason is recorded");
	if (!isnan(step->expected)) {
		fprintf(out, "%s%.2f x expected", between, step->expected);
		between = ", ";
	}
	if (!isnan(step->measured))
		fprintf(out, "%s%.2f x measured by the program's own step", between,
			step->measured);
	if (!isnan(step->step_us[1])) {
		fputs("; ", out);
		print_time(out, step->step_us[1]);
		fputs(" a step", out);
	}
	if (step->steps >= 0)
		fprintf(out, ", %" PRId64 " step%s", step->steps, step->steps == 1 ? "" : "s");
	fputs(")\n", out);
	if (step->set[0])
		fprintf(out, "  set: %s\n", step->set);
	if (step->left[0])
		fprintf(out, "  left alone, as the job sets it: %s\n", step->left);
	if (step->remark[0])
		fprintf(out, "  %s\n", step->remark);
}

static void print_head(FILE *out, const char *job, const struct nt_summary *summary)
{
	if (job)
		fprintf(out, "Job %s\n", job);
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
		fputc('\n', out);
		if (step->launch[0])
			print_launch(out, step);
	}
}

/* Of the rows of which they are known. */
static int print_periods(FILE *out, struct line *lines, size_t count, struct nt_error *err)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isnan(lines[i].row->auto_own_us) || !isnan(lines[i].row->auto_period_us))
			lines[known++] = lines[i];
	}
	if (known == 0)
		return 0;
	fputs("Own time: a call from its start to its end, on the slowest rank. Period: from one call "
	      "to the next.\n",
	      out);
	return nt_table_print(out, &period_table, lines, known, err);
}

static int print_rows(FILE *out, const struct nt_summary *summary, struct nt_error *err)
{
	struct line *lines;
	int rc;

	if (summary->row_count == 0) {
		fputs("No collective was measured.\n", out);
		return 0;
	}
	lines = calloc(summary->row_count, sizeof(*lines));
	if (!lines)
		return nt_error_set(err, "no memory for a table of %zu rows", summary->row_count);
	for (size_t i = 0; i < summary->row_count; i++) {
		lines[i].row = &summary->rows[i];
		lines[i].step = &summary->steps[summary->rows[i].step];
	}
	rc = nt_table_print(out, &table, lines, summary->row_count, err);
	if (rc == 0)
		rc = print_periods(out, lines, summary->row_count, err);
	free(lines);
	return rc;
}

static void print_remarks(FILE *out, const struct nt_summary *summary, enum nt_remark_kind kind,
			  const char *title)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		if (remark->kind != kind)
			continue;
		if (remark->step[0])
			fprintf(out, "%s: step %s: %s\n", title, remark->step, remark->text);
		else
			fprintf(out, "%s: %s\n", title, remark->text);
	}
}

/* What an administrator does about ranks that differ. The words are those of pmix-sync/join.c. */
static const struct {
	const char *why, *hint;
} hints[] = {
	{ "differs: hardware",
	  "hardware differs: compare `nccl-tune fingerprint` of the two nodes; it "
	  "also says whether a node's cache is old" },
	{ "differs: NCCL", "NCCL differs: ranks load different releases of NCCL; look at their "
			   "containers, modules, LD_LIBRARY_PATH" },
	{ "differs: plugin interface",
	  "plugin interface differs: ranks load different releases of NCCL; "
	  "look at their containers, modules, LD_LIBRARY_PATH" },
	{ "differs: plugin build",
	  "plugin build differs: install one libnccl-tune.so on all nodes" },
	{ "differs: policy",
	  "policy differs: plugstack.conf gives different settings on the nodes, or "
	  "the job changed NCCL_TUNE_POLICY in some ranks" },
};

static void print_hints(FILE *out, const struct nt_summary *summary)
{
	for (size_t h = 0; h < sizeof(hints) / sizeof(hints[0]); h++) {
		size_t i = 0;

		while (i < summary->remark_count &&
		       (summary->remarks[i].kind != NT_REMARK_WHY ||
			!strstr(summary->remarks[i].text, hints[h].why)))
			i++;
		if (i < summary->remark_count)
			fprintf(out, "Hint: %s\n", hints[h].hint);
	}
}

static void print_more(FILE *out, const struct nt_summary *summary)
{
	if (summary->more_steps > 0)
		fprintf(out, "Left out: %" PRId64 " steps had no room in the record\n",
			summary->more_steps);
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].more > 0)
			fprintf(out,
				"Left out: step %s: %" PRId64
				" entries had no room in the record\n",
				summary->steps[i].name, summary->steps[i].more);
	}
}

static void print_net(FILE *out, const struct nt_summary *summary)
{
	char net_text[32], saved_text[32], spent_text[32];
	double saved_ms = 0.0;
	double spent_ms = 0.0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		saved_ms += isnan(row->saved_ms) ? 0.0 : row->saved_ms;
		spent_ms += isnan(row->spent_ms) ? 0.0 : row->spent_ms;
	}
	fprintf(out, "Net time saved: %s (saved %s, spent %s)%s\n",
		nt_duration_text(saved_ms - spent_ms, net_text, sizeof(net_text)),
		nt_duration_text(saved_ms, saved_text, sizeof(saved_text)),
		nt_duration_text(spent_ms, spent_text, sizeof(spent_text)),
		nt_summary_damaged(summary) ? "; the record is damaged, this is what could be read"
					    : "");
}

static void print_rechecks(FILE *out, const struct nt_summary *summary)
{
	int64_t rechecks = 0, rollbacks = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		rechecks += summary->rows[i].rechecks;
		rollbacks += summary->rows[i].rollbacks;
	}
	if (rechecks > 0)
		fprintf(out, "Choices looked at again: %" PRId64 " times; given up: %" PRId64 "\n",
			rechecks, rollbacks);
}

int nt_summary_print(FILE *out, const char *job, const struct nt_summary *summary,
		     struct nt_error *err)
{
	print_head(out, job, summary);
	if (print_rows(out, summary, err) < 0)
		return -1;
	print_remarks(out, summary, NT_REMARK_WHY, "Not tuned");
	print_hints(out, summary);
	print_more(out, summary);
	print_remarks(out, summary, NT_REMARK_DAMAGE, "Damaged");
	print_rechecks(out, summary);
	print_net(out, summary);
	return 0;
}

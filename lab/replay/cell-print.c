/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cell-print.c - replayed cells as tables and as JSON */
#include "lab/replay/replay.h"

#include <inttypes.h>
#include <math.h>
#include "contract/reason.h"
#include "lib/json.h"
#include "lib/table.h"

#define CELL_COLUMNS "-COLLECTIVE", "-TOPO", "-MODE", "SIZE"

static const char *const cell_columns[] = { CELL_COLUMNS, "NCCL\nus", "BEST\nus", "-CHOICE",
					    "CHOSEN\nus", "-CHOICE",  "OF\nBEST", "OF\nNCCL",
					    "CALLS",	  "-WHY",     "-LAUNCH" };

static const char *const record_columns[] = { CELL_COLUMNS,	 "NCCL\nus", "-RECORDED\nCHOICE",
					      "-CHOSEN\nCHOICE", "us",	     "-SAME",
					      "CALLS",		 "-WHY",     "-" };

static const char *const aa_columns[] = { CELL_COLUMNS, "CHOICES", "FALSE\n%", "CALLS", "-LAUNCH" };

static const char *const power_columns[] = { CELL_COLUMNS,	 "CHOICES",  "FOUND\n%",
					     "IN 40 OF\nEACH %", "OTHER\n%", "CALLS",
					     "-LAUNCH" };

/* The code of the reason for it, as records have it. */
static const char *verdict_code(unsigned verdict)
{
	return verdict == NT_VERDICT_FASTER ? "faster"
					    : nt_reason_code(nt_schedule_verdict_reason(verdict));
}

static void add_arm(struct nt_table *table, unsigned arm)
{
	nt_cell(table, "%s", nt_arm_name((int)arm));
}

static void add_cell(struct nt_table *table, const struct nt_replay_row *row)
{
	nt_cell_decimal(table, row->auto_us, 1);
	nt_cell_decimal(table, row->best_us, 1);
	add_arm(table, row->best_arm);
	nt_cell_decimal(table, row->chosen_us, 1);
	add_arm(table, row->chosen_arm);
	nt_cell_decimal(table, row->chosen_us / row->best_us, 3);
	nt_cell_decimal(table, row->chosen_us / row->auto_us, 3);
	nt_cell_decimal(table, row->calls, 0);
	nt_cell(table, "%s", verdict_code(row->verdict));
}

static void add_record(struct nt_table *table, const struct nt_replay_row *row)
{
	nt_cell_decimal(table, row->auto_us, 1);
	add_arm(table, row->recorded_arm);
	add_arm(table, row->chosen_arm);
	nt_cell_decimal(table, row->chosen_us, 1);
	nt_cell(table, row->same ? "yes" : "NO");
	nt_cell_decimal(table, row->calls, 0);
	nt_cell(table, "%s", verdict_code(row->verdict));
}

static void add_aa(struct nt_table *table, const struct nt_replay_row *row)
{
	nt_cell_count(table, row->arms);
	nt_cell_decimal(table, 100 * row->rate, 2);
	nt_cell_decimal(table, row->calls, 0);
}

static void add_power(struct nt_table *table, const struct nt_replay_row *row)
{
	nt_cell_count(table, row->arms);
	nt_cell_decimal(table, 100 * row->rate, 2);
	nt_cell_decimal(table, 100 * row->early_rate, 2);
	nt_cell_decimal(table, 100 * row->wrong_rate, 2);
	nt_cell_decimal(table, row->calls, 0);
}

/* The last column only if a row has a launch profile. */
static int print_table(FILE *out, enum nt_replay_kind kind, const struct nt_replay_rows *rows,
		       struct nt_error *err)
{
	static const struct {
		struct nt_table empty;
		void (*add)(struct nt_table *table, const struct nt_replay_row *row);
	} tables[] = {
		[NT_REPLAY_CELLS] = { NT_TABLE(cell_columns, 0), add_cell },
		[NT_REPLAY_AA] = { NT_TABLE(aa_columns, 0), add_aa },
		[NT_REPLAY_POWER] = { NT_TABLE(power_columns, 0), add_power },
		[NT_REPLAY_RECORD] = { NT_TABLE(record_columns, 0), add_record },
	};
	struct nt_table table = tables[kind].empty;
	bool launch = false;
	char size[24];

	for (size_t i = 0; i < rows->count; i++)
		launch |= rows->row[i].launch[0] != 0;
	if (!launch)
		table.column_count--;
	for (size_t i = 0; i < rows->count; i++) {
		const struct nt_replay_row *row = &rows->row[i];

		nt_cell(&table, "%.31s", row->collective);
		nt_cell(&table, "%.31s", row->topology);
		nt_cell(&table, "%.31s", row->mode);
		nt_cell(&table, "%s", nt_size_text((size_t)row->bytes, size, sizeof(size)));
		tables[kind].add(&table, row);
		if (launch)
			nt_cell(&table, "%.31s", row->launch);
	}
	return nt_table_print(out, &table, err);
}

static void print_sum(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows)
{
	unsigned near = 0, slower = 0;
	double calls = 0, extra_us = 0, rate = 0, worst = replay->kind == NT_REPLAY_POWER ? 1 : 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct nt_replay_row *row = &rows->row[i];

		near += row->chosen_us <= 1.02 * row->best_us;
		slower += row->chosen_us > 1.01 * row->auto_us;
		calls += row->calls / (double)rows->count;
		extra_us += row->extra_us;
		rate += row->rate / (double)rows->count;
		worst = replay->kind == NT_REPLAY_POWER ? fmin(worst, row->rate)
							: fmax(worst, row->rate);
	}
	fprintf(out, "%zu cases", rows->count);
	if (replay->kind == NT_REPLAY_CELLS)
		fprintf(out,
			": %u within 2 %% of the best, %u slower than NCCL's choice by over 1 %%",
			near, slower);
	else
		fprintf(out, ", %u trials each: %s %.2f %%, worst case %.2f %%", replay->trials,
			replay->kind == NT_REPLAY_AA ? "falsely overridden" : "found", 100 * rate,
			100 * worst);
	fprintf(out, "; %.0f calls spent on average", calls);
	if (replay->kind == NT_REPLAY_CELLS)
		fprintf(out, ", in all %.2f s beyond NCCL's choice", extra_us / 1e6);
	fputc('\n', out);
}

int nt_replay_print(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows,
		    struct nt_error *err)
{
	if (print_table(out, replay->kind, rows, err) < 0)
		return -1;
	if (replay->kind != NT_REPLAY_RECORD)
		print_sum(out, replay, rows);
	if (replay->kind == NT_REPLAY_CELLS)
		nt_replay_print_launch(out, rows);
	return 0;
}

static void add_us(json_object *object, const char *name, double us, int *rc)
{
	nt_json_add(object, name, nt_json_decimal(us, 6, rc), rc);
}

static void add_arm_name(json_object *object, const char *name, unsigned arm, int *rc)
{
	nt_json_string(object, name, nt_arm_name((int)arm), rc);
}

static void add_decided(json_object *o, enum nt_replay_kind kind, const struct nt_replay_row *row,
			int *rc)
{
	add_us(o, "auto_us", row->auto_us, rc);
	if (row->auto_arm != NT_ARM_BASELINE)
		add_arm_name(o, "auto_arm", row->auto_arm, rc);
	add_arm_name(o, "best_arm", row->best_arm, rc);
	add_us(o, "best_us", row->best_us, rc);
	add_arm_name(o, "chosen_arm", row->chosen_arm, rc);
	add_us(o, "chosen_us", row->chosen_us, rc);
	add_us(o, "p", row->p, rc);
	nt_json_string(o, "why", verdict_code(row->verdict), rc);
	nt_json_integer(o, "calls", (int64_t)row->calls, rc);
	nt_json_integer(o, "samples", row->samples, rc);
	if (kind == NT_REPLAY_CELLS)
		add_us(o, "extra_us", row->extra_us, rc);
	if (row->recorded) {
		add_arm_name(o, "recorded_arm", row->recorded_arm, rc);
		nt_json_bool(o, "same", row->same, rc);
	}
}

static void add_rates(json_object *o, const struct nt_replay *replay,
		      const struct nt_replay_row *row, int *rc)
{
	const bool power = replay->kind == NT_REPLAY_POWER;

	if (power)
		add_us(o, "power", 100 * replay->gain, rc);
	add_us(o, "rate", row->rate, rc);
	if (power) {
		add_us(o, "wrong_rate", row->wrong_rate, rc);
		add_us(o, "rate_within_40", row->early_rate, rc);
	}
	nt_json_integer(o, "trials", row->trials, rc);
	add_us(o, "calls", row->calls, rc);
}

static json_object *row_value(const struct nt_replay *replay, const struct nt_replay_row *row,
			      int *rc)
{
	json_object *o = nt_json_object(rc);

	nt_json_string(o, "collective", row->collective, rc);
	nt_json_string(o, "topology", row->topology, rc);
	nt_json_string(o, "mode", row->mode, rc);
	nt_json_integer(o, "bytes", (int64_t)row->bytes, rc);
	nt_json_text(o, "launch", row->launch, rc);
	nt_json_integer(o, "arms", row->arms, rc);
	if (replay->kind == NT_REPLAY_CELLS || replay->kind == NT_REPLAY_RECORD)
		add_decided(o, replay->kind, row, rc);
	else
		add_rates(o, replay, row, rc);
	return o;
}

int nt_replay_json(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows)
{
	fputs("[", out);
	for (size_t i = 0; i < rows->count; i++) {
		int rc = 0;
		json_object *object = row_value(replay, &rows->row[i], &rc);
		const char *text = json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

		fprintf(out, "%s\n%s", i ? "," : "", rc == 0 && text ? text : "null");
		json_object_put(object);
	}
	fputs("\n]\n", out);
	return 0;
}

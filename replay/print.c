/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - replayed cells as tables and as JSON */
#include "replay/replay.h"

#include <inttypes.h>
#include <json.h>
#include <math.h>
#include "report/table.h"

#define ROW(row) ((const struct nt_replay_row *)(row))
#define TEXT(member)                                                    \
	static void print_##member(char *cell, const void *row)         \
	{                                                               \
		snprintf(cell, NT_CELL_MAX, "%.31s", ROW(row)->member); \
	}
#define DECIMAL(member, decimals)                                  \
	static void print_##member(char *cell, const void *row)    \
	{                                                          \
		nt_cell_decimal(cell, ROW(row)->member, decimals); \
	}
#define ARM(member)                                                                    \
	static void print_##member(char *cell, const void *row)                        \
	{                                                                              \
		snprintf(cell, NT_CELL_MAX, "%s", nt_arm_name((int)ROW(row)->member)); \
	}
#define COUNT(member)                                           \
	static void print_##member(char *cell, const void *row) \
	{                                                       \
		nt_cell_count(cell, ROW(row)->member);          \
	}
#define RATIO(name, of)                                                       \
	static void print_##name(char *cell, const void *row)                 \
	{                                                                     \
		nt_cell_decimal(cell, ROW(row)->chosen_us / ROW(row)->of, 3); \
	}
#define PERCENT(member)                                           \
	static void print_##member(char *cell, const void *row)   \
	{                                                         \
		nt_cell_decimal(cell, 100 * ROW(row)->member, 2); \
	}

TEXT(collective)
TEXT(topology)
TEXT(mode)
TEXT(launch)
DECIMAL(auto_us, 1)
DECIMAL(best_us, 1)
DECIMAL(chosen_us, 1)
DECIMAL(calls, 0)
ARM(best_arm)
ARM(chosen_arm)
COUNT(arms)
RATIO(of_best, best_us)
RATIO(of_auto, auto_us)
PERCENT(rate)
PERCENT(wrong_rate)
PERCENT(early_rate)

static void print_bytes(char *cell, const void *row)
{
	nt_size_text((size_t)ROW(row)->bytes, cell, NT_CELL_MAX);
}

static void print_verdict(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_schedule_verdict_name(ROW(row)->verdict));
}

#define CELL_COLUMNS                                                                            \
	{ { "", "COLLECTIVE" }, true, print_collective },                                       \
		{ { "", "TOPO" }, true, print_topology }, { { "", "MODE" }, true, print_mode }, \
	{                                                                                       \
		{ "", "SIZE" }, false, print_bytes                                              \
	}

static const struct nt_column cell_columns[] = {
	CELL_COLUMNS,
	{ { "AUTO", "us" }, false, print_auto_us },
	{ { "BEST", "us" }, false, print_best_us },
	{ { "", "ARM" }, true, print_best_arm },
	{ { "CHOSEN", "us" }, false, print_chosen_us },
	{ { "", "ARM" }, true, print_chosen_arm },
	{ { "OF", "BEST" }, false, print_of_best },
	{ { "OF", "AUTO" }, false, print_of_auto },
	{ { "", "CALLS" }, false, print_calls },
	{ { "", "WHY" }, true, print_verdict },
	{ { "", "LAUNCH" }, true, print_launch },
};

static void print_recorded(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_arm_name((int)ROW(row)->recorded_arm));
}

static void print_same(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", ROW(row)->same ? "yes" : "NO");
}

static const struct nt_column record_columns[] = {
	CELL_COLUMNS,
	{ { "AUTO", "us" }, false, print_auto_us },
	{ { "RECORDED", "ARM" }, true, print_recorded },
	{ { "CHOSEN", "ARM" }, true, print_chosen_arm },
	{ { "", "us" }, false, print_chosen_us },
	{ { "", "SAME" }, true, print_same },
	{ { "", "CALLS" }, false, print_calls },
	{ { "", "WHY" }, true, print_verdict },
	{ { "", "" }, true, print_launch },
};

static const struct nt_column aa_columns[] = {
	CELL_COLUMNS,
	{ { "", "ARMS" }, false, print_arms },
	{ { "FALSE", "%" }, false, print_rate },
	{ { "", "CALLS" }, false, print_calls },
	{ { "", "LAUNCH" }, true, print_launch },
};

static const struct nt_column power_columns[] = {
	CELL_COLUMNS,
	{ { "", "ARMS" }, false, print_arms },
	{ { "FOUND", "%" }, false, print_rate },
	{ { "IN 40 OF", "AN ARM %" }, false, print_early_rate },
	{ { "OTHER", "%" }, false, print_wrong_rate },
	{ { "", "CALLS" }, false, print_calls },
	{ { "", "LAUNCH" }, true, print_launch },
};

#define TABLE(columns)                                                                         \
	{                                                                                      \
		columns, sizeof(columns) / sizeof(columns[0]), sizeof(struct nt_replay_row), 0 \
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
	fprintf(out, "rule %s, %zu cells", nt_replay_rule_name(replay), rows->count);
	if (replay->kind == NT_REPLAY_CELLS)
		fprintf(out, ": %u within 2 %% of the best, %u slower than AUTO by over 1 %%", near,
			slower);
	else
		fprintf(out, ", %u trials each: %s %.2f %%, worst cell %.2f %%", replay->trials,
			replay->kind == NT_REPLAY_AA ? "falsely overridden" : "found", 100 * rate,
			100 * worst);
	fprintf(out, "; %.0f calls spent on average", calls);
	if (replay->kind == NT_REPLAY_CELLS)
		fprintf(out, ", in all %.2f s beyond AUTO", extra_us / 1e6);
	fputc('\n', out);
}

int nt_replay_print(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows,
		    struct nt_error *err)
{
	static const struct nt_table tables[] = {
		[NT_REPLAY_CELLS] = TABLE(cell_columns),
		[NT_REPLAY_AA] = TABLE(aa_columns),
		[NT_REPLAY_POWER] = TABLE(power_columns),
		[NT_REPLAY_RECORD] = TABLE(record_columns),
	};
	struct nt_table table = tables[replay->kind];
	bool launch = false;

	for (size_t i = 0; i < rows->count; i++)
		launch |= rows->row[i].launch[0] != 0;
	if (!launch)
		table.column_count--;
	if (nt_table_print(out, &table, rows->row, rows->count, err) < 0)
		return -1;
	if (replay->kind != NT_REPLAY_RECORD)
		print_sum(out, replay, rows);
	if (replay->kind == NT_REPLAY_CELLS)
		nt_replay_print_launch(out, rows);
	return 0;
}

static void add(json_object *object, const char *name, json_object *value)
{
	json_object_object_add(object, name, value);
}

static void add_us(json_object *object, const char *name, double us)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6g", us);
	add(object, name, isfinite(us) ? json_object_new_double_s(us, text) : NULL);
}

static json_object *text_of(const char *text)
{
	return json_object_new_string(text);
}

static json_object *object_of(const struct nt_replay *replay, const struct nt_replay_row *row)
{
	json_object *o = json_object_new_object();

	add(o, "collective", text_of(row->collective));
	add(o, "topology", text_of(row->topology));
	add(o, "mode", text_of(row->mode));
	add(o, "bytes", json_object_new_int64((int64_t)row->bytes));
	if (row->launch[0])
		add(o, "launch", text_of(row->launch));
	add(o, "rule", text_of(nt_replay_rule_name(replay)));
	add(o, "arms", json_object_new_int((int)row->arms));
	if (replay->kind == NT_REPLAY_CELLS || replay->kind == NT_REPLAY_RECORD) {
		add_us(o, "auto_us", row->auto_us);
		if (row->auto_arm != NT_ARM_AUTO)
			add(o, "auto_arm", text_of(nt_arm_name((int)row->auto_arm)));
		add(o, "best_arm", text_of(nt_arm_name((int)row->best_arm)));
		add_us(o, "best_us", row->best_us);
		add(o, "chosen_arm", text_of(nt_arm_name((int)row->chosen_arm)));
		add_us(o, "chosen_us", row->chosen_us);
		add_us(o, "p", row->p);
		add(o, "why", text_of(nt_schedule_verdict_name(row->verdict)));
		add(o, "calls", json_object_new_int64((int64_t)row->calls));
		add(o, "samples", json_object_new_int((int)row->samples));
		if (replay->kind == NT_REPLAY_CELLS)
			add_us(o, "extra_us", row->extra_us);
		if (row->recorded) {
			add(o, "recorded_arm", text_of(nt_arm_name((int)row->recorded_arm)));
			add(o, "same", json_object_new_boolean(row->same));
		}
		return o;
	}
	if (replay->kind == NT_REPLAY_POWER)
		add_us(o, "power", 100 * replay->gain);
	add_us(o, "rate", row->rate);
	if (replay->kind == NT_REPLAY_POWER)
		add_us(o, "wrong_rate", row->wrong_rate);
	if (replay->kind == NT_REPLAY_POWER)
		add_us(o, "rate_within_40", row->early_rate);
	add(o, "trials", json_object_new_int((int)row->trials));
	add_us(o, "calls", row->calls);
	return o;
}

int nt_replay_json(FILE *out, const struct nt_replay *replay, const struct nt_replay_rows *rows)
{
	fputs("[", out);
	for (size_t i = 0; i < rows->count; i++) {
		json_object *object = object_of(replay, &rows->row[i]);
		const char *text = json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

		fprintf(out, "%s\n%s", i ? "," : "", text ? text : "null");
		json_object_put(object);
	}
	fputs("\n]\n", out);
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/compare-text.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/table.h"
#include "lib/wrap.h"
#include "report/model/row-time.h"
#include "report/text/words.h"

#define SHORT_MAX 20 /* of a setting in the table */

static const char *const setting_columns[] = { "-SETTING", "-A", "-B", "-DIFFERENCE" };
static const char *const key_columns[] = { "-COLLECTIVE", "SIZE",   "CALL us\nA", "CALL us\nB",
					   "CHANGE\n%",	  "-NOISE", "GB/s\nA",	  "GB/s\nB" };

/* ---- sentences */

static void say_step_time(FILE *out, const struct nt_step_pair *pair)
{
	static const char *const noise[] = {
		[NT_NOISE_UNKNOWN] = "whether that is beyond noise is unknown",
		[NT_NOISE_WITHIN] = "within noise",
		[NT_NOISE_BEYOND] = "beyond noise",
	};
	struct nt_time_pair times;
	char text[200], us[2][32];

	nt_pair_step_time(&times, pair);
	if (isnan(times.change_percent))
		return;
	snprintf(text, sizeof(text),
		 "The program's own step takes %s in A and %s in B: B is %.1f %% %s, %s.",
		 nt_time_text(times.us[0], us[0], sizeof(us[0])),
		 nt_time_text(times.us[1], us[1], sizeof(us[1])), fabs(times.change_percent),
		 times.change_percent > 0 ? "slower" : "faster", noise[nt_pair_noise(&times)]);
	nt_wrap(out, "", 2, text);
}

static void add_count(char *text, size_t text_bytes, size_t count, const char *what)
{
	if (count > 0)
		nt_append(text, text_bytes, "%s%zu %s", text[0] ? ", " : "", count, what);
}

static void say_keys(FILE *out, const struct nt_step_pair *pair)
{
	size_t faster = 0, slower = 0, within = 0, unknown = 0, only[2] = { 0, 0 };
	char text[300] = "";

	for (size_t i = 0; i < pair->key_count; i++) {
		struct nt_time_pair times;
		enum nt_noise noise;

		nt_pair_key_time(&times, &pair->keys[i]);
		noise = nt_pair_noise(&times);
		if (!pair->keys[i].key[0] || !pair->keys[i].key[1])
			only[!pair->keys[i].key[0]]++;
		else if (noise == NT_NOISE_BEYOND)
			*(times.change_percent < 0 ? &faster : &slower) += 1;
		else
			*(noise == NT_NOISE_WITHIN ? &within : &unknown) += 1;
	}
	add_count(text, sizeof(text), faster, "faster in B beyond noise");
	add_count(text, sizeof(text), slower, "slower in B beyond noise");
	add_count(text, sizeof(text), within, "within noise");
	add_count(text, sizeof(text), unknown, "without a known spread");
	add_count(text, sizeof(text), only[0], "only in A");
	add_count(text, sizeof(text), only[1], "only in B");
	if (text[0])
		nt_append(text, sizeof(text), ".");
	if (text[0])
		nt_wrap(out, "Collectives and sizes: ", 2, text);
}

/* ---- settings */

/* A value that is too long for the table gets lines of its own. */
static void add_long(struct nt_table *table, const char *name, const char *const text[2])
{
	char first[32];

	snprintf(first, sizeof(first), "%s: ", name);
	if (strcmp(text[0], text[1]) == 0) {
		nt_table_note(table, first, 2, text[0]);
		return;
	}
	snprintf(first, sizeof(first), "%s in A: ", name);
	nt_table_note(table, first, 4, text[0][0] ? text[0] : "-");
	snprintf(first, sizeof(first), "%s in B: ", name);
	nt_table_note(table, first, 4, text[1][0] ? text[1] : "-");
}

static void add_setting(struct nt_table *table, const char *name, const char *const text[2])
{
	if (!text[0][0] && !text[1][0])
		return;
	if (strlen(text[0]) > SHORT_MAX || strlen(text[1]) > SHORT_MAX) {
		add_long(table, name, text);
		return;
	}
	nt_cell(table, "%s", name);
	for (int i = 0; i < 2; i++)
		nt_cell(table, "%s", text[i][0] ? text[i] : "-");
	nt_cell(table, "%s",
		!text[0][0] || !text[1][0]	? "unknown"
		: strcmp(text[0], text[1]) == 0 ? "same"
						: "differs");
}

static int print_settings(FILE *out, const struct nt_step_pair *pair, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(setting_columns, 0);

	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < nt_setting_count; i++) {
		char room[2][NT_SETTING_TEXT];
		const char *const text[] = { nt_setting_text(i, pair->side[0], room[0]),
					     nt_setting_text(i, pair->side[1], room[1]) };

		add_setting(&table, nt_setting_name(i), text);
	}
	fputc('\n', out);
	return nt_table_print(out, &table, err);
}

/* ---- calls */

static const char *arm_text(const struct nt_key *key, char *out, size_t out_bytes)
{
	char arm[96];

	if (!key)
		snprintf(out, out_bytes, "not called");
	else if (nt_key_arm_in_force(key) == NT_ARM_BASELINE)
		snprintf(out, out_bytes, "NCCL's choice");
	else
		snprintf(out, out_bytes, "%s%s",
			 nt_arm_words(nt_key_arm_in_force(key), arm, sizeof(arm)),
			 nt_row_is_tuned(key) ? "" : " (NCCL's choice)");
	return out;
}

static void add_arms(struct nt_table *table, const struct nt_key_pair *keys)
{
	char arm[2][128], text[280];

	arm_text(keys->key[0], arm[0], sizeof(arm[0]));
	arm_text(keys->key[1], arm[1], sizeof(arm[1]));
	if (strcmp(arm[0], arm[1]) == 0)
		snprintf(text, sizeof(text), "both: %s", arm[0]);
	else
		snprintf(text, sizeof(text), "A: %s; B: %s", arm[0], arm[1]);
	nt_table_note(table, "    ", 4, text);
}

static void add_keys(struct nt_table *table, const struct nt_key_pair *keys)
{
	const struct nt_key *key = keys->key[0] ? keys->key[0] : keys->key[1];
	struct nt_time_pair times;
	char size[24];

	nt_pair_key_time(&times, keys);
	nt_cell(table, "%s", nt_coll_name(key->coll));
	nt_cell(table, "%s", nt_size_text((size_t)key->bytes, size, sizeof(size)));
	for (int i = 0; i < 2; i++)
		nt_cell_us(table, times.us[i], keys->own ? "" : "*"); /* to the next call */
	if (isnan(times.change_percent))
		nt_cell(table, "-");
	else
		nt_cell(table, "%+.1f", times.change_percent);
	nt_cell(table, "%s",
		!keys->key[0]	? "only in B"
		: !keys->key[1] ? "only in A"
				: nt_noise_name(nt_pair_noise(&times)));
	for (int i = 0; i < 2; i++)
		nt_cell_decimal(table,
				keys->key[i]
					? nt_row_busbw(keys->key[i], nt_row_in_force(keys->key[i]))
					: NAN,
				2);
	add_arms(table, keys);
}

static const struct nt_family *family_of(const struct nt_step_pair *pair,
					 const struct nt_key_pair *keys)
{
	const int from = keys->key[0] ? 0 : 1;

	return &pair->side[from]->summary->families[keys->key[from]->family];
}

static int print_keys(FILE *out, const struct nt_step_pair *pair, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(key_columns, 0);
	char words[160], last[160] = "", text[164];
	bool marked = false;

	if (pair->key_count == 0)
		return 0;
	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < pair->key_count; i++) {
		nt_family_words(family_of(pair, &pair->keys[i]), words, sizeof(words));
		if (strcmp(words, last) != 0) {
			snprintf(text, sizeof(text), "%s:", words);
			nt_table_note(&table, "", 2, text);
		}
		snprintf(last, sizeof(last), "%s", words);
		add_keys(&table, &pair->keys[i]);
		marked |= !pair->keys[i].own;
	}
	fputc('\n', out);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	if (marked)
		nt_wrap(out, "", 0,
			"*: from the call's start to the start of the next call of any kind.");
	return 0;
}

/* ---- the whole */

static void print_title(FILE *out, const struct nt_step_pair *pair)
{
	char text[300] = "";

	for (int i = 0; i < 2; i++) {
		const struct nt_step_side *side = pair->side[i];

		if (side)
			nt_append(text, sizeof(text), "%sstep %s of %s (%c)", text[0] ? ", " : "",
				  side->summary->steps[side->at].name, side->job, 'A' + i);
		else
			nt_append(text, sizeof(text), "%sno such step in %c", text[0] ? ", " : "",
				  'A' + i);
	}
	text[0] = text[0] == 's' ? 'S' : 'N';
	nt_append(text, sizeof(text), ":");
	nt_wrap(out, "", 2, text);
}

int nt_job_comparison_print(FILE *out, const char *const title[2],
			    const struct nt_job_comparison *comparison, struct nt_error *err)
{
	fprintf(out, "A: job %s\nB: job %s\n", title[0], title[1]);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct nt_step_pair *pair = &comparison->pairs[i];

		fputc('\n', out);
		print_title(out, pair);
		if (!pair->side[0] || !pair->side[1])
			continue;
		say_step_time(out, pair);
		say_keys(out, pair);
		if (print_settings(out, pair, err) < 0 || print_keys(out, pair, err) < 0)
			return -1;
	}
	fputc('\n', out);
	nt_wrap(out, "", 0,
		"CALL: median time of a call with the choice in force. GB/s: bus bandwidth. NOISE: a "
		"difference is beyond noise if the middle halves of the times do not overlap; jobs "
		"with the same settings can differ by as much.");
	return 0;
}

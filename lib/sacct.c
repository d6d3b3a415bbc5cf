/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sacct.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "lib/array.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/printable.h"
#include "lib/argv.h"

#define MARK_BYTES 40

static int keep_bytes(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err)
{
	if (!nt_array_reserve(&cut->held, &cut->size, cut->held_bytes + bytes))
		return nt_error_set(err, "no memory for a row");
	memcpy(cut->held + cut->held_bytes, data, bytes);
	cut->held_bytes += bytes;
	return 0;
}

/* The row's length with its newline; 0: its end has not arrived. */
static size_t cut_row(const struct nt_rows_cut *cut, const char *start, size_t bytes,
		      struct nt_text *column)
{
	size_t delimiter_bytes = strlen(cut->delimiter);
	const char *at = start, *end = start + bytes;
	const char *found;

	for (unsigned i = 0; i + 1 < cut->columns; i++) {
		found = memmem(at, (size_t)(end - at), cut->delimiter, delimiter_bytes);
		if (!found)
			return 0;
		column[i] = (struct nt_text){ at, (size_t)(found - at) };
		at = found + delimiter_bytes;
	}
	found = memchr(at, '\n', (size_t)(end - at));
	if (!found)
		return 0;
	column[cut->columns - 1] = (struct nt_text){ at, (size_t)(found - at) };
	return (size_t)(found - start) + 1;
}

int nt_rows_cut_take(struct nt_rows_cut *cut, const char *data, size_t bytes, struct nt_error *err)
{
	struct nt_text column[NT_ROWCUT_COLUMNS];
	size_t done = 0, row_bytes;

	if (keep_bytes(cut, data, bytes, err) < 0)
		return -1;
	while (done < cut->held_bytes) {
		row_bytes = cut_row(cut, cut->held + done, cut->held_bytes - done, column);
		if (row_bytes == 0)
			break;
		if (cut->visit(cut->argument, column, err) < 0)
			return -1;
		done += row_bytes;
	}
	cut->held_bytes -= done;
	if (cut->held_bytes > NT_ROWCUT_ROW_MAX)
		return nt_error_set(err, "cannot parse its output: a row of more than %u bytes",
				    NT_ROWCUT_ROW_MAX);
	memmove(cut->held, cut->held + done, cut->held_bytes);
	return 0;
}

int nt_rows_cut_end(struct nt_rows_cut *cut, struct nt_error *err)
{
	size_t left = cut->held_bytes;

	free(cut->held);
	cut->held = NULL;
	cut->held_bytes = cut->size = 0;
	return left > 0 ? nt_error_set(err, "cannot parse its output: it ends within a row") : 0;
}

/* 128 random bits: nobody can know them in advance. */
static int draw_mark(char mark[MARK_BYTES], struct nt_error *err)
{
	uint64_t bits[2];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return nt_error_set(err, "cannot get random numbers: %m");
	snprintf(mark, MARK_BYTES, "\x1f%016" PRIx64 "%016" PRIx64 "\x1f", bits[0], bits[1]);
	return 0;
}

static void add_option(struct nt_argv *command, const char *key, const char *value)
{
	if (value)
		nt_argv_add(command, "%s%s", key, value);
}

static void write_command(struct nt_argv *command, const struct nt_sacct *question,
			  const char *mark)
{
	static const char *const fixed[] = { "sacct", "-n", "-P" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		add_option(command, "", fixed[i]);
	add_option(command, "", question->steps ? NULL : "-X");
	add_option(command, "--delimiter=", mark);
	add_option(command, "--format=", question->columns);
	add_option(command, "", question->every_run ? "--duplicates" : NULL);
	add_option(command, "--jobs=", question->jobs);
	add_option(command, "--starttime=", question->since);
	add_option(command, "--endtime=", question->until);
	add_option(command, "", question->all_users ? "--allusers" : NULL);
	add_option(command, "--user=", question->user);
	add_option(command, "--partition=", question->partition);
	add_option(command, "--accounts=", question->account);
	add_option(command, "--clusters=", question->cluster);
}

static int take_output(void *argument, const char *data, size_t bytes, struct nt_error *err)
{
	return nt_rows_cut_take(argument, data, bytes, err);
}

/* Only some of sacct's error messages begin with its name. */
static int set_complaint(const struct nt_child *child, struct nt_error *err)
{
	const char *text = child->complaint;

	return nt_error_set(err, "%s%.140s", strncmp(text, "sacct", 5) == 0 ? "" : "sacct: ",
			    text[0] ? text : "failed without a message");
}

static int run_sacct(char *argv[], int timeout_ms, struct nt_rows_cut *cut, struct nt_error *err)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + timeout_ms,
		.take = take_output,
		.argument = cut,
	};
	struct nt_error reason;
	struct nt_child child;
	int rc = nt_child_run_within(&child, argv, &bounds, &reason);
	int cut_rc = nt_rows_cut_end(cut, rc == 0 ? &reason : NULL);

	if (rc == 0 && child.status != 0)
		rc = set_complaint(&child, err);
	else if (rc < 0 || cut_rc < 0)
		rc = nt_error_set(err, "sacct: %.140s", reason.text);
	nt_child_fini(&child);
	return rc;
}

int nt_sacct_ask(const struct nt_sacct *question, nt_sacct_visit *visit, void *argument,
		 struct nt_error *err)
{
	char mark[MARK_BYTES];
	struct nt_rows_cut cut = {
		.delimiter = mark,
		.columns = (unsigned)question->count,
		.visit = visit,
		.argument = argument,
	};
	struct nt_argv command = { .count = 0 };
	int rc = draw_mark(mark, err);

	if (rc < 0)
		return rc;
	write_command(&command, question, mark);
	/* Local times differ between places, and some hours occur twice. */
	if (command.failed || setenv("SLURM_TIME_FORMAT", "%s", 1) < 0)
		rc = nt_error_set(err, "no memory");
	else
		rc = run_sacct(command.word, question->timeout_ms, &cut, err);
	nt_argv_fini(&command);
	return rc;
}

int64_t nt_sacct_number(struct nt_text column)
{
	char copy[24];

	nt_printable_copy(copy, sizeof(copy), column.at, column.bytes);
	return strtoll(copy, NULL, 10);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - from states of a running job to events and to a screen of lines */
#include "lib/array.h"
#include "report/watch/frame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "report/watch/rank-files.h"

#define ROWS 40

static char told[16384];

static void note(void *argument, const struct nt_news *news)
{

	(void)argument;
	nt_append(told, sizeof(told), "%s%s\n", news->good ? "+" : "", news->text);
}

static void begin(struct nt_summary *summary)
{
	struct nt_family *family;
	struct nt_step *step;

	nt_summary_init(summary);
	step = nt_array_add(&summary->steps, &summary->step_count, NT_SUMMARY_MAX, sizeof(*step));
	assert_non_null(step);
	nt_fields_clear(&nt_step_fields, step);
	snprintf(step->name, sizeof(step->name), "0");
	snprintf(step->mode, sizeof(step->mode), "bandit");
	snprintf(step->nccl, sizeof(step->nccl), "2.28.9");
	step->ranks = 8;
	step->nodes = 2;
	family = nt_array_add(&summary->families, &summary->family_count, NT_SUMMARY_MAX,
			      sizeof(*family));
	assert_non_null(family);
	family->ranks = 8;
	family->nodes = 2;
	family->comms = 1;
}

static struct nt_key *add_row(struct nt_summary *summary, size_t bytes, int state)
{
	struct nt_key *row = nt_array_add(&summary->rows, &summary->row_count, NT_SUMMARY_MAX,
					  sizeof(*row));

	assert_non_null(row);
	nt_key_clear(row);
	row->ranks = 8;
	row->nodes = 2;
	row->coll = NT_ALLREDUCE;
	row->bytes = (int64_t)bytes;
	row->auto_arm = nt_arm_parse("RING/SIMPLE");
	row->arm = NT_ARM_BASELINE;
	row->state = state;
	row->calls = 100;
	return row;
}

static struct nt_key *add_explored(struct nt_summary *summary, const char *round, int64_t arms,
				   int64_t calls, int64_t done)
{
	struct nt_key *row = add_row(summary, 1u << 20, NT_KEYSTATE_EXPLORING);

	snprintf(row->round, sizeof(row->round), "%s", round);
	row->round_arms = arms;
	row->round_calls = calls;
	row->round_done = done;
	return row;
}

static struct nt_key *add_committed(struct nt_summary *summary)
{
	struct nt_key *row = add_row(summary, 256u << 10, NT_KEYSTATE_COMMITTED);

	row->arm = nt_arm_parse("TREE/SIMPLE");
	row->auto_us = 273;
	row->arm_us = 158;
	row->saved_ms = 22.9;
	row->spent_ms = 12.3;
	return row;
}

static void see(struct nt_watch *watch, struct nt_summary *summary, double now_s)
{
	struct nt_error err;

	told[0] = '\0';
	assert_int_equal(nt_watch_see_take(watch, summary, now_s, note, NULL, &err), 0);
	assert_int_equal(summary->row_count, 0);
}

static void what_changes_is_told_once(void **state)
{
	struct nt_summary summary;
	struct nt_watch watch;
	struct nt_key *row;

	(void)state;
	nt_watch_init(&watch);
	begin(&summary);
	add_row(&summary, 64, NT_KEYSTATE_COUNTED);
	add_explored(&summary, "screen", 5, 45, 3);
	see(&watch, &summary, 1000);
	assert_string_equal(
		told,
		"AllReduce 1M on the 8 ranks across 2 nodes: tries 5 choices, including NCCL's, "
		"in 45 calls\n");

	begin(&summary);
	add_row(&summary, 64, NT_KEYSTATE_COUNTED);
	add_explored(&summary, "screen", 5, 45, 20);
	see(&watch, &summary, 1010);
	assert_string_equal(told, "");

	begin(&summary);
	add_committed(&summary);
	add_explored(&summary, "confirm", 3, 75, 0);
	see(&watch, &summary, 1020);
	assert_string_equal(
		told,
		"+AllReduce 256K on the 8 ranks across 2 nodes: Tree/Simple, 158 us to the next call instead of 273 us with NCCL's Ring/Simple\n"
		"AllReduce 1M on the 8 ranks across 2 nodes: compares the best with NCCL's "
		"choice in 75 calls\n");

	begin(&summary);
	row = add_committed(&summary);
	row->arm = NT_ARM_BASELINE;
	row->state = NT_KEYSTATE_KEPT;
	row->rollbacks = 1;
	row->reason = NT_REASON_ROLLED_BACK;
	add_row(&summary, 1u << 20, NT_KEYSTATE_KEPT)->reason = NT_REASON_SMALL;
	see(&watch, &summary, 1030);
	/* Reasons are worded as in the report. */
	assert_non_null(strstr(
		told,
		"AllReduce 256K on the 8 ranks across 2 nodes: NCCL's choice (RING/SIMPLE) is used again"));
	assert_non_null(strstr(
		told,
		"\nAllReduce 1M on the 8 ranks across 2 nodes: NCCL's choice (RING/SIMPLE) stays"));
	nt_watch_fini(&watch);
}

/* The record in Slurm is older than the node's files. */
static void an_older_record_changes_nothing(void **state)
{
	struct nt_summary summary;
	struct nt_watch watch;
	struct nt_key *row;

	(void)state;
	nt_watch_init(&watch);
	begin(&summary);
	row = add_committed(&summary);
	row->calls = 500;
	see(&watch, &summary, 1000);
	begin(&summary);
	row = add_row(&summary, 256u << 10, NT_KEYSTATE_EXPLORING);
	row->calls = 499;
	see(&watch, &summary, 1010);
	assert_string_equal(told, "");
	assert_int_equal(watch.summary.rows[0].state, NT_KEYSTATE_COMMITTED);
	nt_watch_fini(&watch);
}

static void remarks_are_told_once(void **state)
{
	struct nt_summary summary;
	struct nt_remark *remark;
	struct nt_watch watch;

	(void)state;
	nt_watch_init(&watch);
	for (int look = 0; look < 2; look++) {
		begin(&summary);
		remark = nt_array_add(&summary.remarks, &summary.remark_count, NT_SUMMARY_MAX,
				      sizeof(*remark));
		assert_non_null(remark);
		snprintf(remark->step, sizeof(remark->step), "0");
		nt_reason_set(&remark->why, NT_REASON_OWN_ALGO);
		see(&watch, &summary, 1000 + look);
		assert_string_equal(
			told,
			look == 0 ? "not tuned, step 0: NCCL_ALGO is set in the job: algorithms "
				    "that it excludes are not tried.\n"
				  : "");
	}
	nt_watch_fini(&watch);
}

static size_t frame(const struct nt_watch *watch, const struct nt_watch_job *job, unsigned columns,
		    unsigned rows, char *out, size_t out_bytes)
{
	struct nt_screen_line lines[ROWS];
	size_t count = nt_watch_frame(watch, job, columns, rows, lines);

	assert_true(count <= rows);
	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		assert_true(strlen(lines[i].text) <= columns);
		nt_append(out, out_bytes, "%s\n", lines[i].text);
	}
	assert_true(strlen(out) + 1 < out_bytes);
	return count;
}

/* Nobody reads another user's files on the node, least of all root. */
static void only_the_callers_own_files_are_read(void **state)
{
	static const char make[] =
		"d=%s/n1.12.0/fs/step; mkdir -p $d; echo '{\"v\":1,\"job\":12,\"step\":0,\"task\":0,"
		"\"node\":\"n1\",\"mode\":\"bandit\",\"nccl\":22809,\"comms\":[{\"id\":\"a\",\"rank\":0,"
		"\"ranks\":1,\"nodes\":1,\"state\":\"agreed\",\"why\":\"\",\"keys\":[]}]}' >$d/rank.0.1.json";
	char top[] = "/tmp/nt-watch.XXXXXX", path[128], command[512];
	struct nt_summary summary;
	struct nt_error err;
	int64_t newest_s = 0;

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(command, sizeof(command), make, top);
	assert_int_equal(system(command), 0);
	nt_summary_init(&summary);
	assert_int_equal(nt_watch_load_files(&summary, top, 12, "", &newest_s, &err), 1);
	assert_int_equal(summary.step_count, 1);
	assert_int_equal(nt_watch_load_files(&summary, top, 13, "", &newest_s, &err), 0);
	nt_summary_fini(&summary);
	snprintf(path, sizeof(path), "%s/n1.12.0/fs/step", top);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 1000, 1000), 0);
		nt_summary_init(&summary);
		assert_int_equal(nt_watch_load_files(&summary, top, 12, "", &newest_s, &err), 0);
		assert_int_equal(summary.step_count, 0);
		nt_summary_fini(&summary);
	}
	/* Not even through a link. */
	snprintf(command, sizeof(command),
		 "cd %s/n1.12.0/fs && mv step own && ln -s own step && chown %u own", top,
		 geteuid());
	assert_int_equal(system(command), 0);
	nt_summary_init(&summary);
	assert_int_equal(nt_watch_load_files(&summary, top, 12, "", &newest_s, &err), 0);
	nt_summary_fini(&summary);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	assert_int_equal(system(command), 0);
}

static const struct nt_watch_job a_job = { .label = "12.0",
					   .state = "running",
					   .ran_s = 185,
					   .source = "files",
					   .written_s = 1016,
					   .live = true };

static void a_frame_has_all_that_is_known(void **state)
{
	char text[ROWS * (NT_SCREEN_COLUMNS + 2)];
	struct nt_summary summary;
	struct nt_watch watch;
	struct nt_key *row;

	(void)state;
	setenv("TZ", "UTC0", 1);
	nt_watch_init(&watch);
	for (int i = 0; i < 3; i++) {
		begin(&summary);
		add_committed(&summary);
		row = add_explored(&summary, i < 2 ? "screen" : "confirm", 5, 45, 5 * i);
		row->calls = 100 + 10 * i;
		row->auto_period_us = 1e6;
		add_row(&summary, 4u << 20, NT_KEYSTATE_EXPLORING);
		see(&watch, &summary, 1000 + 10 * i);
	}
	frame(&watch, &a_job, 80, 24, text, sizeof(text));
	assert_string_equal(
		text,
		"Job 12.0: running for 3 min 5 s\n"
		"Step 0: mode bandit, NCCL 2.28.9, 8 ranks on 2 nodes\n"
		"From files, as of 00:16:56\n"
		"Being explored\n"
		"  AllReduce 1M on the 8 ranks across 2 nodes: second round, 5 choices\n"
		"    [####................] 10 of 45 calls, about 35 s left\n"
		"  1 waits for its turn\n"
		"What happened\n"
		"  by 00:16:40  AllReduce 256K on the 8 ranks across 2 nodes: Tree/Simple, 158\n"
		"               us to the next call instead of 273 us with NCCL's Ring/Simple\n"
		"  by 00:16:40  AllReduce 1M on the 8 ranks across 2 nodes: tries 5 choices,\n"
		"               including NCCL's, in 45 calls\n"
		"  00:17:00     AllReduce 1M on the 8 ranks across 2 nodes: compares the best\n"
		"               with NCCL's choice in 45 calls\n"
		"Faster: 1; NCCL's choice kept: 0; exploring: 2; only counted: 0. Saved 22.9 ms,\n"
		"spent 12.3 ms.\n"
		"AllReduce 256K on the 8 ranks across 2 nodes: Tree/Simple takes 158 us to the\n"
		"next call instead of NCCL's 273 us; saved 22.9 ms.\n"
		"q or Ctrl-C quits; the job goes on.\n");
	frame(&watch, &a_job, 66, 24, text, sizeof(text));
	assert_non_null(
		strstr(text, "  AllReduce 1M on the 8 ranks across 2 nodes: second round\n"));
	nt_watch_fini(&watch);
}

/* Whatever the terminal's size, a frame fits. */
static void a_frame_fits_any_terminal(void **state)
{
	char text[ROWS * (NT_SCREEN_COLUMNS + 2)];
	struct nt_summary summary;
	struct nt_watch watch;

	(void)state;
	nt_watch_init(&watch);
	begin(&summary);
	for (size_t i = 0; i < 40; i++)
		add_row(&summary, (size_t)1 << (i % 30), NT_KEYSTATE_EXPLORING);
	add_committed(&summary);
	see(&watch, &summary, 1000);
	for (unsigned columns = 1; columns <= NT_SCREEN_COLUMNS; columns += 7) {
		for (unsigned rows = 1; rows <= ROWS; rows++)
			frame(&watch, &a_job, columns, rows, text, sizeof(text));
	}
	nt_watch_fini(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_is_told_once),
		cmocka_unit_test(only_the_callers_own_files_are_read),
		cmocka_unit_test(an_older_record_changes_nothing),
		cmocka_unit_test(remarks_are_told_once),
		cmocka_unit_test(a_frame_has_all_that_is_known),
		cmocka_unit_test(a_frame_fits_any_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which place accepts a record, what happens to its file, and who writes a job's text next. */
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "accounting/job-lock.h"
#include "accounting/choose-sink.h"
#include "accounting/queue.h"
#include "tests/unit/scratch.h"

static const struct nt_admincomment_merge_step one = { "0", "{\"mode\":\"off\"}" };

/* ---- places */

struct world {
	unsigned reads, files;
	enum nt_delivered read_answer;
	int file_answer;
	const char *text;
};

static enum nt_delivered read_comment(void *argument, struct nt_job_comment *comment,
				      struct nt_error *err)
{
	struct world *world = argument;

	world->reads++;
	nt_error_set(err, "no answer");
	comment->text = strdup(world->text);
	return world->read_answer;
}

static int put_file(void *argument, struct nt_error *err)
{
	struct world *world = argument;

	world->files++;
	if (world->file_answer < 0)
		nt_error_set(err, "no room");
	return world->file_answer;
}

static enum nt_delivered place(const char *value, struct world *world,
			       struct nt_job_comment *comment, struct nt_error *err)
{
	struct nt_sinks sinks;
	const struct nt_choose_sink how = { &sinks, comment, read_comment, put_file, world };

	*comment = (struct nt_job_comment){ .text = NULL };
	assert_int_equal(nt_sinks_parse(&sinks, value, err), 0);
	return nt_choose_sink(&how, &one, 1, err);
}

static void the_place_that_takes_it(void **state)
{
	struct world world = { .read_answer = NT_DELIVERED_PRESENT, .text = "{\"x\":1}" };
	struct nt_job_comment comment;
	struct nt_error err;

	assert_int_equal(place("admincomment file:/x", &world, &comment, &err),
			 NT_DELIVERED_WRITTEN);
	assert_true(comment.changed && nt_job_comment_holds(&comment, &one, true));
	assert_non_null(strstr(comment.text, "\"x\":1"));
	assert_int_equal(world.files, 0);
	nt_job_comment_fini(&comment);
	/* What another program has written stays. */
	world.text = "JS1:text";
	assert_int_equal(place("admincomment file:/x", &world, &comment, &err), NT_DELIVERED_FILED);
	assert_string_equal(comment.text, "JS1:text");
	assert_int_equal(world.files, 1);
	nt_job_comment_fini(&comment);
	/* A record for a file causes no question to slurmctld. */
	world.reads = 0;
	assert_int_equal(place("file:/x", &world, &comment, &err), NT_DELIVERED_FILED);
	assert_int_equal(world.reads, 0);
	nt_job_comment_fini(&comment);
}

static void what_nothing_takes(void **state)
{
	struct world world = { .read_answer = NT_DELIVERED_PRESENT, .text = "JS1:text" };
	struct nt_job_comment comment;
	struct nt_error err;

	assert_int_equal(place("admincomment", &world, &comment, &err), NT_DELIVERED_NOWHERE);
	assert_string_equal(err.text, "its AdminComment contains another program's data");
	assert_false(nt_job_comment_holds(&comment, &one, false));
	nt_job_comment_fini(&comment);
	/* A directory may be there again later. */
	world.file_answer = -1;
	assert_int_equal(place("admincomment,file:/x", &world, &comment, &err),
			 NT_DELIVERED_FAILED);
	assert_string_equal(err.text, "no room");
	nt_job_comment_fini(&comment);
	/* If slurmctld does not answer, it may later. */
	world.read_answer = NT_DELIVERED_FAILED;
	world.files = 0;
	assert_int_equal(place("admincomment,file:/x", &world, &comment, &err),
			 NT_DELIVERED_FAILED);
	assert_string_equal(err.text, "no answer");
	assert_int_equal(world.files, 0);
	nt_job_comment_fini(&comment);
}

/* ---- files of the spool */

static enum nt_queue_move decide(enum nt_delivered result, enum nt_spool_part part, int64_t ended_s)
{
	const struct nt_queued record = { .result = result, .part = part };

	return nt_queue_decide(&record, ended_s, 900);
}

static void what_becomes_of_a_file(void **state)
{
	assert_int_equal(decide(NT_DELIVERED_WRITTEN, NT_PART_WAITING, NT_QUEUE_RUNS),
			 NT_QUEUE_TO_SENT);
	assert_int_equal(decide(NT_DELIVERED_FILED, NT_PART_WAITING, NT_QUEUE_RUNS),
			 NT_QUEUE_REMOVE);
	assert_int_equal(decide(NT_DELIVERED_PRESENT, NT_PART_WAITING, 899), NT_QUEUE_TO_SENT);
	assert_int_equal(decide(NT_DELIVERED_PRESENT, NT_PART_SENT, 899), NT_QUEUE_STAY);
	assert_int_equal(decide(NT_DELIVERED_PRESENT, NT_PART_SENT, 900), NT_QUEUE_REMOVE);
	assert_int_equal(decide(NT_DELIVERED_NOWHERE, NT_PART_SENT, 0), NT_QUEUE_REMOVE);
	assert_int_equal(decide(NT_DELIVERED_FAILED, NT_PART_WAITING, 900), NT_QUEUE_STAY);
	assert_int_equal(decide(NT_DELIVERED_LATER, NT_PART_WAITING, 900), NT_QUEUE_STAY);
}

static void what_fails_for_a_week_is_given_up(void **state)
{
	assert_int_equal(nt_queue_judge(NT_DELIVERED_FAILED, 3600), NT_DELIVERED_FAILED);
	assert_int_equal(nt_queue_judge(NT_DELIVERED_FAILED, 8 * 86400), NT_DELIVERED_NOWHERE);
	assert_int_equal(nt_queue_judge(NT_DELIVERED_LATER, 8 * 86400), NT_DELIVERED_LATER);
}

/* ---- who writes next */

static void one_process_waits_for_the_others(void **state)
{
	struct nt_job_pace pace = { 0, 0 };
	const int64_t now_ms = 1000000;

	for (int i = 0; i < NT_JOB_PACE_BURST; i++)
		assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_ENDED, 300), 0);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_EARLY, 300), -1);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_ENDED, 300), NT_JOB_PACE_EVERY_MS);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms + 1, NT_JOB_ENDED, 300), -1);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms + 2, NT_JOB_AT_ONCE, 300), 0);
}

static void a_minute_has_so_many_writings(void **state)
{
	struct nt_job_pace pace = { 0, 0 };
	unsigned written = 0;

	for (int64_t now_ms = 1000000; now_ms < 1060000; now_ms += 10)
		written += nt_job_pace_admit(&pace, now_ms, NT_JOB_AGAIN, 0) == 0;
	assert_int_equal(written, NT_JOB_PACE_BURST + 60000 / NT_JOB_PACE_EVERY_MS - 1);
}

static void early_records_leave_some_to_others(void **state)
{
	struct nt_job_pace pace = { 0, 0 };
	const int64_t now_ms = 1000000;

	for (int i = 0; i < NT_JOB_PACE_BURST / 2; i++)
		assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_EARLY, 0), 0);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_EARLY, 0), -1);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_ENDED, 0), 0);
}

static void a_damaged_pace_keeps_nobody_waiting(void **state)
{
	struct nt_job_pace pace = { INT64_MAX, INT64_MAX };

	assert_int_equal(nt_job_pace_admit(&pace, 1000, NT_JOB_ENDED, 0), 0);
	assert_int_equal(pace.due_ms, 1000 + NT_JOB_PACE_EVERY_MS);
}

static void one_writer_at_a_time(void **state)
{
	int first = nt_job_lock_open(top, 12), second = nt_job_lock_open(top, 12);
	int other = nt_job_lock_open(top, 13);

	assert_true(first >= 0 && second >= 0 && other >= 0);
	assert_true(nt_job_lock_try(first));
	assert_false(nt_job_lock_try(second));
	assert_true(nt_job_lock_try(other));
	for (int i = 0; i < NT_JOB_PACE_BURST; i++)
		assert_int_equal(nt_job_lock_admit(first, NT_JOB_AGAIN, 0), 0);
	close(first); /* as a writer that dies */
	assert_true(nt_job_lock_try(second));
	assert_int_equal(nt_job_lock_admit(second, NT_JOB_AGAIN, 0), -1);
	close(second);
	close(other);
	assert_int_equal(chmod(top, 0700), 0);
}

/* Newer ones may be read first. */
static void files_of_old_jobs_go(void **state)
{
	char command[256];

	close(nt_job_lock_open(top, 1));
	snprintf(command, sizeof(command),
		 "cd %s/jobs && for i in $(seq 2 300); do touch -d '2 hours ago' $i; done;"
		 " touch $(seq 301 400)",
		 top);
	assert_int_equal(system(command), 0);
	close(nt_job_lock_open(top, 500));
	snprintf(command, sizeof(command), "test $(ls %s/jobs | wc -l) = 102", top);
	assert_int_equal(system(command), 0);
}

UNIT_TESTS_EACH(make_top, remove_top, the_place_that_takes_it, what_nothing_takes,
		what_becomes_of_a_file, what_fails_for_a_week_is_given_up,
		one_process_waits_for_the_others, a_minute_has_so_many_writings,
		early_records_leave_some_to_others, a_damaged_pace_keeps_nobody_waiting,
		one_writer_at_a_time, files_of_old_jobs_go);

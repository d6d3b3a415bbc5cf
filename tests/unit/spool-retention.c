/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a full spool are removed, in which order the rest is visited, and how often a
 * job's text may be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "record/retention.h"
#include "record/spool-retention.h"
#include "spank/delivery/job-lock.h"
#include "tests/unit/scratch.h"

#define SHARE 1000 /* most waiting files of a user */
#define MANY 1200

static size_t count_of(const struct nt_kept_file *items, size_t count, uint32_t uid)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		kept += items[i].uid == uid && !items[i].drop;
	return kept;
}

static void who_fills_it_loses_his_own(void **state)
{
	const struct nt_retention keep = { .files = 20, .user_files = 100, .age_s = 1000 };
	struct nt_kept_file items[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		items[i] = (struct nt_kept_file){ .uid = i < 30 ? 7 : (uint32_t)i,
						  .time_s = 100 + i };
	assert_int_equal(nt_retention_choose(items, 40, &keep, 200), 20);
	assert_int_equal(count_of(items, 40, 7), 10);
	for (int i = 30; i < 40; i++)
		assert_int_equal(count_of(items, 40, (uint32_t)i), 1);
	for (int i = 0; i < 40; i++)
		assert_true(items[i].uid != 7 || items[i].drop == (items[i].time_s < 120));
}

static void a_user_has_a_share(void **state)
{
	const struct nt_retention keep = { .files = 100, .user_files = 3, .age_s = 1000 };
	struct nt_kept_file items[] = { { .uid = 1, .time_s = 5 },
					{ .uid = 2, .time_s = 1 },
					{ .uid = 1, .time_s = 3 },
					{ .uid = 1, .time_s = 9 },
					{ .uid = 1, .time_s = 4 } };

	(void)state;
	assert_int_equal(nt_retention_choose(items, 5, &keep, 10), 1);
	for (int i = 0; i < 5; i++)
		assert_true(items[i].drop == (items[i].time_s == 3));
}

static void age_and_size_are_bounded(void **state)
{
	const struct nt_retention old = { .files = 9, .user_files = 9, .age_s = 50 };
	const struct nt_retention large = {
		.files = 9, .user_files = 9, .bytes = 100, .age_s = 500
	};
	struct nt_kept_file items[] = { { .uid = 1, .time_s = 10, .bytes = 60 },
					{ .uid = 2, .time_s = 20, .bytes = 30 },
					{ .uid = 1, .time_s = 90, .bytes = 60 } };

	(void)state;
	assert_int_equal(nt_retention_choose(items, 3, &old, 100), 2);
	assert_true(items[0].drop && !items[1].drop && items[2].drop);
	assert_int_equal(nt_retention_choose(items, 3, &large, 100), 1);
	assert_true(items[0].drop);
	assert_int_equal(nt_retention_choose(items, 0, &large, 100), 0);
}

/* ---- files */

static struct nt_spool_entry entry_of(uint32_t uid, uint32_t job)
{
	return (struct nt_spool_entry){ "c.1", job, uid, "0+1", "{\"mode\":\"off\"}", NULL };
}

static size_t files_in(int part_fd)
{
	struct nt_spool_list list;
	size_t count;

	assert_int_equal(nt_spool_list(&list, part_fd, NULL, 0, NULL), 0);
	count = list.count;
	nt_spool_list_fini(&list);
	return count;
}

static void a_spool_holds_so_many_of_a_user(void **state)
{
	int fd = nt_spool_open(top, NT_PART_WAITING, true, NULL);
	struct nt_spool_entry other = entry_of(6, 1);
	int64_t dropped = 0, sum = 0;
	size_t files, looks = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &other, false, NULL, NULL), 0);
	for (uint32_t job = 1; job <= MANY; job++) {
		struct nt_spool_entry entry = entry_of(5, job);

		assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &entry, false, &dropped, NULL),
				 0);
		sum += dropped;
		looks += dropped > 0;
	}
	files = files_in(fd);
	assert_int_equal(sum, MANY + 1 - (int64_t)files);
	assert_in_range(files, SHARE + 1, SHARE + 1 + SHARE / NT_SPOOL_OVER);
	/* Not for every new file: each check visits all files. */
	assert_in_range(looks, 1, (MANY - SHARE) / (SHARE / NT_SPOOL_OVER) + 1);
	assert_true(nt_spool_keep(fd, NT_PART_WAITING, true) >= 0);
	assert_int_equal(files_in(fd), SHARE + 1);
	assert_true(nt_spool_has(fd, &other));
	close(fd);
}

static void files_of_a_job_are_found(void **state)
{
	int fd = nt_spool_open(top, NT_PART_WAITING, true, NULL);
	struct nt_spool_entry entry = entry_of(5, 12), dead = entry_of(5, 13);
	struct nt_spool_list list;
	struct nt_spooled spooled;

	(void)state;
	assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &entry, true, NULL, NULL), 0);
	dead.why = "it says \"no\"";
	assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &dead, true, NULL, NULL), 0);
	assert_int_equal(nt_spool_list(&list, fd, "c.1", 12, NULL), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].uid, 5);
	assert_string_equal(list.items[0].name, "c.1.12.0+1.u5.json");
	assert_int_equal(nt_spooled_read(&spooled, fd, list.items[0].name, NULL), 0);
	assert_int_equal(spooled.job, 12);
	assert_int_equal(spooled.uid, 5);
	assert_string_equal(spooled.step, "0+1");
	assert_string_equal(spooled.why, "");
	nt_spool_list_fini(&list);
	assert_int_equal(nt_spooled_read(&spooled, fd, "c.1.13.0+1.u5.json", NULL), 0);
	assert_string_equal(spooled.why, "it says ?no?");
	close(fd);
}

static void parts_have_their_places(void **state)
{
	int fd = nt_spool_open(top, NT_PART_WAITING, true, NULL);
	int sent_fd, dead_fd;
	struct nt_spool_entry entry = entry_of(5, 12);
	struct nt_spooled spooled;

	(void)state;
	assert_int_equal(nt_spool_open(top, NT_PART_SENT, false, NULL), -1);
	sent_fd = nt_spool_open(top, NT_PART_SENT, true, NULL);
	dead_fd = nt_spool_open(top, NT_PART_DEAD, true, NULL);
	assert_true(sent_fd >= 0 && dead_fd >= 0);
	assert_int_equal(files_in(fd), 0);
	assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &entry, true, NULL, NULL), 0);
	assert_int_equal(nt_spooled_read(&spooled, fd, "c.1.12.0+1.u5.json", NULL), 0);
	/* A newer one of the step has come: that one stays. */
	assert_int_equal(nt_spool_write(fd, NT_PART_WAITING, &entry, true, NULL, NULL), 0);
	assert_int_equal(nt_spooled_move(&spooled, sent_fd, NULL), 0);
	assert_true(nt_spool_has(fd, &entry) && !nt_spool_has(sent_fd, &entry));
	assert_int_equal(nt_spooled_read(&spooled, fd, "c.1.12.0+1.u5.json", NULL), 0);
	assert_int_equal(nt_spooled_move(&spooled, sent_fd, NULL), 0);
	assert_true(!nt_spool_has(fd, &entry) && nt_spool_has(sent_fd, &entry));
	close(fd);
	close(sent_fd);
	close(dead_fd);
}

/* ---- writings a minute */

static void a_minute_has_so_many_writings(void **state)
{
	struct nt_job_pace pace = { 0, 0 };
	unsigned written = 0;

	(void)state;
	for (int64_t now_ms = 1000000; now_ms < 1060000; now_ms += 10)
		written += nt_job_pace_admit(&pace, now_ms, NT_JOB_AGAIN, 0) == 0;
	assert_int_equal(written, NT_JOB_PACE_BURST + 60000 / NT_JOB_PACE_EVERY_MS - 1);
}

static void early_records_leave_some_to_others(void **state)
{
	struct nt_job_pace pace = { 0, 0 };
	const int64_t now_ms = 1000000;

	(void)state;
	for (int i = 0; i < NT_JOB_PACE_BURST / 2; i++)
		assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_EARLY, 0), 0);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_EARLY, 0), -1);
	assert_int_equal(nt_job_pace_admit(&pace, now_ms, NT_JOB_ENDED, 0), 0);
}

static void a_damaged_pace_keeps_nobody_waiting(void **state)
{
	struct nt_job_pace pace = { INT64_MAX, INT64_MAX };

	(void)state;
	assert_int_equal(nt_job_pace_admit(&pace, 1000, NT_JOB_ENDED, 0), 0);
	assert_int_equal(pace.due_ms, 1000 + NT_JOB_PACE_EVERY_MS);
}

static void one_writer_at_a_time(void **state)
{
	int first = nt_job_lock_open(top, 12), second = nt_job_lock_open(top, 12);
	int other = nt_job_lock_open(top, 13);

	(void)state;
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

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_fills_it_loses_his_own),
		cmocka_unit_test(a_user_has_a_share),
		cmocka_unit_test(age_and_size_are_bounded),
		cmocka_unit_test_setup_teardown(a_spool_holds_so_many_of_a_user, make_top,
						remove_top),
		cmocka_unit_test_setup_teardown(files_of_a_job_are_found, make_top, remove_top),
		cmocka_unit_test_setup_teardown(parts_have_their_places, make_top, remove_top),
		cmocka_unit_test_setup_teardown(files_of_old_jobs_go, make_top, remove_top),
		cmocka_unit_test(a_minute_has_so_many_writings),
		cmocka_unit_test(early_records_leave_some_to_others),
		cmocka_unit_test(a_damaged_pace_keeps_nobody_waiting),
		cmocka_unit_test_setup_teardown(one_writer_at_a_time, make_top, remove_top),
	};

	return cmocka_run_group_tests_name("spool-retention", tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Where and when a step's long form is written, and nt-recordd's messages about it. */
#include "recordd/longform.h"

#include <stdbool.h>
#include <signal.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "launch/memory-dir.h"
#include "launch/record-dir.h"
#include "record/step.h"
#include "spank/step/long-dir.h"

/* ---- where */

static const char *environment[16];

static int get(void *context, const char *name, char *out, size_t out_bytes)
{
	(void)context;
	for (size_t i = 0; environment[i]; i += 2) {
		if (strcmp(environment[i], name) == 0)
			return snprintf(out, out_bytes, "%s", environment[i + 1]) >= (int)out_bytes;
	}
	return -1;
}

static const struct nt_task_env tasks = { .get = get };

#define ENVIRONMENT(...)                                           \
	memcpy(environment, (const char *[]){ __VA_ARGS__, NULL }, \
	       sizeof((const char *[]){ __VA_ARGS__, NULL }))

static void the_first_that_says_a_place_counts(void **state)
{
	struct nt_arguments errand = { .uid = 1000 };
	static struct nt_conf conf;

	nt_conf_init(&conf);
	ENVIRONMENT("HOME", "/home/a", "SLURM_RESTART_COUNT", "2");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_string_equal(errand.long_dir, "/home/a/.local/state/nccl-tune/records");
	assert_int_equal(errand.long_mib, 64);
	assert_int_equal(errand.long_parents, 1);
	assert_int_equal(errand.run, 2);
	/* What srun found before. */
	nt_long_dir_find(&errand, &tasks, &conf, "/scratch/a/memory");
	assert_string_equal(errand.long_dir, "/scratch/a/records");
	snprintf(conf.record_dir, sizeof(conf.record_dir), "/var/records");
	nt_long_dir_find(&errand, &tasks, &conf, "/scratch/a/memory");
	assert_string_equal(errand.long_dir, "/var/records/1000");
	assert_int_equal(errand.long_parents, 0);
	ENVIRONMENT(NT_ENV_RECORD_DIR, "/work/a");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_string_equal(errand.long_dir, "/work/a");
	assert_int_equal(errand.long_parents, 1);
	assert_int_equal(errand.run, 0);
	ENVIRONMENT(NT_ENV_RECORD_DIR, "none");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_string_equal(errand.long_dir, "-");
	conf.record_mib = 0;
	ENVIRONMENT(NT_ENV_RECORD_DIR, "/work/a");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_string_equal(errand.long_dir, "-");
}

static void what_is_no_place_is_told(void **state)
{
	static const char *const paths[] = {
		"work", "/a\"b", "/a\nb", "/a\\b", "/{}", "/\xc3\xa4"
	};
	struct nt_arguments errand = { .uid = 1000 };
	static struct nt_conf conf;
	char path[400];

	nt_conf_init(&conf);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ENVIRONMENT("HOME", "/home/a", NT_ENV_RECORD_DIR, paths[i]);
		nt_long_dir_find(&errand, &tasks, &conf, "");
		assert_non_null(
			strstr(errand.long_dir, "NCCL_TUNE_RECORD_DIR is not an absolute path"));
	}
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	for (size_t length = 150; length < sizeof(path); length += 50) {
		path[length] = '\0';
		ENVIRONMENT(NT_ENV_RECORD_DIR, path);
		nt_long_dir_find(&errand, &tasks, &conf, "");
		assert_int_equal(errand.long_dir[0] == '/', length == 150);
		path[length] = 'x';
	}
	ENVIRONMENT("PATH", "/bin");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_non_null(strstr(errand.long_dir, "or else HOME, is not an absolute path"));
	ENVIRONMENT("HOME", "/home/a", NT_ENV_MEMORY, "relative");
	nt_long_dir_find(&errand, &tasks, &conf, "");
	assert_non_null(strstr(errand.long_dir, "NCCL_TUNE_MEMORY, or else HOME, is not"));
}

/* ---- when, and the messages */

static struct nt_arguments usual = {
	.job = 12,
	.uid = 1000,
	.long_mib = 64,
	.cluster = "c",
	.long_dir = "/home/a/records",
};

static const char *words; /* what the child says */
static bool hangs;

static int say_words(void *argument, int out_fd)
{
	(void)argument;
	if (write(out_fd, words, strlen(words)) < 0)
		return 1;
	while (hangs)
		pause();
	return 0;
}

static bool take_byte(void *argument, char byte)
{
	return nt_longform_take_byte(argument, byte);
}

static void ended(void *argument, const struct nt_work_result *result)
{
	nt_longform_end(argument, result);
}

static const struct nt_work_kind kind = { say_words, take_byte, ended };
static struct nt_work work = { .kind = &kind };

static void await(const struct nt_longform *longform, enum nt_longform_stage stage)
{
	while (nt_work_runs(&work) && longform->stage < stage)
		(void)nt_work_wait(&work, 1, -1, nt_clock_ms() + 60000);
}

static void start(struct nt_longform *longform, uint64_t signature, const char *said)
{
	struct nt_error err;

	words = said;
	nt_work_stop(&work);
	work.argument = longform;
	nt_longform_begin(longform, signature, nt_clock_ms());
	assert_int_equal(nt_work_start(&work, NT_WORK_NO_DEADLINE, &err), 0);
}

/* To its end, however long that takes. */
static void begin(struct nt_longform *longform, const char *said)
{
	*longform = (struct nt_longform){ .arguments = &usual };
	start(longform, 7, said);
	if (!hangs)
		await(longform, NT_LONGFORM_PLACED + 1);
}

static const char *tell(const struct nt_longform *longform)
{
	static char record[NT_STEP_RECORD_MAX + 1];
	struct nt_error err;

	snprintf(record, sizeof(record), "{\"mode\":\"bandit\"}");
	nt_longform_tell(longform, record, sizeof(record));
	assert_int_equal(nt_step_check(record, strlen(record), &err), 0);
	return record;
}

static void what_became_of_it_is_in_the_record(void **state)
{
	struct nt_longform longform;

	hangs = false;
	begin(&longform, "row");
	assert_false(nt_work_runs(&work));
	assert_string_equal(tell(&longform),
			    "{\"mode\":\"bandit\",\"long\":\"/home/a/records/c.12\"}");
	begin(&longform, "rn");
	assert_string_equal(tell(&longform), "{\"mode\":\"bandit\"}");
	begin(&longform, "roxno room {\"left\\\n");
	assert_string_equal(tell(&longform),
			    "{\"mode\":\"bandit\",\"no_long\":\"no room ('left/?\"}");
	begin(&longform, "r");
	assert_string_equal(tell(&longform),
			    "{\"mode\":\"bandit\",\"no_long\":\"its process ended early\"}");
	usual.long_dir[0] = 'x';
	longform = (struct nt_longform){ .arguments = &usual };
	assert_string_equal(tell(&longform),
			    "{\"mode\":\"bandit\",\"no_long\":\"xhome/a/records\"}");
	usual.long_dir[0] = '-';
	assert_string_equal(tell(&longform), "{\"mode\":\"bandit\"}");
	usual.long_dir[0] = '/';
}

static void nobody_waits_for_what_hangs(void **state)
{
	struct nt_longform longform;

	hangs = true;
	begin(&longform, "ro");
	await(&longform, NT_LONGFORM_READ);
	await(&longform, NT_LONGFORM_PLACED);
	assert_int_equal(longform.stage, NT_LONGFORM_PLACED);
	assert_non_null(strstr(tell(&longform), "\"long\":"));
	(void)nt_work_wait(&work, 1, -1, nt_clock_ms() + 50);
	assert_true(nt_work_runs(&work));
	nt_work_hurry(&work, nt_clock_ms() + 10);
	await(&longform, NT_LONGFORM_PLACED + 1);
	assert_false(nt_work_runs(&work));
	assert_string_equal(tell(&longform), "{\"mode\":\"bandit\",\"no_long\":\"timed out\"}");
	/* An older one is ended before a newer one begins. */
	begin(&longform, "r");
	hangs = false;
	start(&longform, 8, "row");
	await(&longform, NT_LONGFORM_PLACED + 1);
	assert_true(longform.written);
	assert_string_equal(longform.why, "");
}

static void it_is_refreshed_at_a_bounded_rate(void **state)
{
	struct nt_longform longform = { .arguments = &usual };

	hangs = false;
	assert_false(nt_longform_due(&longform, 0, nt_clock_ms())); /* there is nothing */
	assert_true(nt_longform_due(&longform, 7, nt_clock_ms()));
	begin(&longform, "row");
	assert_false(nt_longform_due(&longform, 7, nt_clock_ms()));
	assert_false(nt_longform_due(&longform, 8, nt_clock_ms())); /* not yet */
	longform.next_ms = 0;
	assert_true(nt_longform_due(&longform, 8, nt_clock_ms()));
	assert_false(nt_longform_due(&longform, 7, nt_clock_ms())); /* it has not changed */
	usual.long_mib = 0;
	assert_false(nt_longform_due(&longform, 8, nt_clock_ms()));
	usual.long_mib = 64;
}

/* ---- root makes the user's directory */

static int mode_of(const char *top, const char *name)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? (int)status.st_mode & 0777
								    : -1;
}

static int make_in(const char *top, const char *name, struct nt_error *err)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return nt_longform_make_directory(path, geteuid(), getegid(), err);
}

static void it_is_made_where_nobody_else_writes(void **state)
{
	char top[] = "/tmp/nt-longmake.XXXXXX", command[160];
	struct nt_error err;

	assert_non_null(mkdtemp(top));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -m 755 site && mkdir -m 1777 open && mkdir -m 775 team && "
		 "ln -s site link && ln -s /tmp site/2 && mkfifo site/3",
		 top);
	assert_int_equal(system(command), 0);
	assert_int_equal(make_in(top, "site/1", &err), 0);
	assert_int_equal(mode_of(top, "site/1"), 0700);
	assert_int_equal(make_in(top, "site/1", &err), 0);
	/* A directory that others can write to is refused. */
	assert_int_equal(make_in(top, "open/1", &err), 0);
	assert_int_equal(mode_of(top, "open/1"), -1);
	assert_int_equal(make_in(top, "team/1", &err), 0);
	assert_int_equal(mode_of(top, "team/1"), -1);
	assert_int_equal(make_in(top, "link/4", &err), -1);
	assert_int_equal(mode_of(top, "site/4"), -1);
	assert_int_equal(make_in(top, "site/2", &err), -1);
	assert_int_equal(make_in(top, "site/3", &err), -1);
	assert_int_equal(make_in(top, "none/1", &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

UNIT_TESTS(the_first_that_says_a_place_counts, what_is_no_place_is_told,
	   what_became_of_it_is_in_the_record, nobody_waits_for_what_hangs,
	   it_is_refreshed_at_a_bounded_rate, it_is_made_where_nobody_else_writes);

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's records in several places: merged, distinguished, and only of that job. */
#include "report/model/jobtext.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/append.h"
#include "record/filesink.h"
#include "report/model/sacct-runs.h"
#include "tests/unit/fake-sacct.h"

#define OURS(steps) "{\"nccl_tune\":{\"v\":1" steps "}}"
#define STEP(name, mode) ",\"" name "\":{\"mode\":\"" mode "\"}"

/* Of a second run. */
#define AGAIN(name, mode) ",\"" name "\":{\"mode\":\"" mode "\",\"run\":1}"

/* The steps of one of the texts as "0=a 1=b", with a "!" if something is damaged. */
static void expect_steps(const struct nt_jobtexts *texts, size_t at, const char *wanted)
{
	struct nt_summary summary;
	struct nt_error err;
	char steps[256] = "";

	nt_summary_init(&summary);
	assert_int_equal(nt_jobtext_parse(texts, &texts->items[at], NULL, &summary, &err), 0);
	for (size_t i = 0; i < summary.step_count; i++)
		nt_append(steps, sizeof(steps), "%s%s=%s", i ? " " : "", summary.steps[i].name,
			  summary.steps[i].mode);
	nt_append(steps, sizeof(steps), "%s", nt_summary_damaged(&summary) ? "!" : "");
	assert_string_equal(steps, wanted);
	nt_summary_fini(&summary);
}

static void joins_what_is_not_there(void **state)
{
	static const struct {
		const char *first, *filed, *joined;
	} cases[] = {
		{ "", OURS(STEP("0", "b")), "0=b" },
		{ "JS1:abc", OURS(STEP("1+0", "b")), "1+0=b" },
		{ "{\"x\":1}", OURS(STEP("0", "b")), "0=b" },
		{ OURS(STEP("0", "a")), OURS(STEP("1", "b")), "0=a 1=b" },
		/* What is there counts. */
		{ OURS(STEP("0", "a")), OURS(STEP("0", "b") STEP("batch", "b")), "0=a batch=b" },
		/* A damaged record is shown as such. */
		{ "{\"nccl_tune\":{\"v\":1,", OURS(STEP("0", "b")), "0=b!" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_jobtexts texts = { .count = 0 };
		struct nt_jobtext *text = nt_jobtexts_add(&texts, "12", cases[i].first,
							  strlen(cases[i].first));

		assert_non_null(text);
		text->filed = strdup(cases[i].filed);
		expect_steps(&texts, 0, cases[i].joined);
		nt_jobtexts_fini(&texts);
	}
}

/* What a requeued job's text still has of the run before. */
static void each_run_has_its_own_steps(void **state)
{
	static const struct {
		const char *last, *earlier, *left, *moved;
	} cases[] = {
		{ OURS(AGAIN("0", "a") STEP("1", "b")), OURS(STEP("0", "x") STEP("1", "b")), "0=a",
		  "0=x 1=b" },
		/* Its last record came after the job was requeued. */
		{ OURS(AGAIN("0", "a") STEP("1", "b")), OURS(STEP("0", "a") STEP("1", "early")),
		  "0=a", "0=a 1=early" },
		{ OURS(AGAIN("0", "a") STEP("1", "b")), "", "0=a", "1=b" },
		{ OURS(STEP("0", "a")), OURS(STEP("0", "a")), "", "0=a" },
		{ "JS1:abc", OURS(STEP("0", "a")), "", "0=a" },
		/* Whose text it is shows what is damaged. */
		{ "{\"nccl_tune\":{", OURS(STEP("0", "a")), "!", "0=a" },
		{ OURS(STEP("0x", "a") AGAIN("0", "a")), OURS(STEP("0", "a")), "0=a!", "0=a" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_jobtexts texts = { .count = 0 };

		assert_non_null(
			nt_jobtexts_add(&texts, "12", cases[i].last, strlen(cases[i].last)));
		assert_non_null(nt_jobtexts_add(&texts, "12 (run 1)", cases[i].earlier,
						strlen(cases[i].earlier)));
		texts.items[0].run = 1;
		expect_steps(&texts, 0, cases[i].left);
		expect_steps(&texts, 1, cases[i].moved);
		nt_jobtexts_fini(&texts);
	}
}

/* While a job runs again, slurmctld alone is asked. */
static void the_newest_run_stands_alone(void **state)
{
	static const char text[] = OURS(AGAIN("0", "a") STEP("1", "b"));
	struct nt_jobtexts texts = { .count = 0 };

	assert_non_null(nt_jobtexts_add(&texts, "12", text, strlen(text)));
	texts.items[0].run = 1;
	expect_steps(&texts, 0, "0=a 1=b");
	texts.items[0].newest = true;
	expect_steps(&texts, 0, "0=a");
	nt_jobtexts_fini(&texts);
}

static int remove_directory(void **state)
{
	static const char *const names[] = { "c.12.0.u12345.json", ".kept", ".come" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", (char *)*state, names[i]);
		unlink(path);
	}
	return remove_sacct_directory(state);
}

#define ROWS                                                                        \
	"for word; do case $word in --delimiter=*) mark=${word#*=} ;; esac; done\n" \
	"row() { printf '12%s12%s%s%s%s%s12\\n' \"$mark\" \"$mark\" \"$1\" \"$mark\" \"$2\" \"$mark\"; }\n"

/* What the last run's row has, and what accounting says of all. */
static void expect_runs(void **state, const char *last, const char *script, size_t count,
			const char *const *steps)
{
	struct nt_jobid id = { .job = 12, .task = -1, .component = -1 };
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_jobtext *text = nt_jobtexts_add(&texts, "12", last, strlen(last));

	assert_non_null(text);
	text->job = 12;
	fake_sacct(*state, script);
	assert_int_equal(nt_sacct_runs_load(&texts, &id, 60000), 0);
	assert_int_equal(texts.count, count);
	for (size_t i = 0; i < count; i++)
		expect_steps(&texts, i, steps[i]);
	if (count > 1)
		assert_string_equal(texts.items[1].label, "12 (run 1)");
	assert_int_equal(texts.items[0].run, 2);
	nt_jobtexts_fini(&texts);
}

/* Slurm leaves in the job what its first run wrote. */
static void a_run_that_wrote_nothing_has_nothing(void **state)
{
	static const char *const first[] = { "", "0=a", "" };
	static const char *const both[] = { "1=b", "0=a" };
	static const char *const others[] = { "", "", "" };
	static const char text[] = OURS(STEP("0", "a"));

	expect_runs(state, text,
		    ROWS "row REQUEUED '" OURS(STEP("0", "a")) "'\nrow REQUEUED '" OURS(
			    STEP("0", "a")) "'\nrow COMPLETED '" OURS(STEP("0", "a")) "'",
		    3, first);
	/* It came when the first one's row was written. */
	expect_runs(state, text,
		    ROWS "row REQUEUED ''\nrow RESIZING ''\nrow REQUEUED ''\nrow RUNNING ''", 3,
		    first);
	/* If a run's row has another form, its owner is unknown. */
	expect_runs(state, OURS(AGAIN("1", "b") STEP("0", "a")),
		    ROWS
		    "row REQUEUED '" OURS(STEP("0", "a")) "'\nrow NODE_FAIL ''\nrow COMPLETED ''",
		    2, both);
	expect_runs(state, "JS1:x", ROWS "row REQUEUED ''\nrow REQUEUED 'JS1:x'\nrow PENDING ''", 3,
		    others);
}

static void a_file_is_its_users_to_read(void **state)
{
	const struct nt_spool_entry entry = { "c", 12, 12345, "0", "{\"mode\":\"a\"}" };
	struct nt_spooled file;
	struct nt_error err;
	char path[256];
	struct stat status;
	int fd;

	if (nt_filesink_put(*state, &entry, &err) < 0)
		fail_msg("%s", err.text);
	snprintf(path, sizeof(path), "%s/c.12.0.u12345.json", (char *)*state);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, geteuid());
	assert_int_equal(status.st_mode & 027, 0);
	if (nt_filesink_has_lists(*state))
		assert_true(getxattr(path, "system.posix_acl_access", NULL, 0) > 0);
	fd = nt_spool_open(*state, NT_PART_FILES, false, &err);
	assert_true(fd >= 0);
	assert_int_equal(nt_spooled_read(&file, fd, "c.12.0.u12345.json", &err), 0);
	assert_string_equal(file.record, entry.record);
	close(fd);
}

UNIT_TESTS_EACH(make_sacct_directory, remove_directory, joins_what_is_not_there,
		each_run_has_its_own_steps, the_newest_run_stands_alone,
		a_run_that_wrote_nothing_has_nothing, a_file_is_its_users_to_read);

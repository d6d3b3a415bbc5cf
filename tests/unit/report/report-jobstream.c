/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs from a simulated sacct, a script first in PATH. */
#include "report/model/sacct-jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/append.h"
#include "tests/unit/fake-sacct.h"

/* The beginning of every script: the options by name, and a row of given texts. */
#define HEAD                                          \
	"for word; do\n"                              \
	"	case $word in\n"                            \
	"	--delimiter=*) d=${word#*=} ;;\n"           \
	"	--starttime=uts*) from=${word#*uts} ;;\n"   \
	"	--endtime=uts*) until=${word#*uts} ;;\n"    \
	"	esac\n"                                     \
	"done\n"                                      \
	"[ \"$SLURM_TIME_FORMAT\" = %s ] || exit 9\n" \
	"row() { printf '%b' \"$1${d}nt${d}gpu${d}ann${d}2${d}60${d}${4:-COMPLETED}${d}$2${d}$3\\n\"; }\n"

struct seen {
	char text[4096];
	size_t jobs;
};

static int note_job(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	struct seen *seen = argument;

	if (strcmp(job->label, "13") == 0)
		return nt_error_set(err, "thirteen");
	nt_append(seen->text, sizeof(seen->text), "%s %s %s %s %u %" PRId64 " %" PRId64 " <%.*s>\n",
		  job->label, job->cluster, job->partition, job->user, job->nodes, job->elapsed_s,
		  job->end_s, (int)job->text_bytes, job->text);
	seen->jobs++;
	return 0;
}

static int read_all(const struct nt_sacct_jobs_query *query, struct seen *seen,
		    struct nt_error *err)
{
	const struct nt_sacct_jobs_visitor visitor = { note_job, seen };
	int rc;

	memset(seen, 0, sizeof(*seen));
	rc = nt_sacct_jobs_each(query, &visitor, err);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return rc;
}

static void reads_rows_with_any_text(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 1000, .until_s = 5000 };
	struct nt_error err;
	struct seen seen;

	fake_sacct(*state, HEAD "row 1 'a\\nb' 2000; row 2_3 '{\"x\":1}y\\037z' 4999");
	if (read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(seen.text, "1 nt gpu ann 2 60 2000 <a\nb>\n"
				       "2_3 nt gpu ann 2 60 4999 <{\"x\":1}y\037z>\n");
}

static int note_requeued(void *argument, const struct nt_streamed_job *job, struct nt_error *err)
{
	(void)err;
	nt_append(argument, 8, "%s", job->requeued ? "r" : "-");
	return 0;
}

static void knows_a_run_that_another_one_follows(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 1000, .until_s = 5000 };
	char seen[8] = "";
	const struct nt_sacct_jobs_visitor visitor = { note_requeued, seen };
	struct nt_error err;

	fake_sacct(*state,
		   HEAD "row 1 '' 2000; row 2 '' 2000 REQUEUED; row 3 '' 2000 'CANCELLED by 1'");
	assert_int_equal(nt_sacct_jobs_each(&query, &visitor, &err), 0);
	assert_string_equal(seen, "-r-");
}

/* A user's own text looks like the line of another's job: it stays a text. */
static void takes_no_text_for_a_row(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 1000, .until_s = 5000 };
	struct nt_error err;
	struct seen seen;

	fake_sacct(
		*state, HEAD
		"row 1 \"\\n7\\037nt\\037gpu\\037bob\\0371\\0371\\037{}\\037\\0372000\\n\" 2000");
	if (read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(seen.jobs, 1);
	assert_null(strstr(seen.text, "\n7 nt"));
	/* And no two queries have the same delimiter. */
	fake_sacct(*state,
		   HEAD "row 1 \"$(cat ${0%/*}/word 2>&-)\" 2000; printf %s \"$d\" >${0%/*}/word");
	if (read_all(&query, &seen, &err) < 0 || read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(seen.jobs, 1);
	assert_true(strlen(seen.text) > 50);
	fake_sacct(*state, "rm ${0%/*}/word");
	read_all(&query, &seen, &err);
}

/* sacct returns jobs that ran at any time of a piece; each is used once, in the piece of its
 * end. */
static void asks_piece_by_piece(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 0, .until_s = 4 * 86400 };
	struct nt_error err;
	struct seen seen;

	/* A day, then two, since it was few, and what is left. */
	fake_sacct(*state, HEAD "row 1 '' 86400; row 2 '' 259199; row 3 \"$from-$until\" Unknown\n"
				"row 4 '' 259200; row 5 '' 345600");
	if (read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(seen.text, "1 nt gpu ann 2 60 86400 <>\n"
				       "2 nt gpu ann 2 60 259199 <>\n"
				       "3 nt gpu ann 2 60 0 <259200-345600>\n"
				       "4 nt gpu ann 2 60 259200 <>\n");
	/* Where there are many, half a day. */
	fake_sacct(*state,
		   HEAD "[ $from != 0 ] || for i in $(seq 11000); do row 1 '' 345600; done\n"
			"row 2 \"$((until - from))\" $from");
	if (read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(seen.text, "2 nt gpu ann 2 60 86400 <43200>\n"
				       "2 nt gpu ann 2 60 129600 <86400>\n"
				       "2 nt gpu ann 2 60 216000 <129600>\n");
}

/* slurmdbd's answer if its query failed. */
static void asks_again_where_the_answer_is_empty(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 1000, .until_s = 5000 };
	struct nt_error err;
	struct seen seen;
	char path[256];
	FILE *file;

	fake_sacct(*state, HEAD "rm ${0%/*}/empty 2>&- || row 1 '' 2000");
	snprintf(path, sizeof(path), "%s/empty", (char *)*state);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	if (read_all(&query, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(seen.jobs, 1);
	fake_sacct(*state, "exit 0");
	assert_int_equal(read_all(&query, &seen, &err), 0);
	assert_int_equal(seen.jobs, 0);
}

static void asks_for_what_is_wanted(void **state)
{
	const struct nt_sacct_jobs_query query = {
		.since_s = 1000,
		.until_s = 5000,
		.partition = "gpu,big",
		.account = "physics",
		.cluster = "east",
		.all_users = true,
	};
	const struct nt_sacct_jobs_query own = {
		.since_s = 1000, .until_s = 5000, .user = "bob", .all_users = true
	};
	struct nt_error err;
	struct seen seen;

	fake_sacct(*state, HEAD "row 1 \"$(echo \"$*\" | sed 's/.*--allusers/--allusers/')\" 2000");
	assert_int_equal(read_all(&query, &seen, &err), 0);
	assert_non_null(strstr(
		seen.text, "<--allusers --partition=gpu,big --accounts=physics --clusters=east>"));
	fake_sacct(*state, HEAD "row 1 \"$(echo \"$*\" | sed 's/.*uts5000//')\" 2000");
	assert_int_equal(read_all(&own, &seen, &err), 0);
	assert_non_null(strstr(seen.text, "< --user=bob>"));
	/* Fields that users can write to are no evidence. */
	fake_sacct(*state, HEAD "row 1 \"$(echo \"$*\" | sed 's/.*--format=//; s/ .*//')\" 2000");
	assert_int_equal(read_all(&own, &seen, &err), 0);
	assert_non_null(strstr(seen.text, ",AdminComment,End>"));
	assert_null(strstr(seen.text, ",Comment"));
	assert_null(strstr(seen.text, "Extra"));
}

static void says_why_there_is_no_answer(void **state)
{
	const struct nt_sacct_jobs_query query = { .since_s = 1000, .until_s = 5000 };
	static const struct {
		const char *script, *error;
		size_t jobs;
	} cases[] = {
		{ "echo 'sacct: error: no way' >&2; exit 1", "sacct: error: no way", 0 },
		{ HEAD "row 1 '' 2000; echo no more >&2; exit 1", "sacct: no more", 1 },
		{ "exit 1", "sacct: failed without a message", 0 },
		{ "echo nonsense", "sacct: cannot parse its output: it ends within a row", 0 },
		{ HEAD "row 1 '' 2000; row 13 '' 2000; exec sleep 60", "sacct: thirteen", 1 },
	};
	struct nt_error err;
	struct seen seen;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_sacct(*state, cases[i].script);
		assert_int_equal(read_all(&query, &seen, &err), -1);
		assert_string_equal(err.text, cases[i].error);
		assert_int_equal(seen.jobs, cases[i].jobs);
	}
}

UNIT_TESTS_ALL(make_sacct_directory, remove_sacct_directory, reads_rows_with_any_text,
	       knows_a_run_that_another_one_follows, takes_no_text_for_a_row, asks_piece_by_piece,
	       asks_again_where_the_answer_is_empty, asks_for_what_is_wanted,
	       says_why_there_is_no_answer);

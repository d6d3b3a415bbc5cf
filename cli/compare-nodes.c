/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare-nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/meeting.h"
#include "cli/run-step.h"
#include "lib/atomic-output.h"
#include "lib/json.h"
#include "report/model/places.h"
#include "report/summary/compared-nodes.h"

#define START_S 5 /* of srun and NCCL */
#define GRACE_S 2 /* beyond the time limit, to print the last result */
#define OUTPUT_MAX ((size_t)4 << 20)
#define FILE_MODE 0644 /* another user's health check may read it */

struct comparison {
	const struct nt_calrun *run;
	double time_s;
};

static void make_command(struct nt_argv *words, const struct comparison *comparison,
			 const char *meeting)
{
	const double seconds = comparison->time_s - START_S;
	char path[NT_PATH_MAX];

	nt_calrun_srun(words, comparison->run, "nccl-tune-nodes", comparison->time_s);
	nt_argv_add(words, "--distribution=block");
	nt_argv_add(words, "--nccl-tune=off");
	nt_argv_add(words, "%s", nt_places_beside("nccl-tune-bench", path));
	nt_argv_add(words, "--pairs");
	nt_argv_add(words, "--sizes=1K,32M");
	nt_argv_add(words, "--seconds=%u", seconds > 1 ? (unsigned)seconds : 1);
	nt_argv_add(words, "--iters=1000000");
	nt_argv_add(words, "--stall=20");
	nt_argv_add(words, "--rendezvous=%s", meeting);
}

static bool has_terminal(const struct nt_calrun *run)
{
	return !run->quiet && isatty(STDERR_FILENO);
}

static void redraw(void *argument, double elapsed_s)
{
	const struct comparison *comparison = argument;

	if (!has_terminal(comparison->run))
		return;
	fprintf(stderr, "\r\033[Kcalibrate: nodes, pair by pair, %.0f s of at most %.0f s",
		elapsed_s, comparison->time_s);
	fflush(stderr);
}

static json_object *read_output(FILE *output, struct nt_error *err)
{
	char *text = malloc(OUTPUT_MAX);
	json_object *compared = NULL;
	size_t bytes = 0;

	rewind(output);
	if (text)
		bytes = fread(text, 1, OUTPUT_MAX, output);
	if (text)
		compared = nt_compared_parse(text, bytes, err);
	else
		nt_error_set(err, "no memory");
	free(text);
	return compared;
}

/* Adds the job and the time. */
static int sign(json_object *compared, uint32_t job)
{
	const time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;
	int rc = 0;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	nt_json_integer(compared, "v", 1, &rc);
	nt_json_integer(compared, "job", job, &rc);
	nt_json_string(compared, "when", when, &rc);
	nt_json_integer(compared, "when_s", (int64_t)now, &rc);
	return rc;
}

static int run_step(const struct comparison *comparison, FILE *output, const char *meeting,
		    struct nt_stepresult *result, struct nt_error *err)
{
	struct nt_argv words = { .count = 0 };
	int rc = -1;

	make_command(&words, comparison, meeting);
	if (words.failed)
		nt_error_set(err, "no memory");
	else
		rc = nt_steprun(&(struct nt_steprun){ .argv = words.word,
						      .limit_s = comparison->time_s + GRACE_S,
						      .stop = comparison->run->stop,
						      .output_fd = fileno(output),
						      .tick = redraw,
						      .argument = (void *)comparison },
				result, err);
	nt_argv_fini(&words);
	if (has_terminal(comparison->run))
		fputs("\r\033[K", stderr);
	return rc;
}

json_object *nt_compare_nodes(const struct nt_calrun *run, double time_s, struct nt_error *err)
{
	const struct comparison comparison = { run, time_s };
	char meeting[NT_PATH_MAX] = "";
	struct nt_stepresult result = { .status = 0 };
	json_object *compared = NULL;
	FILE *output = tmpfile();

	if (!output)
		nt_error_set(err, "no temporary file: %m");
	else if (nt_meeting_make(run->directory, run->allocation.job, meeting, err) == 0 &&
		 run_step(&comparison, output, meeting, &result, err) == 0)
		compared = read_output(output, err);
	if (!compared && result.complaint[0])
		nt_error_set(err, "exit status %d: %s", result.status, result.complaint);
	nt_meeting_remove(meeting);
	if (output)
		fclose(output);
	if (compared && sign(compared, run->allocation.job) < 0) {
		json_object_put(compared);
		compared = NULL;
		nt_error_set(err, "no memory");
	}
	return compared;
}

int nt_compare_nodes_keep(json_object *compared, const char *path, struct nt_error *err)
{
	struct nt_atomic_output draft;
	int rc;

	if (nt_atomic_output_begin(&draft, err) < 0)
		return -1;
	rc = fprintf(draft.out, "%s\n",
		     json_object_to_json_string_ext(compared, JSON_C_TO_STRING_PLAIN));
	return nt_atomic_output_end(&draft, rc < 0 ? -1 : 0, path, FILE_MODE, err);
}

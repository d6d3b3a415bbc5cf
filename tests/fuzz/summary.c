/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - a site's summary of jobs whose records anybody may have written: each job is counted
 *             once, what is no evidence changes no sum, and all forms are plain and whole
 *
 * Input: jobs, with a byte 0 between two. Of each the first bytes say what Slurm knows of it and
 * where the record is, the rest is the record.
 */
#include <math.h>
#include <string.h>
#include <json.h>
#include "report/summary/stats-print.h"
#include "tests/fuzz/fuzz.h"

#define JOBS 40
#define KNOWN 4 /* bytes before the record */

struct jobs {
	char *part[JOBS];
	struct nt_streamed_job job[JOBS];
	size_t count;
};

static unsigned digit(char letter)
{
	return (unsigned char)letter % 16;
}

static void know(struct nt_streamed_job *job, const char *part, size_t number)
{
	const size_t bytes = strlen(part), known = bytes < KNOWN ? bytes : KNOWN;
	const unsigned where = bytes > 0 ? digit(part[0]) : 0;

	memset(job, 0, sizeof(*job));
	snprintf(job->label, sizeof(job->label), "%zu", number + 1);
	snprintf(job->cluster, sizeof(job->cluster), "c%u", known > 1 ? digit(part[1]) % 2 : 0);
	snprintf(job->partition, sizeof(job->partition), "p%u", known > 1 ? digit(part[1]) / 2 : 0);
	snprintf(job->user, sizeof(job->user), "u%u", known > 2 ? digit(part[2]) % 5 : 0);
	job->nodes = 1u << (known > 3 ? digit(part[3]) : 1);
	job->elapsed_s = known > 3 ? (int64_t)part[3] * 100 : 100;
	job->end_s = where == 11 ? 0 : 1763769600 + (int64_t)number;
	job->text = part + known;
	job->text_bytes = bytes - known;
}

static bool same_times(const struct nt_site_stats_sum *a, const struct nt_site_stats_sum *b)
{
	return a->keys == b->keys && a->calls == b->calls && a->saved_us == b->saved_us &&
	       a->spent_us == b->spent_us && a->launch_us == b->launch_us &&
	       a->calibration_us == b->calibration_us && a->comm_us == b->comm_us;
}

/* The outcome of the one job by which the two differ. */
static int outcome_between(const struct nt_site_stats_sum *before,
			   const struct nt_site_stats_sum *after)
{
	int found = -1;

	for (int o = 0; o < NT_JOB_OUTCOMES; o++) {
		if (after->jobs[o] == before->jobs[o])
			continue;
		FUZZ_CHECK(found < 0 && after->jobs[o] == before->jobs[o] + 1);
		found = o;
	}
	FUZZ_CHECK(found >= 0);
	return found;
}

static void add_all(struct nt_site_stats *tally, const struct jobs *jobs, bool backwards,
		    int outcome[JOBS])
{
	struct nt_site_stats_sum before = nt_site_stats_total(tally);

	for (size_t i = 0; i < jobs->count; i++) {
		const size_t at = backwards ? jobs->count - 1 - i : i;
		struct nt_site_stats_sum after;
		struct nt_error err;

		FUZZ_CHECK(nt_site_stats_add(tally, &jobs->job[at], &err) == 0);
		after = nt_site_stats_total(tally);
		outcome[at] = outcome_between(&before, &after);
		FUZZ_CHECK(outcome[at] >= NT_JOB_NOT_TUNED || same_times(&before, &after));
		before = after;
	}
	nt_site_stats_sort(tally);
}

static void check_json(const char *text)
{
	json_object *value = json_tokener_parse(text);

	FUZZ_CHECK(json_object_is_type(value, json_type_object));
	FUZZ_CHECK(!strstr(text, "NaN") && !strstr(text, "Infinity"));
	json_object_put(value);
}

static void check_form(const struct nt_site_stats *tally,
		       int (*print)(FILE *, const struct nt_site_stats_view *, struct nt_error *))
{
	const struct nt_site_stats_view view = { tally, 1763769600, 1763769600 + 86400 };
	char *text = NULL;
	size_t bytes = 0;
	struct nt_error err;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL);
	FUZZ_CHECK(print(out, &view, &err) == 0);
	fclose(out);
	fuzz_check_plain(text, bytes);
	FUZZ_CHECK(bytes > 0 && text[bytes - 1] == '\n');
	if (print == nt_site_stats_json)
		check_json(text);
	free(text);
}

/* In all three of these each job is counted once. */
static void check_classes(const struct nt_site_stats *tally, const struct nt_site_stats_sum *total)
{
	for (int by = NT_BY_CLUSTER; by <= NT_BY_USER; by++) {
		struct nt_site_stats_sum sum = { .keys = 0 };

		for (size_t i = 0; i < tally->by[by].names.count; i++) {
			const struct nt_site_stats_sum *class = &tally->by[by].class[i].sum;

			for (int outcome = 0; outcome < NT_JOB_OUTCOMES; outcome++)
				sum.jobs[outcome] += class->jobs[outcome];
			sum.keys += class->keys;
			sum.calls += class->calls;
		}
		FUZZ_CHECK(memcmp(sum.jobs, total->jobs, sizeof(sum.jobs)) == 0);
		FUZZ_CHECK(sum.keys == total->keys && sum.calls == total->calls);
	}
}

static void check(const struct jobs *jobs)
{
	int forward[JOBS], backward[JOBS];
	struct nt_site_stats tally, other;
	struct nt_site_stats_sum total;

	nt_site_stats_init(&tally);
	nt_site_stats_init(&other);
	add_all(&tally, jobs, false, forward);
	add_all(&other, jobs, true, backward);
	total = nt_site_stats_total(&tally);
	FUZZ_CHECK(nt_site_stats_jobs(&total) == (int64_t)jobs->count);
	FUZZ_CHECK(total.saved_us < INT64_MAX && total.saved_us > INT64_MIN);
	FUZZ_CHECK(memcmp(forward, backward, jobs->count * sizeof(forward[0])) == 0);
	check_classes(&tally, &total);
	check_form(&tally, nt_site_stats_text);
	check_form(&tally, nt_site_stats_json);
	check_form(&tally, nt_site_stats_prometheus);
	nt_site_stats_fini(&tally);
	nt_site_stats_fini(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	struct jobs jobs = { .count = 0 };

	while (jobs.count < JOBS && (jobs.part[jobs.count] = fuzz_part(&in, '\0')) != NULL) {
		know(&jobs.job[jobs.count], jobs.part[jobs.count], jobs.count);
		jobs.count++;
	}
	check(&jobs);
	for (size_t i = 0; i < jobs.count; i++)
		free(jobs.part[i]);
	return 0;
}

FUZZ_TEXT_TARGET("0000{\"nccl_tune\":{\"v\":1,",
		 "\"0\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2", "\"8r2n\":{",
		 "\"AllReduce 256K\":{", "\"auto\":\"RING/SIMPLE\"", "\"arm\":\"TREE/LL\"",
		 "\"us\":[10,8]", "\"calls\":100", "\"spent_ms\":5", "\"saved_ms\":6",
		 "\"why\":\"little\"", "\"comm_ms\":16000001", "\"more\":3", "\"launch\":\"wide\"",
		 "\"nccl\":\"2.28.9\"", "\"step_us\":[1,2,3]", "\"calibration\":1",
		 "\"expected\":2", "\"set\":\"NCCL_A=1\"", "null", "\"why\":[\"=cmd\"]",
		 "\"1e308\"", "\"explored\":[")

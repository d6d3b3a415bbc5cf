/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over many jobs. */
#include "report/summary/finding-stats.h"

#include "tests/lib/unit.h"

#define STEP(findings) "{\"mode\":\"observe\",\"ranks\":8,\"nodes\":2,\"findings\":[" findings "]}"
#define DOWN "\"ports:n17:port mlx5_3/1 is DOWN:it is active on 3 other nodes\""
#define LEFT "\"left::NCCL_P2P_DISABLE=1:in the job or its image:it is slow\""

static void add(struct nt_finding_stats *stats, const char *label, const char *user, int64_t end_s,
		const char *text)
{
	struct nt_streamed_job job = { .nodes = 4, .elapsed_s = 60, .end_s = end_s };
	struct nt_error err;

	snprintf(job.label, sizeof(job.label), "%s", label);
	snprintf(job.cluster, sizeof(job.cluster), "c");
	snprintf(job.user, sizeof(job.user), "%s", user);
	job.text = text;
	job.text_bytes = strlen(text);
	assert_int_equal(nt_finding_stats_add(stats, &job, &err), 0);
}

static void fill(struct nt_finding_stats *stats, uint32_t codes)
{
	nt_finding_stats_init(stats, codes);
	add(stats, "1", "alice", 86400, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP(DOWN) "}}");
	add(stats, "2_1", "bob", 10 * 86400,
	    "{\"nccl_tune\":{\"v\":1,\"0\":" STEP(DOWN "," LEFT) ",\"1\":" STEP(DOWN) "}}");
	add(stats, "3", "bob", 2 * 86400, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP("") "}}");
	add(stats, "4", "carol", 2 * 86400,
	    "{\"nccl_tune\":{\"v\":1,\"0\":" STEP("\"moon:n1:full\",\"ports\"") "}}");
	add(stats, "5", "carol", 0, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP(DOWN) "}}"); /* runs */
	add(stats, "6", "carol", 2 * 86400, "another program's text");
	add(stats, "7", "carol", 2 * 86400, "{\"nccl_tune\":{\"v\":1,\"0\":{\"findings\":7}}}");
	nt_finding_stats_sort(stats);
}

static char *print(const struct nt_finding_stats *stats,
		   void (*how)(FILE *out, const struct nt_finding_stats *stats))
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	how(out, stats);
	fclose(out);
	return text;
}

static void json(FILE *out, const struct nt_finding_stats *stats)
{
	assert_int_equal(nt_finding_stats_json(out, stats, NULL), 0);
}

static void jobs_and_users_count_once(void **state)
{
	struct nt_finding_stats stats;
	char *text;

	fill(&stats, NT_FINDINGS_ALL);
	assert_int_equal(stats.jobs, 5);
	text = print(&stats, nt_finding_stats_text);
	assert_non_null(strstr(text, "5 jobs with a record, 3 of them with findings.\n"));
	assert_non_null(strstr(text, "\nports, n17: 2 jobs of 2 users, 1970-01-"));
	assert_non_null(strstr(text, "On n17 port mlx5_3/1 is DOWN; it is active on 3 other"));
	assert_non_null(strstr(text, "\nleft: 1 job of 1 user, 1970-01-"));
	assert_true(strstr(text, "\nports,") < strstr(text, "\nleft:"));
	assert_null(strstr(text, "moon"));
	free(text);
	nt_finding_stats_fini(&stats);
}

static void programs_read_the_same(void **state)
{
	struct nt_finding_stats stats;
	char *text;

	fill(&stats, NT_FINDINGS_ALL);
	text = print(&stats, nt_finding_stats_prometheus);
	assert_non_null(strstr(text, "\nnccl_tune_finding_jobs{cluster=\"c\",code=\"ports\","
				     "node=\"n17\"} 2\n"));
	free(text);
	text = print(&stats, json);
	assert_non_null(strstr(text, "\"n17\""));
	assert_non_null(strstr(text, "mlx5_3"));
	free(text);
	nt_finding_stats_fini(&stats);
}

static void the_site_switches_codes_off(void **state)
{
	struct nt_finding_stats stats;
	char *text;

	fill(&stats, NT_FINDINGS_ALL & ~(1u << NT_FINDING_PORTS));
	text = print(&stats, nt_finding_stats_text);
	assert_null(strstr(text, "ports"));
	assert_non_null(strstr(text, "5 jobs with a record, 1 of them with findings.\n"));
	free(text);
	nt_finding_stats_fini(&stats);
}

UNIT_TESTS(jobs_and_users_count_once, programs_read_the_same, the_site_switches_codes_off);

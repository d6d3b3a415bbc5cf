/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A site's memory: medians over jobs and users, and omissions */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "report/summary/site-memory.h"

static struct nt_site_memory learned;
static const struct nt_site_memory_rules rules = { .jobs = NT_LEARNED_JOBS,
						   .user_jobs = NT_LEARNED_USER_JOBS };

static int set_up(void **state)
{
	(void)state;
	nt_site_memory_init(&learned);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_site_memory_fini(&learned);
	return 0;
}

/* A job of one step: AllReduce of 1M, us with the best arm. */
static void job(const char *user, uint32_t number, const char *profile, double us, const char *more)
{
	struct nt_summary summary;
	char text[1024];

	snprintf(
		text, sizeof(text),
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,"
		"\"nodes\":2,\"launch\":\"%s\",\"fp\":\"00f3000000000001\",\"fabric\":\"socket\","
		"\"driver\":\"570.1\",\"per_node\":4%s,\"8r2n\":{\"AllReduce 1M\":{\"auto\":"
		"\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[%.1f,%.1f],\"p\":0.001,"
		"\"samples\":24,\"calls\":1000}}}}}",
		profile, more, us * 1.25, us);
	nt_summary_init(&summary);
	assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, NULL), 0);
	assert_false(nt_summary_damaged(&summary));
	assert_int_equal(nt_site_memory_add(&learned, user, number, 1000 + number, &summary, NULL),
			 0);
	nt_summary_fini(&summary);
}

/* The written file, as a memory. */
static void expect(size_t lines, struct nt_memory *memory, char comments[512])
{
	char *text = NULL, *line, *rest;
	size_t bytes = 0, count;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(nt_site_memory_print(&learned, &rules, out, &count, NULL), 0);
	fclose(out);
	assert_int_equal(count, lines);
	nt_memory_init(memory);
	assert_int_equal(nt_memory_read_text(memory, text, bytes, NULL), 0);
	assert_int_equal(memory->entries, lines);
	comments[0] = '\0';
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (line[0] == '#')
			strncat(comments, line, 512 - strlen(comments) - 1);
	free(text);
}

static void medians_over_jobs(void **state)
{
	struct nt_memory memory;
	char comments[512];

	(void)state;
	job("ann", 1, "default", 100, "");
	job("ann", 2, "default", 130, "");
	job("bob", 3, "default", 110, "");
	job("bob", 4, "sockets-wide", 50, "");
	job("bob", 5, "sockets-wide", 50, "");
	expect(1, &memory, comments);
	assert_string_equal(memory.entry[0].profile, "default");
	assert_int_equal(memory.entry[0].origin, NT_ORIGIN_IMPORT);
	assert_int_equal(memory.entry[0].where.fingerprint, 0xf3000000000001);
	assert_int_equal(memory.entry[0].where.nccl, 22809);
	assert_int_equal(memory.entry[0].where.fabric, NT_FABRIC_SOCKET);
	assert_int_equal(memory.entry[0].where.per_node, 4);
	assert_int_equal(memory.entry[0].when_s, 1003);
	/* Hers are 100 and 130. */
	assert_int_equal(memory.entry[0].key[0].best.samples, 2);
	assert_float_equal(memory.entry[0].key[0].best.p25_us, 111.25, 0.01);
	assert_float_equal(memory.entry[0].key[0].best.median_us, 112.5, 0.01);
	assert_float_equal(memory.entry[0].key[0].best.p75_us, 113.75, 0.01);
	assert_float_equal(memory.entry[0].key[0].untuned.median_us, 140.625, 0.01);
	assert_int_equal(memory.entry[0].key[0].arm, nt_arm_parse("TREE/SIMPLE"));
	assert_non_null(strstr(comments, "# default, 2 x 4: 3 jobs of 2 users (ann 2, bob 1)"));
	nt_memory_fini(&memory);
	/* Steps of one job are one job. */
	job("bob", 5, "sockets-wide", 50, "");
	expect(1, &memory, comments);
	nt_memory_fini(&memory);
	job("ann", 6, "sockets-wide", 50, "");
	expect(2, &memory, comments);
	nt_memory_fini(&memory);
}

static void one_user_does_not_outvote_others(void **state)
{
	struct nt_memory memory;
	char comments[512];

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		job("eve", 100 + i, "sockets-wide", 1, "");
	job("ann", 1, "sockets-wide", 100, "");
	job("bob", 2, "sockets-wide", 101, "");
	job("cid", 3, "sockets-wide", 102, "");
	expect(1, &memory, comments);
	assert_float_equal(memory.entry[0].key[0].best.median_us, 100.5, 0.01);
	assert_int_equal(memory.entry[0].key[0].best.samples, 4);
	/* Ten of hers count, and the comment says so. */
	assert_non_null(strstr(comments, "13 jobs of 4 users (ann 1, bob 1, cid 1, eve 10)"));
	nt_memory_fini(&memory);
}

static void one_user_does_not_outvote_another(void **state)
{
	struct nt_memory memory;
	char comments[512];

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		job("eve\n", 100 + i, "sockets-wide", 60, "");
	job("ann", 1, "sockets-wide", 100, "");
	expect(1, &memory, comments);
	assert_float_equal(memory.entry[0].key[0].best.median_us, 80, 0.01);
	assert_int_equal(memory.entry[0].key[0].best.samples, 2);
	assert_non_null(strstr(comments, "11 jobs of 2 users (ann 1, eve? 10)"));
	nt_memory_fini(&memory);
}

static void a_single_users_jobs_are_values_each(void **state)
{
	struct nt_memory memory;
	char comments[512];

	(void)state;
	job("ann", 1, "default", 100, "");
	job("ann", 2, "default", 130, "");
	job("ann", 3, "default", 110, "");
	expect(1, &memory, comments);
	assert_int_equal(memory.entry[0].key[0].best.samples, 3);
	assert_float_equal(memory.entry[0].key[0].best.p25_us, 105, 0.01);
	assert_float_equal(memory.entry[0].key[0].best.median_us, 110, 0.01);
	assert_float_equal(memory.entry[0].key[0].best.p75_us, 120, 0.01);
	assert_non_null(strstr(comments, "3 jobs of 1 user (ann 3)"));
	nt_memory_fini(&memory);
}

static void places_and_calibrations_are_apart(void **state)
{
	struct nt_memory memory;
	char comments[512];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		job("ann", i, "default", 100, "");
		job("ann", 10 + i, "default", 50, ",\"calibration\":1");
		job("ann", 20 + i, "default", 70, ",\"own\":77");
	}
	expect(3, &memory, comments);
	assert_int_equal(memory.entry[1].origin, NT_ORIGIN_CALIBRATE);
	assert_float_equal(memory.entry[1].key[0].best.median_us, 50, 0.01);
	assert_int_equal(memory.entry[2].where.user_env, 77);
	assert_string_not_equal(memory.entry[0].id, memory.entry[1].id);
	assert_non_null(strstr(comments, "calibrated"));
	nt_memory_fini(&memory);
}

static void what_has_no_place_is_counted_and_left_out(void **state)
{
	static const char text[] =
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,"
		"\"nodes\":2,\"8r2n\":{\"AllReduce 1M\":{\"auto\":\"RING/SIMPLE\",\"arm\":"
		"\"TREE/SIMPLE\",\"us\":[100,80],\"samples\":24,\"calls\":10},\"AllReduce 2M\":{\"auto\":"
		"\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[100,80],\"samples\":24,\"calls\":10}}}}}";
	struct nt_summary summary;
	struct nt_memory memory;
	char comments[512];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		nt_summary_init(&summary);
		assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, NULL), 0);
		assert_int_equal(nt_site_memory_add(&learned, "ann", i, 1000, &summary, NULL), 0);
		nt_summary_fini(&summary);
	}
	job("ann", 9, "default", 0, "");
	assert_int_equal(learned.without_place, 3);
	assert_int_equal(learned.jobs, 4);
	expect(0, &memory, comments);
	nt_memory_fini(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(medians_over_jobs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_user_does_not_outvote_others, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_user_does_not_outvote_another, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_single_users_jobs_are_values_each, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(places_and_calibrations_are_apart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_has_no_place_is_counted_and_left_out, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("site-memory", tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Merging records into a job's existing text; a JSON library reads the result. */
#include "record/admincomment-merge.h"
#include "record/says.h"
#include "record/step.h"

#include <json.h>
#include <stdbool.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "lib/json-scanner.h"

#define STEP "{\"mode\":\"bandit\"}"

static void expect(const char *comment, const char *step, const char *record, const char *wanted)
{
	char *out;

	assert_int_equal(nt_admincomment_merge_step(comment, step, record, &out),
			 NT_ADMINCOMMENT_MERGE_DONE);
	assert_string_equal(out, wanted);
	free(out);
}

static void expect_result(const char *comment, enum nt_admincomment_merge wanted)
{
	char *out;
	enum nt_admincomment_merge result = nt_admincomment_merge_step(comment, "0", STEP, &out);

	if (result != wanted)
		fail_msg("%d instead of %d: %.200s", (int)result, (int)wanted, comment);
	assert_null(out);
}

static void into_nothing(void **state)
{
	expect("", "0", STEP, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP "}}");
	expect(" \n", "batch", STEP, "{\"nccl_tune\":{\"v\":1,\"batch\":" STEP "}}");
}

/* The sentence of the first member, from these steps. */
static void expect_says(const char *first, const char *second, const char *wanted)
{
	const struct nt_admincomment_merge_step steps[] = { { "0", first }, { "1", second } };
	struct nt_text ours, says = { "\"\"", 2 };
	char text[NT_SAYS_MAX + 2], *out, *again;

	assert_int_equal(nt_admincomment_merge_steps("", steps, 2, &out),
			 NT_ADMINCOMMENT_MERGE_DONE);
	assert_true(nt_json_scan_member(nt_text_of(out), "nccl_tune", &ours));
	(void)nt_json_scan_member(ours, "says", &says);
	assert_true(says.bytes < sizeof(text));
	snprintf(text, sizeof(text), "%.*s", (int)says.bytes - 2, says.at + 1);
	assert_string_equal(text, wanted);
	if (wanted[0])
		assert_memory_equal(ours.at, "{\"says\":", 8);
	/* It stands there once, however often the record is written. */
	assert_int_equal(nt_admincomment_merge_step(out, "2", STEP, &again),
			 NT_ADMINCOMMENT_MERGE_DONE);
	free(out);
	out = strstr(again, "\"says\":");
	assert_true(!out || !strstr(out + 1, "\"says\":"));
	free(again);
}

#define FOUND(list) "\"findings\":[" list "]"

static void with_the_worst_finding(void **state)
{
	expect_says("{\"mode\":\"observe\"," FOUND("\"cpus:n1 and 1 more node:8 ranks\"") "}", STEP,
		    "only measured; set-up: cpus (n1)");
	/* Of all steps, in any order */
	expect_says(
		"{\"mode\":\"bandit\"," FOUND("\"left::NCCL_X=1\",\"ports:n17:port is DOWN\"") "}",
		"{\"mode\":\"bandit\",\"saved_ms\":500.0," FOUND("\"sockets::mlx5_0/1\"") "}",
		"saved 500.0 ms; set-up: ports (n17)");
	expect_says("{\"mode\":\"bandit\",\"saved_ms\":0," FOUND("\"sockets::mlx5_0/1\"") "}", STEP,
		    "nothing saved; set-up: sockets");
	/* It is worth more than what was spent, and than why nothing was saved. */
	expect_says("{\"mode\":\"bandit\",\"measured\":1.9,\"step_us\":[20.0,23500.0,50.0],"
		    "\"saved_ms\":14200.0,\"spent_ms\":50900.0," FOUND("\"ports:n17:x:y\"") "}",
		    STEP, "step 23.5 ms, was 44.6 ms (1.90 x); saved 14.2 s; set-up: ports (n17)");
	expect_says(
		"{\"mode\":\"bandit\",\"early\":1,\"saved_ms\":0,\"8r2n\":{\"AllReduce 1M\":{\"why\":"
		"\"open\"}}," FOUND("\"differs:a-node-with-a-long-name:x:y\"") "}",
		STEP, "set-up: differs (a-node-with-a-long-name)");
	/* A later release's is none of ours. */
	expect_says("{\"mode\":\"observe\"," FOUND("\"moon:n1:full\",7") "}", STEP,
		    "only measured");
}

#define SAYS_STEP(members) "{\"mode\":\"bandit\"," members "}"

static void in_one_sentence(void **state)
{
	expect_says(STEP, STEP, "");
	expect_says(SAYS_STEP("\"saved_ms\":0.04"), STEP, "nothing saved");
	expect_says(SAYS_STEP("\"saved_ms\":500.0"), SAYS_STEP("\"saved_ms\":300.0"),
		    "saved 800.0 ms");
	expect_says(SAYS_STEP("\"saved_ms\":-500.0"), STEP, "lost 500.0 ms");
	expect_says("{\"mode\":\"observe\",\"saved_ms\":0.0}", STEP, "only measured");
	expect_says(
		SAYS_STEP("\"step_us\":[20.0,44700.0,50.0]"),
		SAYS_STEP("\"measured\":1.9,\"step_us\":[20.0,23500.0,50.0],\"saved_ms\":2100.0"),
		"step 23.5 ms, was 44.7 ms (1.90 x); saved 2.1 s");
	expect_says(SAYS_STEP("\"measured\":1.001,\"step_us\":[1.0,2e6,3.0],\"saved_ms\":0.0"),
		    STEP, "step 2.00 s; nothing saved");
	expect_says(SAYS_STEP("\"calibration_s\":7.3,\"saved_ms\":900.0"),
		    SAYS_STEP("\"saved_ms\":0"), "saved 900.0 ms, spent 7.3 s");
	/* The last one's end is known, or not; what runs has said nothing final. */
	expect_says(SAYS_STEP("\"saved_ms\":500.0"), SAYS_STEP("\"as_of\":1,\"saved_ms\":300.0"),
		    "cut short: saved 800.0 ms");
	expect_says(SAYS_STEP("\"as_of\":1,\"saved_ms\":500.0"), SAYS_STEP("\"saved_ms\":300.0"),
		    "saved 800.0 ms");
	expect_says(SAYS_STEP("\"early\":1,\"as_of\":1,\"saved_ms\":500.0"), STEP,
		    "so far: saved 500.0 ms");
	expect_says(
		SAYS_STEP(
			"\"early\":1,\"saved_ms\":0,\"8r2n\":{\"AllReduce 1M\":{\"why\":\"open\"}}"),
		STEP, "so far: nothing saved yet: still exploring");
	expect_says(SAYS_STEP("\"spent_ms\":230.0,\"saved_ms\":22.9"), STEP,
		    "saved 22.9 ms, spent 230.0 ms");
	expect_says(SAYS_STEP("\"mode\":\"policy\",\"estimated_ms\":1234.5"), STEP,
		    "saved about 1.2 s (estimate)");
	expect_says("{\"mode\":\"observe\"}", SAYS_STEP("\"saved_ms\":0.0"), "nothing saved");
	/* What has no room is left out as a whole. */
	expect_says(STEP,
		    SAYS_STEP("\"as_of\":1,\"measured\":1.9,\"step_us\":[20.0,123456789.0,50.0],"
			      "\"spent_ms\":999999.0,\"saved_ms\":999998.0"),
		    "cut short: step 123 s, was 235 s (1.90 x); saved 16.7 min");
	expect_says(SAYS_STEP("\"step_us\":[1.0,2.0,3.0]"),
		    SAYS_STEP("\"measured\":1e300,\"step_us\":[1.0,1e300,3.0],\"saved_ms\":1e300"),
		    "step 2.00 us; nothing saved");
}

#define WHY(code) "\"8r2n\":{\"AllReduce 1M\":{\"why\":\"" code "\"}}"

/* 1000 steps of 1 ms, and calls of two sizes, one call a step. */
#define TIMED(one, one_us, other, other_us)                                                   \
	"\"step_us\":[1,1000,9],\"steps\":1000,\"8r2n\":{\"AllReduce 1M\":{\"calls\":1000,"   \
	"\"own_us\":[" other_us "0],\"why\":\"" other "\"},\"AllReduce 2M\":{\"calls\":1000," \
	"\"us\":[" one_us "0],\"why\":\"" one "\"}}"

#define SELDOM                                                                              \
	"\"step_us\":[1,1000,9],\"steps\":1000,\"8r2n\":{\"AllReduce 1M\":{\"calls\":1000," \
	"\"own_us\":[600],\"why\":\"screened\"},\"Broadcast 2M\":{\"calls\":9,"             \
	"\"predicted_us\":[9e6],\"why\":\"counted\"}}"

static void why_nothing_was_saved(void **state)
{
	expect_says(SAYS_STEP(WHY("small")), STEP, "nothing saved: NCCL's choice is best");
	expect_says(SAYS_STEP(WHY("open")), SAYS_STEP(WHY("chance")),
		    "nothing saved: NCCL's choice is best");
	/* And of it what takes most of the program's time. */
	expect_says(SAYS_STEP(TIMED("open", "20", "screened", "60")), STEP,
		    "step 1.00 ms; nothing saved: NCCL's is best in 60 % compared");
	expect_says(SAYS_STEP(TIMED("open", "60", "screened", "20")), STEP,
		    "step 1.00 ms; nothing saved: 60 % was not decided");
	expect_says(SAYS_STEP(TIMED("open", "2", "screened", "60")), STEP,
		    "step 1.00 ms; nothing saved: NCCL's choice is best");
	/* Calls of its start, which were not timed, are no part of its steps. */
	expect_says(SAYS_STEP(SELDOM), STEP, "step 1.00 ms; nothing saved: NCCL's choice is best");
	/* Steps of this job are better evidence than memories; without either nothing is known. */
	expect_says(
		SAYS_STEP("\"launch\":\"default\",\"step_us\":[1,3e3,9],\"steps\":50"),
		SAYS_STEP("\"launch\":\"wide\",\"measured\":9,\"step_us\":[1,1e3,9],\"steps\":100"),
		"step 1.00 ms, was 3.00 ms (3.00 x); saved 200.0 ms");
	expect_says(SAYS_STEP("\"launch\":\"wide\",\"step_us\":[1,1e3,9],\"steps\":100," WHY(
			    "screened")),
		    STEP, "step 1.00 ms with wide, without not measured");
	/* A benchmark for others is no step of the user's. */
	expect_says(SAYS_STEP("\"saved_ms\":500.0"),
		    SAYS_STEP("\"program\":\"nccl-tune-calibrate\",\"calibration_s\":9.0,"
			      "\"step_us\":[1,2,3],\"saved_ms\":5e6"),
		    "saved 500.0 ms, spent 9.0 s");
	expect_says(SAYS_STEP(WHY("open")), STEP, "nothing saved: nothing was decided");
	expect_says(SAYS_STEP(WHY("known")), STEP, "remembered choices used");
	expect_says(SAYS_STEP("\"rest\":[\"3 little\"]"), STEP,
		    "nothing saved: too little communication");
	expect_says(SAYS_STEP("\"why\":[\"algo\",\"8r2n 1 nopmix\"]"), STEP,
		    "nothing saved: not tuned (nopmix)");
	expect_says(SAYS_STEP("\"why\":[\"8r2n 1 nccl:3:n2:22703:22809\"]"), STEP,
		    "nothing saved: not tuned (nccl)");
	/* Whatever somebody has put there. */
	expect_says(SAYS_STEP("\"why\":[1,{\"why\":\"\"},\"\",\"|\",\"a b c \"],\"rest\":7"), STEP,
		    "");
}

#define STALL(call) "\"as_of\":9,\"why\":[\"4r2n 1 behind:Rank 3 on n2:" call ":all 3 others:42\"]"

static void who_stalled_comes_first(void **state)
{
	expect_says(SAYS_STEP(WHY("small")), SAYS_STEP(STALL("AllReduce 16M, call 900")),
		    "stalled: others wait for rank 3 on n2 (AllReduce 16M, call 900)");
	expect_says(SAYS_STEP(WHY("small")),
		    SAYS_STEP(STALL("ReduceScatter 16M, call 900000000000")),
		    "stalled: others wait for rank 3 on n2");
	/* An earlier step did, and the job went on. */
	expect_says(SAYS_STEP(STALL("AllReduce 16M, call 900")), SAYS_STEP(WHY("small")),
		    "nothing saved: NCCL's choice is best");
	/* The last step counts that tells of calls. */
	expect_says(SAYS_STEP(WHY("small")), SAYS_STEP(WHY("p2p")),
		    "nothing saved: only sends and receives");
	expect_says(SAYS_STEP(WHY("p2p")), SAYS_STEP(WHY("p2p")),
		    "nothing saved: only sends and receives");
}

static void beside_others(void **state)
{
	expect("{}", "0", STEP, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP "}}");
	expect("{ }", "0", STEP, "{\"nccl_tune\":{\"v\":1,\"0\":" STEP "} }");
	expect(" { \"a\" : [1, {\"b\":\"}\\\"{\"}] , \"c\":null }\n", "0", STEP,
	       " { \"a\" : [1, {\"b\":\"}\\\"{\"}] , \"c\":null,\"nccl_tune\":{\"v\":1,\"0\":" STEP
	       "} }\n");
}

static void beside_own_steps(void **state)
{
	expect("{\"nccl_tune\":{\"v\":1,\"0\":{\"a\":1}}}", "1", STEP,
	       "{\"nccl_tune\":{\"v\":1,\"0\":{\"a\":1},\"1\":" STEP "}}");
	expect("{\"x\":1,\"nccl_tune\": {\"v\" : 1, \"0\": {\"a\":1}, \"later\":[] } ,\"y\":\"\"}",
	       "7", STEP,
	       "{\"x\":1,\"nccl_tune\": {\"v\":1,\"0\":{\"a\":1},\"later\":[],\"7\":" STEP
	       "} ,\"y\":\"\"}");
}

static void in_place_of_an_older_one(void **state)
{
	expect("{\"nccl_tune\":{\"v\":1,\"0\":{\"early\":1},\"1\":{}}}", "0", STEP,
	       "{\"nccl_tune\":{\"v\":1,\"1\":{},\"0\":" STEP "}}");
	expect_result("{\"nccl_tune\":{\"v\":1,\"1\":{},\"0\":" STEP "}}",
		      NT_ADMINCOMMENT_MERGE_UNCHANGED);
	expect_result("{\"z\":0,\"nccl_tune\":{\"v\":1,\"0\":" STEP ",\"1\":{}}}",
		      NT_ADMINCOMMENT_MERGE_UNCHANGED);
}

static void other_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"JS1:H4sIAAAAAAAA",
		"text",
		"[]",
		"\"{}\"",
		"1",
		"{",
		"{}}",
		"{} {}",
		"{\"a\":1,}",
		"{\"a\" 1}",
		"{\"a\":01}",
		"{\"a\":1.}",
		"{\"a\":.5}",
		"{\"a\":-}",
		"{\"a\":1e}",
		"{\"a\":tru}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12g4\"}",
		"{\"a\":\"\t\"}",
		"{\"a\":\"}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":[1,2}",
		"{\"a\":[1}]",
		"{\"nccl_tune\":{\"v\":2,\"0\":{}}}",
		"{\"nccl_tune\":{\"0\":{}}}",
		"{\"nccl_tune\":[1]}",
		"{\"nccl_tune\":\"v\"}",
		"{\"nccl_tune\":null}",
	};

	for (size_t i = 0; i < LENGTH(texts); i++)
		expect_result(texts[i], NT_ADMINCOMMENT_MERGE_FOREIGN);
}

static void depth_is_bounded(void **state)
{
	char text[2 * 100000 + 16];
	size_t used = 0;

	for (int i = 0; i < 60; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "{\"a\":");
	used += (size_t)snprintf(text + used, sizeof(text) - used, "1");
	memset(text + used, '}', 60);
	text[used + 60] = '\0';
	assert_true(nt_json_scan_is(nt_text_of(text), '{'));
	memcpy(text, "{\"a\":", 5);
	memset(text + 5, '[', 100000);
	memset(text + 100005, ']', 100000);
	memcpy(text + 200005, "}", 2);
	expect_result(text, NT_ADMINCOMMENT_MERGE_FOREIGN);
}

static void too_long_a_text_is_left_alone(void **state)
{
	char *text = malloc(NT_COMMENT_MAX + 1);
	char *out;

	snprintf(text, NT_COMMENT_MAX, "{\"a\":\"%*s\"}", 65400, "x");
	assert_int_equal(nt_admincomment_merge_step(text, "0", STEP, &out),
			 NT_ADMINCOMMENT_MERGE_DONE);
	assert_true(strlen(out) <= NT_COMMENT_MAX);
	free(out);
	snprintf(text, NT_COMMENT_MAX, "{\"a\":\"%*s\"}", 65500, "x");
	expect_result(text, NT_ADMINCOMMENT_MERGE_NO_ROOM);
	free(text);
}

static json_object *own(const char *text, json_object **root)
{
	json_object *ours;

	*root = json_tokener_parse(text);
	assert_non_null(*root);
	assert_true(json_object_object_get_ex(*root, NT_RECORD_KEY, &ours));
	return ours;
}

static int64_t count_of(json_object *object, const char *name)
{
	json_object *member;

	return json_object_object_get_ex(object, name, &member) ? json_object_get_int64(member)
								: -1;
}

/* A record with that many entries, about 150 bytes each. */
static void make_record(char *out, size_t out_bytes, int entries)
{
	size_t used = (size_t)snprintf(out, out_bytes,
				       "{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"8r2n\":{");

	for (int i = 0; i < entries; i++)
		used += (size_t)snprintf(
			out + used, out_bytes - used,
			"%s\"AllReduce %dK\":{\"auto\":\"RING/SIMPLE\","
			"\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],\"p\":0.0001,"
			"\"calls\":10000,\"spent_ms\":12.3}",
			i ? "," : "", i + 1);
	snprintf(out + used, out_bytes - used, "},\"why\":[\"x\"],\"more\":2}");
}

static void old_steps_are_thinned(void **state)
{
	char record[NT_STEP_RECORD_MAX + 1], name[16];
	char *text = strdup("{\"keep\":true}");
	json_object *root, *ours, *step;

	for (int i = 0; i < 10; i++) {
		char *out;

		make_record(record, sizeof(record), 8);
		if (i == 1) /* a launch profile and its gain stay, if they are valid */
			snprintf(record, sizeof(record), "%s",
				 "{\"mode\":\"bandit\",\"launch\":\"wide\",\"from\":\"x\","
				 "\"measured\":2.60,\"remark\":\"results are wrong with x\","
				 "\"8r2n\":{\"A\":{},\"B\":{}}}");
		else if (i == 2)
			snprintf(record, sizeof(record), "%s",
				 "{\"mode\":\"bandit\",\"launch\":7,\"measured\":1234567890123,"
				 "\"remark\":\"it is not remembered\","
				 "\"8r2n\":{}}");
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(nt_admincomment_merge_step(text, name, record, &out),
				 NT_ADMINCOMMENT_MERGE_DONE);
		free(text);
		text = out;
		assert_true(strlen(text) <= NT_JOB_RECORD_MAX + 40);
	}
	ours = own(text, &root);
	assert_int_equal(count_of(ours, "more"), -1);
	assert_int_equal(json_object_object_length(ours), 11);
	assert_true(json_object_object_get_ex(ours, "0", &step));
	assert_string_equal(json_object_to_json_string_ext(step, JSON_C_TO_STRING_PLAIN),
			    "{\"mode\":\"bandit\",\"more\":10}");
	assert_true(json_object_object_get_ex(ours, "1", &step));
	assert_string_equal(
		json_object_to_json_string_ext(step, JSON_C_TO_STRING_PLAIN),
		"{\"mode\":\"bandit\",\"launch\":\"wide\",\"from\":\"x\",\"measured\":2.60,"
		"\"remark\":\"results are wrong with x\",\"more\":2}");
	assert_true(json_object_object_get_ex(ours, "2", &step));
	assert_string_equal(json_object_to_json_string_ext(step, JSON_C_TO_STRING_PLAIN),
			    "{\"mode\":\"bandit\",\"more\":0}");
	assert_true(json_object_object_get_ex(ours, "9", &step));
	assert_true(json_object_object_get_ex(step, "8r2n", &step));
	json_object_put(root);
	free(text);
}

static void very_many_steps_are_counted(void **state)
{
	char record[NT_STEP_RECORD_MAX + 1], name[16];
	char *text = strdup("");
	json_object *root, *ours;
	int64_t kept;

	make_record(record, sizeof(record), 1);
	for (int i = 0; i < 400; i++) {
		char *out;

		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(nt_admincomment_merge_step(text, name, record, &out),
				 NT_ADMINCOMMENT_MERGE_DONE);
		free(text);
		text = out;
	}
	assert_true(strlen(text) <= NT_JOB_RECORD_MAX + 20);
	ours = own(text, &root);
	kept = json_object_object_length(ours) - 2;
	assert_int_equal(kept + count_of(ours, "more"), 400);
	assert_true(kept > 50);
	assert_true(json_object_object_get_ex(ours, "399", NULL));
	json_object_put(root);
	free(text);
}

static void largest_record_has_room(void **state)
{
	char record[NT_STEP_RECORD_MAX + 1];
	struct nt_error err;
	char *out;

	snprintf(record, sizeof(record), "{\"mode\":\"%0*d\"}", NT_STEP_RECORD_MAX - 11, 0);
	assert_int_equal(strlen(record), NT_STEP_RECORD_MAX);
	assert_int_equal(nt_step_check(record, strlen(record), &err), 0);
	assert_int_equal(nt_admincomment_merge_step("", "4294967290", record, &out),
			 NT_ADMINCOMMENT_MERGE_DONE);
	free(out);
}

static void records_are_checked(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"}",
		"[]",
		"x",
		"{}{}",
		"{} ,",
		"}{",
		"{\"a\":\"\\n\"}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\x80\"}",
		"{\"a\":{\"b\":{\"c\":{\"d\":{}}}}}",
		"{\"a\":1",
		"{\"a\":\"}\"}",
		" {}",
		"{} ",
	};
	static const char *const good[] = { "{}", "{\"mode\":\"x\"}",
					    "{\"a\":{\"b\":{\"us\":[1.0,2.5e-3]}}}" };
	char long_record[NT_STEP_RECORD_MAX + 2];
	struct nt_error err;

	for (size_t i = 0; i < LENGTH(bad); i++) {
		if (nt_step_check(bad[i], strlen(bad[i]), &err) == 0)
			fail_msg("accepted: %s", bad[i]);
	}
	for (size_t i = 0; i < LENGTH(good); i++) {
		if (nt_step_check(good[i], strlen(good[i]), &err) < 0)
			fail_msg("%s: %s", good[i], err.text);
	}
	snprintf(long_record, sizeof(long_record), "{\"mode\":\"%0*d\"}", NT_STEP_RECORD_MAX - 10,
		 0);
	assert_int_equal(nt_step_check(long_record, strlen(long_record), &err), -1);
	assert_int_equal(nt_step_check("{}\0{}", 5, &err), -1);
}

static void knows_what_it_holds(void **state)
{
	static const char thin[] =
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"more\":3}}}";
	static const char other[] =
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"off\",\"1r1n\":{}}}}";

	assert_true(nt_admincomment_merge_holds("{\"x\":1,\"nccl_tune\":{\"v\":1,\"0\":" STEP "}}",
						"0", STEP));
	assert_true(nt_admincomment_merge_holds(thin, "0", STEP)); /* there was no room for more */
	assert_true(nt_admincomment_merge_holds("{\"nccl_tune\":{\"v\":1,\"more\":2}}", "0", STEP));
	assert_false(nt_admincomment_merge_holds(other, "0", STEP));
	assert_false(nt_admincomment_merge_holds(thin, "1", STEP));
	assert_false(nt_admincomment_merge_holds("{\"x\":1}", "0", STEP));
	assert_false(nt_admincomment_merge_holds("JS1:abc", "0", STEP));
	assert_false(nt_admincomment_merge_holds("", "0", STEP));
	/* Found by its name: another count is not it. */
	assert_true(nt_admincomment_merge_shows(thin, "0"));
	assert_false(nt_admincomment_merge_shows("{\"nccl_tune\":{\"v\":1,\"more\":2}}", "0"));
	assert_false(nt_admincomment_merge_shows("JS1:abc", "0"));
}

static void components_have_a_key_each(void **state)
{
	expect("{\"nccl_tune\":{\"v\":1,\"0+0\":" STEP "}}", "0+1", STEP,
	       "{\"nccl_tune\":{\"v\":1,\"0+0\":" STEP ",\"0+1\":" STEP "}}");
}

UNIT_TESTS(into_nothing, in_one_sentence, with_the_worst_finding, why_nothing_was_saved,
	   who_stalled_comes_first, beside_others, knows_what_it_holds, components_have_a_key_each,
	   beside_own_steps, in_place_of_an_older_one, other_text_is_refused, depth_is_bounded,
	   too_long_a_text_is_left_alone, old_steps_are_thinned, very_many_steps_are_counted,
	   largest_record_has_room, records_are_checked);

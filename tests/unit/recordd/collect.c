/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Valid and invalid rank records to the record of a step. */
#include "recordd/collect.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "contract/policy.h"
#include "record/step.h"
#include "spank/step/step-name.h"
#include "recordd/step-record.h"
#include "tests/lib/schema.h"

#define HEAD \
	"\"v\":1,\"job\":12,\"step\":0,\"task\":0,\"pid\":1,\"node\":\"n1\",\"mode\":\"bandit\",\"nccl\":22809"
#define RANK(comms) "{" HEAD ",\"flags\":0,\"end\":true,\"comms\":[" comms "]}"
#define COMM(id, rank, rest)                 \
	"{\"id\":\"" id "\",\"rank\":" #rank \
	",\"ranks\":8,\"nodes\":2,\"state\":\"agreed\",\"why\":\"\"," rest "}"
#define COMMITTED                                                                                    \
	"{\"coll\":\"AllReduce\",\"bytes\":262144,\"state\":\"committed\",\"auto\":\"RING/SIMPLE\"," \
	"\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],\"p\":0.0001,\"samples\":24,"                  \
	"\"spent_calls\":135,\"spent_ms\":12.3,\"saved_ms\":456.7,\"calls\":10000}"
#define COMMITTED_TEXT                                                                               \
	"\"AllReduce 256K\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2]," \
	"\"p\":0.0001,\"samples\":24,\"calls\":10000,\"spent_calls\":135,\"spent_ms\":12.3,\"saved_ms\":456.7}"
#define STEP_TEXT "{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2,\"heard\":1"
#define COSTS ",\"spent_ms\":12.3,\"saved_ms\":456.7"

static const struct nt_sum_head head = { .mode = "bandit", .tasks = 8, .nodes = 2, .final = true };

static void add(struct nt_sum *sum, const char *text)
{
	struct nt_error err = { "" };

	if (nt_sum_add_record(sum, text, strlen(text), 12, 0, &err) < 0)
		fail_msg("%s: %.200s", err.text, text);
}

/* The result must always be valid for accounting. */
static void check_format(struct nt_sum *sum, const struct nt_sum_head *step, char *out,
			 size_t out_bytes)
{
	struct nt_error err;
	size_t bytes = nt_sum_format(sum, step, out, out_bytes);

	assert_int_equal(bytes, strlen(out));
	assert_true(bytes <= NT_STEP_RECORD_MAX);
	if (nt_step_check(out, bytes, &err) < 0)
		fail_msg("%s: %s", err.text, out);
	if (nt_schema_check_text("step", out, &err) < 0)
		fail_msg("%s: %s", err.text, out);
}

static void expect(struct nt_sum *sum, const char *wanted)
{
	char out[NT_STEP_RECORD_MAX + 1];

	check_format(sum, &head, out, sizeof(out));
	assert_string_equal(out, wanted);
	nt_sum_fini(sum);
}

#define UNWORTHY(bytes)                                                                     \
	"{\"coll\":\"AllReduce\",\"bytes\":" #bytes ",\"state\":\"counted\",\"calls\":400," \
	"\"why\":\"little\"}"

/* Their number is better than a line for each. */
static void what_was_not_worth_it_is_counted(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, RANK(COMM("a", 0, "\"keys\":[" UNWORTHY(4) "," COMMITTED "]")));
	expect(&sum, STEP_TEXT COSTS ",\"8r2n\":{" COMMITTED_TEXT "},\"rest\":[\"1 little\"]}");
	nt_sum_init(&sum);
	add(&sum, RANK(COMM("a", 0, "\"keys\":[" UNWORTHY(4) "," UNWORTHY(512) "]")));
	add(&sum, RANK(COMM("b", 0, "\"keys\":[" UNWORTHY(4) "," UNWORTHY(512) "]")));
	expect(&sum, STEP_TEXT ",\"rest\":[\"2 little\"]}");
}

static void one_record(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, RANK(COMM("a", 0, "\"keys\":[" COMMITTED "]")));
	assert_true(nt_sum_decided(&sum));
	expect(&sum, STEP_TEXT COSTS ",\"8r2n\":{" COMMITTED_TEXT "}}");
}

/* Readers know that more may come; a record without the mark is final. */
static void what_is_written_early_says_so(void **state)
{
	struct nt_sum_head step = head;
	char out[NT_STEP_RECORD_MAX + 1];
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, RANK(COMM("a", 0, "\"keys\":[" COMMITTED "]")));
	step.final = false;
	check_format(&sum, &step, out, sizeof(out));
	assert_non_null(strstr(out, ",\"early\":1,"));
	check_format(&sum, &head, out, sizeof(out));
	assert_null(strstr(out, "early"));
	nt_sum_fini(&sum);
}

static void ranks_of_one_communicator_count_once(void **state)
{
	static const char *const records[] = {
		RANK(COMM("a", 0, "\"keys\":[" COMMITTED "]")),
		RANK(COMM(
			"a", 1,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":262144,\"state\":\"committed\","
			"\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"calls\":9990}]")),
		RANK(COMM(
			"a", 2,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":262144,\"state\":\"exploring\","
			"\"calls\":9000}]")),
	};
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 2, 0, 1 } };

	for (size_t i = 0; i < LENGTH(orders); i++) {
		struct nt_sum sum;

		nt_sum_init(&sum);
		for (int k = 0; k < 3; k++)
			add(&sum, records[orders[i][k]]);
		expect(&sum, STEP_TEXT COSTS ",\"8r2n\":{" COMMITTED_TEXT "}}");
	}
}

static void communicators_of_one_shape_are_added_up(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum,
	    RANK(COMM(
		    "b", 0,
		    "\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":262144,\"state\":\"kept\","
		    "\"auto\":\"RING/SIMPLE\",\"best\":\"RING/LL\",\"us\":[250,260],\"calls\":20000,"
		    "\"spent_calls\":100,\"spent_ms\":1.5}]")));
	add(&sum, RANK(COMM("a", 0, "\"keys\":[" COMMITTED "]")));
	expect(&sum, STEP_TEXT
	       ",\"spent_ms\":13.8,\"saved_ms\":456.7"
	       ",\"8r2n\":{\"AllReduce 256K\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\","
	       "\"us\":[280.1,173.2],\"p\":0.0001,\"samples\":24,\"calls\":30000,\"spent_calls\":235,"
	       "\"spent_ms\":13.8,\"saved_ms\":456.7,\"comms\":2,\"same\":1}}}");
}

static void states_have_their_forms(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum,
	    RANK(COMM(
		    "a", 0,
		    "\"keys\":["
		    "{\"coll\":\"AllReduce\",\"bytes\":65536,\"state\":\"kept\",\"auto\":\"TREE/LL\",\"best\":\"RING/LL\","
		    "\"us\":[20,21],\"p\":1,\"calls\":5,\"why\":\"small\"},"
		    "{\"coll\":\"AllGather\",\"bytes\":96,\"state\":\"exploring\",\"auto\":\"RING/LL\",\"us\":[9.96,3],"
		    "\"samples\":2,\"calls\":7},"
		    "{\"coll\":\"Broadcast\",\"bytes\":1024,\"state\":\"observed\",\"auto\":\"RING/LL\",\"us\":[4]},"
		    "{\"coll\":\"Reduce\",\"bytes\":1024,\"state\":\"counted\",\"calls\":3}]")));
	expect(&sum, STEP_TEXT
	       ",\"8r2n\":{"
	       "\"Broadcast 1K\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"us\":[4.0],\"why\":\"observed\"},"
	       "\"Reduce 1K\":{\"auto\":\"AUTO\",\"arm\":\"AUTO\",\"calls\":3,\"why\":\"counted\"},"
	       "\"AllGather 96\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"us\":[10.0],\"samples\":2,\"calls\":7,"
	       "\"why\":\"open\"},"
	       "\"AllReduce 64K\":{\"auto\":\"TREE/LL\",\"arm\":\"AUTO\",\"best\":\"RING/LL\",\"us\":[20.0,21.0],\"p\":1,"
	       "\"calls\":5,\"why\":\"small\"}}}");
}

/* A time near zero would give an infinite gain, which JSON does not have. */
static void numbers_without_end_are_left_out(void **state)
{
	char out[NT_STEP_RECORD_MAX + 1];
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, RANK(COMM("a", 0,
			    "\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":65536,\"state\":\"kept\","
			    "\"best\":\"RING/LL\",\"us\":[5e-324,21],\"calls\":5}]")));
	check_format(&sum, &head, out, sizeof(out));
	assert_string_equal(out, STEP_TEXT
			    ",\"8r2n\":{\"AllReduce 64K\":{\"auto\":\"AUTO\","
			    "\"arm\":\"AUTO\",\"best\":\"RING/LL\",\"us\":[0.0,21.0],\"calls\":5,"
			    "\"why\":\"other\"}}}");
	nt_sum_fini(&sum);
}

/* The deepest nesting: the channels from which a round with limits was derived. */
static void a_trial_with_channels_is_read(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum,
	    RANK(COMM("a", 0,
		      "\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":65536,\"state\":\"exploring\","
		      "\"auto\":\"RING/LL\",\"trial\":{\"arms\":[\"RING/LL\"],\"cost\":[1],"
		      "\"channels\":{\"ranks\":8,\"most\":16,"
		      "\"own\":{\"RING/LL\":8}},\"rounds\":[\"AAAA\"]}}]")));
	expect(&sum, STEP_TEXT
	       ",\"8r2n\":{\"AllReduce 64K\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"why\":\"open\"}}}");
}

static void reasons_are_told_once(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum,
	    RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":2,\"nodes\":1,\"state\":\"rejected\",\"why\":\"twonodes:1\"},"
		 "{\"id\":\"b\",\"rank\":1,\"ranks\":2,\"nodes\":1,\"state\":\"rejected\",\"why\":\"twonodes:1\"},"
		 "{\"id\":\"c\",\"rank\":1,\"ranks\":4,\"nodes\":2,\"state\":\"joining\"},"
		 "{\"id\":\"d\",\"rank\":1,\"ranks\":4,\"nodes\":2,\"state\":\"agreed\","
		 "\"why\":\"a \\\"q\\\" {b} \\\\ \\u0007\\u00e9\"}"));
	assert_false(nt_sum_decided(&sum));
	expect(&sum, STEP_TEXT ",\"why\":[\"2r1n 2 twonodes:1\",\"4r2n 1 joining\","
			       "\"4r2n 1 other:a 'q' (b) / ???\"]}");
}

static void communicators_of_unknown_shape(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum,
	    RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":0,\"nodes\":0,\"state\":\"joining\",\"why\":\"half\",\"keys\":[" COMMITTED
		 "]}," COMM("b", 0, "\"keys\":[" COMMITTED "]")));
	expect(&sum, STEP_TEXT COSTS ",\"8r2n\":{" COMMITTED_TEXT "},\"why\":[\"half\"]}");
}

/* Of the plugins behind ours, only one that was not loaded gives a reason, the first in order. */
static void plugins_that_were_not_loaded_are_told(void **state)
{
	static const char loaded[] = "{" HEAD
				     ",\"plugins\":{\"tuner\":\"theirs (v5)\"},\"comms\":[]}";
	static const char failed[] =
		"{" HEAD
		",\"plugins\":{\"tuner\":\"noload:tuner:/nowhere/{t}.so:no such file\",\"else\":1},"
		"\"comms\":[]}";
	static const char later[] =
		"{" HEAD ",\"plugins\":{\"tuner\":\"noload:tuner:/x.so:why\"},\"comms\":[]}";
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, loaded);
	add(&sum, later);
	add(&sum, failed);
	expect(&sum, STEP_TEXT ",\"why\":[\"noload:tuner:/nowhere/(t).so:no such file\"]}");
}

static void users_own_settings_are_told(void **state)
{
	struct nt_sum_head step = head;
	char out[NT_STEP_RECORD_MAX + 1];
	struct nt_sum sum;

	nt_sum_init(&sum);
	step.flags = NT_FLAG_NO_TUNER | NT_FLAG_USER_ALGO;
	assert_int_equal(nt_sum_format(&sum, &step, out, sizeof(out)), 0);
	/* It is unknown whether such a step ran NCCL. */
	step.flags |= NT_FLAG_NO_PROFILER;
	assert_int_equal(nt_sum_format(&sum, &step, out, sizeof(out)), 0);
	add(&sum, RANK(COMM("a", 0, "\"keys\":[]")));
	check_format(&sum, &step, out, sizeof(out));
	assert_string_equal(
		out,
		"{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2,\"heard\":1,\"why\":["
		"\"tuner\",\"profiler\","
		"\"algo\"]}");
	nt_sum_fini(&sum);
}

/* Eight ranks of the launch, two of which are on this node. */
static void launch_profiles_are_told(void **state)
{
	static const char more[] =
		"\"launch\":\"wide\",\"driver\":\"570.1\",\"fabric\":\"socket\",";
	struct nt_ticket ticket = { .profile = "wide", .from = "a {list}", .expected = 2.8 };
	struct nt_sum_head step = head;
	char out[NT_STEP_RECORD_MAX + 1], text[2048];
	struct nt_sum sum;

	nt_sum_init(&sum);
	snprintf(text, sizeof(text),
		 "{%s\"marker\":{\"coll\":\"AllReduce\",\"bytes\":1024,\"ranks\":8,\"calls\":900,"
		 "\"periods_us\":[5000,1000,4000,2000,3000]},%s",
		 more, RANK(COMM("a", 0, "\"keys\":[]")) + 1);
	add(&sum, text);
	snprintf(text, sizeof(text), "{%s%s", more, RANK(COMM("a", 1, "\"keys\":[]")) + 1);
	add(&sum, text);
	assert_false(sum.launch.mixed || sum.driver.mixed || sum.fabric.mixed);
	assert_string_equal(sum.launch.text, "wide");
	assert_string_equal(sum.driver.text, "570.1");
	assert_string_equal(sum.fabric.text, "socket");
	assert_int_equal(sum.marker.periods, 5);
	ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS] = true;
	ticket.settings.value[NT_VARIABLE_MIN_NCHANNELS] = 8;
	nt_ticket_leave(&ticket, "NCCL_BUFFSIZE");
	step.ticket = &ticket;
	step.measured = 2.604;
	step.remark = "a \"remark\" {}";
	check_format(&sum, &step, out, sizeof(out));
	assert_string_equal(
		out,
		"{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2"
		",\"launch\":\"wide\",\"set\":\"NCCL_MIN_NCHANNELS=8\","
		"\"left\":\"NCCL_BUFFSIZE\",\"from\":\"a (list)\",\"expected\":2.80,"
		"\"measured\":2.60,\"step_us\":[2000.0,3000.0,4000.0],\"steps\":900,"
		"\"fabric\":\"socket\",\"driver\":\"570.1\",\"heard\":1,\"remark\":\"a ?remark? ()\"}");
	add(&sum, RANK(COMM("a", 2, "\"keys\":[]"))); /* without a launch profile */
	assert_true(sum.launch.mixed);
	assert_false(sum.driver.mixed);
	nt_sum_fini(&sum);
}

static void all_are_left_out(const char *const *records, size_t count)
{
	struct nt_error err;
	struct nt_sum sum;

	nt_sum_init(&sum);
	for (size_t i = 0; i < count; i++) {
		if (nt_sum_add_record(&sum, records[i], strlen(records[i]), 12, 0, &err) == 0)
			fail_msg("accepted: %s", records[i]);
	}
	assert_int_equal(sum.comm_count, 0);
	assert_int_equal(sum.records, 0);
	nt_sum_fini(&sum);
}

static void bad_records_are_left_out_whole(void **state)
{
	static const char *const records[] = {
		"",
		"\x7f\x45\x4c\x46\x02\x01",
		"null",
		"[]",
		"{}",
		"{" HEAD "",
		RANK("") "x",
		"{\"v\":2,\"job\":12,\"step\":0,\"comms\":[]}",
		"{\"v\":\"1\",\"job\":12,\"step\":0,\"comms\":[]}",
		"{\"v\":1,\"job\":13,\"step\":0,\"comms\":[]}",
		"{\"v\":1,\"job\":12,\"step\":1,\"comms\":[]}",
		"{\"v\":1,\"job\":12,\"step\":0,\"comms\":{}}",
		"{\"v\":1,\"job\":12,\"step\":0,\"nccl\":-1,\"comms\":[]}",
		"{\"v\":1,\"job\":12,\"step\":0,\"nccl\":99999999,\"comms\":[]}",
		"{\"v\":1,\"job\":12,\"step\":0,\"comms\":[[[[[[[[[[[[]]]]]]]]]]]]}",
		RANK("3"),
		RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":8,\"state\":\"agreed\"}"),
		RANK("{\"id\":\"a\",\"rank\":8,\"ranks\":8,\"nodes\":2,\"state\":\"agreed\"}"),
		RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":8,\"nodes\":9,\"state\":\"agreed\"}"),
		RANK("{\"id\":7,\"rank\":0,\"ranks\":8,\"nodes\":2,\"state\":\"agreed\"}"),
		RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":8,\"nodes\":2,\"state\":\"happy\"}"),
		RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":99999999999,\"nodes\":2,\"state\":\"agreed\"}"),
	};

	all_are_left_out(records, LENGTH(records));
}

static void bad_keys_are_left_out_whole(void **state)
{
	static const char *const records[] = {
		RANK(COMM("a", 0, "\"keys\":[" COMMITTED ",7]")),
		RANK(COMM("a", 0, "\"keys\":7")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":\"8\",\"state\":\"kept\"}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"state\":\"kept\",\"us\":[\"1\"]}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"state\":\"kept\",\"us\":[1e300]}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"state\":\"kept\",\"us\":[NaN]}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"state\":\"kept\",\"p\":2}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"state\":\"kept\",\"best\":\"X/Y\"}]")),
		RANK(COMM("a", 0,
			  "\"keys\":[{\"coll\":\"Barrier\",\"bytes\":8,\"state\":\"kept\"}]")),
		RANK(COMM("a", 0,
			  "\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":-8,\"state\":\"kept\"}]")),
		RANK(COMM(
			"a", 0,
			"\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":8,\"calls\":99999999999999999999}]")),
	};

	all_are_left_out(records, LENGTH(records));
}

static void hostile_texts_stay_texts(void **state)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, RANK("{\"id\":\"a\",\"rank\":0,\"ranks\":2,\"nodes\":1,\"state\":\"rejected\","
		       "\"why\":\"\\\"]}},\\\"evil\\\":{\\\"x\\\":1\"}"));
	expect(&sum, STEP_TEXT ",\"why\":[\"2r1n 1 other:'])),'evil'\"]}");
}

static void room_is_for_what_matters(void **state)
{
	char text[64 * 1024];
	char out[NT_STEP_RECORD_MAX + 1];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "{" HEAD ",\"comms\":[{\"id\":\"a\",\"rank\":0,\"ranks\":8,"
				       "\"nodes\":2,\"state\":\"agreed\",\"keys\":[");
	struct nt_sum sum;
	size_t shown = 0;

	for (int i = 0; i < 60; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%s{\"coll\":\"AllReduce\",\"bytes\":%d,\"state\":\"%s\",\"auto\":\"RING/SIMPLE\","
			"\"arm\":\"TREE/SIMPLE\",\"us\":[9,8],\"calls\":9,\"saved_ms\":%d}",
			i ? "," : "", 1024 * (i + 1), i == 3 ? "committed" : "kept", i);
	snprintf(text + used, sizeof(text) - used, "]}]}");
	nt_sum_init(&sum);
	add(&sum, text);
	check_format(&sum, &head, out, sizeof(out));
	for (const char *at = out; (at = strstr(at, "\"auto\"")) != NULL; at++)
		shown++;
	assert_in_range(shown, 15, 59);
	assert_null(strstr(out, "\"AllReduce 4K\"")); /* saved almost nothing */
	assert_non_null(strstr(out, "\"AllReduce 60K\""));
	assert_null(strstr(out, "\"AllReduce 1K\""));
	assert_int_equal(strtol(strstr(out, "\"more\":") + 7, NULL, 10), 60 - (long)shown);
	snprintf(text, sizeof(text), "\"rest\":[\"1 chosen\",\"%zu other\"]", 59 - shown);
	assert_non_null(strstr(out, text));
	nt_sum_fini(&sum);
}

/* A record of so many keys with own times and periods. Returns the number of rows shown. */
static size_t shown_of(int keys, bool periods, char *out, size_t out_bytes)
{
	char text[64 * 1024];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "{" HEAD ",\"comms\":[{\"id\":\"a\",\"rank\":0,\"ranks\":8,"
				       "\"nodes\":2,\"state\":\"agreed\",\"keys\":[");
	struct nt_sum sum;
	size_t shown = 0;

	for (int i = 0; i < keys; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%s{\"coll\":\"AllReduce\",\"bytes\":%d,\"state\":\"committed\","
			"\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[9,8],"
			"%s\"calls\":9}",
			i ? "," : "", 1024 * (i + 1),
			periods ? "\"own_us\":[5.5,4.5],\"period_us\":[99.1,98.2]," : "");
	snprintf(text + used, sizeof(text) - used, "]}]}");
	nt_sum_init(&sum);
	add(&sum, text);
	check_format(&sum, &head, out, out_bytes);
	for (const char *at = out; (at = strstr(at, "\"auto\"")) != NULL; at++)
		shown++;
	nt_sum_fini(&sum);
	return shown;
}

static void periods_do_not_push_out_decisions(void **state)
{
	char out[NT_STEP_RECORD_MAX + 1];

	assert_int_equal(shown_of(3, true, out, sizeof(out)), 3);
	assert_non_null(strstr(out, "\"own_us\":[5.5,4.5],\"period_us\":[99.1,98.2]"));
	assert_true(shown_of(60, true, out, sizeof(out)) * 4 >
		    shown_of(60, false, out, sizeof(out)) * 3); /* own times stay */
	(void)shown_of(60, true, out, sizeof(out));
	assert_null(strstr(out, "\"period_us\""));
}

static void many_reasons_do_not_push_out_decisions(void **state)
{
	char text[64 * 1024];
	char out[NT_STEP_RECORD_MAX + 1];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "{" HEAD
				       ",\"comms\":[" COMM("a", 0, "\"keys\":[" COMMITTED "]"));
	struct nt_sum sum;

	for (int i = 0; i < 100; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ",{\"id\":\"%d\",\"rank\":0,\"ranks\":4,\"nodes\":2,"
					 "\"state\":\"rejected\",\"why\":\"%0150d\"}",
					 i, i);
	snprintf(text + used, sizeof(text) - used, "]}");
	nt_sum_init(&sum);
	add(&sum, text);
	check_format(&sum, &head, out, sizeof(out));
	assert_non_null(strstr(out, COMMITTED_TEXT));
	assert_non_null(strstr(out, "\"more\":92}"));
	nt_sum_fini(&sum);
}

UNIT_TESTS(one_record, what_is_written_early_says_so, what_was_not_worth_it_is_counted,
	   ranks_of_one_communicator_count_once, communicators_of_one_shape_are_added_up,
	   states_have_their_forms, numbers_without_end_are_left_out, a_trial_with_channels_is_read,
	   reasons_are_told_once, communicators_of_unknown_shape,
	   plugins_that_were_not_loaded_are_told, users_own_settings_are_told,
	   launch_profiles_are_told, bad_records_are_left_out_whole, bad_keys_are_left_out_whole,
	   hostile_texts_stay_texts, room_is_for_what_matters, periods_do_not_push_out_decisions,
	   many_reasons_do_not_push_out_decisions);

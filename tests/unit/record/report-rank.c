/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The record of one rank, whole and damaged. */
#include "record/rankread.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/coll.h"

#define KEY                                                                                                     \
	"{\"coll\":\"AllReduce\",\"bytes\":262144,\"state\":\"committed\",\"auto\":\"RING/SIMPLE\","            \
	"\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],\"p25_us\":[270.0,171.0],"                                \
	"\"p\":0.0001,\"samples\":24,\"spent_calls\":135,\"spent_ms\":12.3,\"saved_ms\":456.7,\"calls\":10000," \
	"\"forced\":9865,\"differed\":0,\"predicted_us\":[31.0,44.0]}"
#define HEAD                                                                                          \
	"{\"v\":1,\"job\":12,\"step\":0,\"task\":3,\"pid\":4711,\"node\":\"n1\",\"mode\":\"bandit\"," \
	"\"policy\":\"bandit,alpha=0.02\",\"nccl\":22809,\"flags\":4,\"end\":true,\"counts\":{\"late\":7},"
#define MARKER                                                                        \
	"\"driver\":\"580.95.05\",\"fabric\":\"socket\",\"launch\":\"sockets-wide\"," \
	"\"marker\":{\"coll\":\"AllReduce\",\"bytes\":65536,\"ranks\":8,\"calls\":61,"
#define COMM \
	"{\"id\":\"00f3\",\"rank\":3,\"ranks\":8,\"nodes\":2,\"state\":\"agreed\",\"why\":\"\",\"keys\":["
#define WHOLE HEAD "\"comms\":[" COMM KEY "]}]}"

static void reads_a_whole_record(void **state)
{
	struct nt_rank rank;
	struct nt_error err;

	if (nt_rank_parse(&rank, WHOLE "\n", strlen(WHOLE) + 1, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(rank.job, 12);
	assert_int_equal(rank.nccl, 22809);
	assert_true(rank.end);
	assert_string_equal(rank.policy, "bandit,alpha=0.02");
	assert_int_equal(rank.comm_count, 1);
	assert_int_equal(rank.comms[0].state, NT_COMM_AGREED);
	assert_int_equal(rank.comms[0].key_count, 1);
	assert_int_equal(rank.comms[0].keys[0].coll, NT_ALLREDUCE);
	assert_string_equal(nt_arm_name(rank.comms[0].keys[0].arm), "TREE/SIMPLE");
	assert_int_equal(rank.comms[0].keys[0].forced, 9865);
	assert_true(rank.comms[0].keys[0].arm_predicted_us == 44.0);
	nt_rank_fini(&rank);
}

static void reads_the_step_marker(void **state)
{
	static const char text[] = HEAD MARKER "\"periods_us\":[300100.5,299900]},\"comms\":[]}";
	struct nt_rank rank;
	struct nt_error err;

	if (nt_rank_parse(&rank, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(rank.driver, "580.95.05");
	assert_string_equal(rank.fabric, "socket");
	assert_string_equal(rank.launch, "sockets-wide");
	assert_int_equal(rank.marker.coll, NT_ALLREDUCE);
	assert_int_equal(rank.marker.bytes, 65536);
	assert_int_equal(rank.marker.ranks, 8);
	assert_int_equal(rank.marker.calls, 61);
	assert_int_equal(rank.marker.periods, 2);
	assert_float_equal(rank.marker.period_us[0], 300100.5, 1e-6);
	assert_float_equal(rank.marker.period_us[1], 299900, 1e-6);
	nt_rank_fini(&rank);
}

/* A process may have more periods than we ever write: it is a user's file. */
static void as_many_periods_as_there_is_room_for(void **state)
{
	char text[4096] = HEAD MARKER "\"periods_us\":[7";
	struct nt_rank rank;
	struct nt_error err;

	for (size_t i = 1, used = strlen(text); i < NT_RANK_PERIODS_MAX; i++, used += 2)
		snprintf(text + used, sizeof(text) - used, ",7");
	for (int more = 0; more < 2; more++) {
		char whole[sizeof(text) + 64];

		snprintf(whole, sizeof(whole), "%s%s]},\"comms\":[]}", text, more ? ",7" : "");
		assert_int_equal(nt_rank_parse(&rank, whole, strlen(whole), &err), -more);
		assert_int_equal(rank.marker.periods, more ? 0 : NT_RANK_PERIODS_MAX);
		nt_rank_fini(&rank);
	}
	assert_string_equal(err.text, "marker: 65 periods (want at most 64)");
}

static void what_is_left_out_is_unknown(void **state)
{
	static const char text[] =
		"{\"v\":1,\"job\":1,\"step\":0,\"node\":\"n\",\"comms\":[{\"id\":\"a\",\"rank\":0,"
		"\"ranks\":2,\"state\":\"joining\",\"keys\":[{\"coll\":\"Reduce\",\"bytes\":0,\"state\":\"counted\"}]}]}";
	struct nt_rank rank;
	struct nt_error err;

	assert_int_equal(nt_rank_parse(&rank, text, strlen(text), &err), 0);
	assert_int_equal(rank.task, -1);
	assert_int_equal(rank.nccl, -1);
	assert_int_equal(rank.comms[0].nodes, -1);
	assert_int_equal(rank.comms[0].keys[0].arm, -1);
	assert_int_equal(rank.comms[0].keys[0].calls, -1);
	assert_true(isnan(rank.comms[0].keys[0].auto_us));
	assert_true(isnan(rank.comms[0].keys[0].arm_p75_us));
	assert_string_equal(rank.driver, "");
	assert_string_equal(rank.fabric, "");
	assert_string_equal(rank.launch, "");
	assert_int_equal(rank.marker.coll, -1);
	assert_int_equal(rank.marker.periods, 0);
	nt_rank_fini(&rank);
}

static void notices_every_cut(void **state)
{
	for (size_t bytes = 0; bytes < strlen(WHOLE); bytes++) {
		struct nt_rank rank;
		struct nt_error err;

		assert_int_equal(nt_rank_parse(&rank, WHOLE, bytes, &err), -1);
		assert_non_null(strstr(err.text, "ends in the middle"));
		nt_rank_fini(&rank);
	}
}

static void names_where_the_damage_is(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "v is missing" },
		{ "\"v\"", "v is missing" },
		{ "{\"v\":2,\"new\":1}", "v is 2 (this nccl-tune reads version 1)" },
		{ "{\"v\":1}", "job is missing" },
		{ HEAD "\"comms\":{}}", "comms is {} (want an array)" },
		{ HEAD "\"comms\":[7]}", "communicator 0: not an object" },
		{ HEAD "\"comms\":[" COMM "]},{}]}", "communicator 1: id is missing" },
		{ HEAD "\"comms\":[" COMM KEY ",{\"coll\":\"AllGather\",\"bytes\":-1}]}]}",
		  "communicator 0: key 1: bytes is -1 (want a whole number from 0)" },
		{ "{\"v\":1,\"job\":1,\"step\":0,\"node\":\"n\",\"counts\":{\"late\":\"x\"},\"comms\":[]}",
		  "late is \"x\" (want a whole number from 0)" },
		{ HEAD "\"marker\":[],\"comms\":[]}", "marker is [] (want an object)" },
		{ HEAD "\"marker\":{},\"comms\":[]}", "marker: coll is missing" },
		{ HEAD MARKER "\"periods_us\":[1,-2]},\"comms\":[]}",
		  "marker: periods_us is -2 (want a number from 0)" },
		{ HEAD MARKER "\"periods_us\":7},\"comms\":[]}",
		  "marker: periods_us is 7 (want an array)" },
		{ "{\"v\":1,\"job\":1,\"step\":0,\"node\":\"n\",\"end\":1,\"comms\":[]}",
		  "end is 1 (want true or false)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_rank rank;
		struct nt_error err;

		assert_int_equal(nt_rank_parse(&rank, cases[i].text, strlen(cases[i].text), &err),
				 -1);
		assert_string_equal(err.text, cases[i].error);
		nt_rank_fini(&rank);
	}
}

/* The part before the damage can still be shown. */
static void keeps_what_came_before_the_damage(void **state)
{
	static const char text[] = HEAD "\"comms\":[" COMM KEY ",{}]}]}";
	struct nt_rank rank;
	struct nt_error err;

	assert_int_equal(nt_rank_parse(&rank, text, strlen(text), &err), -1);
	assert_int_equal(rank.comm_count, 1);
	assert_int_equal(rank.comms[0].key_count, 1);
	nt_rank_fini(&rank);
}

UNIT_TESTS(reads_a_whole_record, reads_the_step_marker, as_many_periods_as_there_is_room_for,
	   what_is_left_out_is_unknown, notices_every_cut, names_where_the_damage_is,
	   keeps_what_came_before_the_damage);

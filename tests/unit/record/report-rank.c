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

UNIT_TESTS(as_many_periods_as_there_is_room_for, notices_every_cut, names_where_the_damage_is);

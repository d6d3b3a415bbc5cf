/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What steps gained, in a sentence. */
#include "record/says.h"

#include <stdio.h>
#include <string.h>
#include "tests/lib/unit.h"

#define STEP "{\"mode\":\"bandit\"}"

/* The sentence of these steps. */
static void expect_says(const char *first, const char *second, const char *wanted)
{
	struct nt_summary summary;
	char text[4096], says[NT_SAYS_MAX];

	snprintf(text, sizeof(text), "{\"nccl_tune\":{\"v\":1,\"0\":%s,\"1\":%s}}", first, second);
	nt_summary_init(&summary);
	assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, NULL), 0);
	(void)nt_says(&summary, 0, says);
	assert_string_equal(says, wanted);
	nt_summary_fini(&summary);
}

#define ARM "\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\","
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
	expect_says(SAYS_STEP("\"early\":1,\"saved_ms\":0,\"8r2n\":{\"AllReduce 1M\":{" ARM
			      "\"why\":\"open\"}}"),
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
	expect_says(
		SAYS_STEP("\"step_us\":[1.0,2.0,3.0]"),
		SAYS_STEP(
			"\"measured\":1e300,\"step_us\":[1.0,1e300,3.0],\"saved_ms\":0,\"spent_ms\":1e300"),
		"step 2.00 us; nothing saved");
}

#define WHY(code) "\"8r2n\":{\"AllReduce 1M\":{" ARM "\"why\":\"" code "\"}}"

/* 1000 steps of 1 ms, and calls of two sizes, one call a step. */
#define TIMED(one, one_us, other, other_us)                                                        \
	"\"step_us\":[1,1000,9],\"steps\":1000,\"8r2n\":{\"AllReduce 1M\":{" ARM "\"calls\":1000," \
	"\"own_us\":[" other_us "0],\"why\":\"" other "\"},\"AllReduce 2M\":{" ARM                 \
	"\"calls\":1000,"                                                                          \
	"\"us\":[" one_us "0],\"why\":\"" one "\"}}"

#define SELDOM                                                                                     \
	"\"step_us\":[1,1000,9],\"steps\":1000,\"8r2n\":{\"AllReduce 1M\":{" ARM "\"calls\":1000," \
	"\"own_us\":[600],\"why\":\"screened\"},\"Broadcast 2M\":{" ARM "\"calls\":9,"             \
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

UNIT_TESTS(in_one_sentence, why_nothing_was_saved, who_stalled_comes_first);

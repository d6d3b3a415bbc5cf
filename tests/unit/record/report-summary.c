/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's record to rows, and all kinds of damage. */
#include "record/job-summary.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "record/member-names.h"
#include "record/rank.h"

#define WHOLE                                                                                                           \
	"{\"other\":[1],\"nccl_tune\":{\"v\":1,\"1\":{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2," \
	"\"8r2n\":{\"AllReduce 256K\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/LL128\",\"us\":[280.1,173.2],"           \
	"\"p\":0.0001,\"samples\":24,\"calls\":10000,\"spent_calls\":135,\"spent_ms\":12.3,\"saved_ms\":456.7}}},"      \
	"\"0\":{\"mode\":\"bandit\",\"why\":[\"nccl:1:n2:22703:22809\"]}}}"

static void parse(struct nt_summary *summary, const char *text, size_t bytes, const char *step)
{
	struct nt_error err;

	nt_summary_init(summary);
	assert_int_equal(nt_summary_parse(summary, text, bytes, step, &err), 0);
}

static void keeps_to_one_step(void **state)
{
	struct nt_summary summary;

	parse(&summary, WHOLE, strlen(WHOLE), "0");
	assert_int_equal(summary.step_count, 1);
	assert_int_equal(summary.row_count, 0);
	assert_int_equal(summary.remark_count, 1);
	nt_summary_fini(&summary);
	parse(&summary, WHOLE, strlen(WHOLE), "2");
	assert_int_equal(summary.step_count + summary.row_count + summary.remark_count, 0);
	nt_summary_fini(&summary);
}

static void names_where_the_damage_is(void **state)
{
	static const struct {
		const char *text;
		const char *step;
		const char *remark;
	} cases[] = {
		{ "{\"nccl_tune\":1}", "", "nccl_tune is not an object" },
		{ "{\"nccl_tune\":{}}", "", "v is missing" },
		{ "{\"nccl_tune\":{\"v\":2,\"0\":{}}}", "",
		  "v is 2 (this nccl-tune reads version 1)" },
		{ "{\"nccl_tune\":{\"v\":\"1\"}}", "",
		  "v is \"1\" (this nccl-tune reads version 1)" },
		{ "{\"a\":{\"nccl_tune\":{\"v\":1}}}", "", "no member nccl_tune at the top" },
		{ "{\"nccl_tune\":{\"v\":1}}{", "", "at byte 21: unexpected character" },
		{ "{\"nccl_tune\":{\"v\":1},}", "", "at byte 21: unexpected character" },
		{ "{\"nccl_tune\":{\"v\":1,\"0\":null}}", "0", "not an object" },
		{ "{\"nccl_tune\":{\"v\":1,\"00\":{}}}", "",
		  "unknown member \"00\" (want v or a step)" },
		{ "{\"nccl_tune\":{\"v\":1,\"0\":{}}}", "0", "mode is missing" },
		{ "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"a mode of 16 char\"}}}", "0",
		  "mode is \"a mode of 16 char\" (want a text of less than 16 characters)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_summary summary;

		parse(&summary, cases[i].text, strlen(cases[i].text), NULL);
		assert_int_equal(summary.remark_count, 1);
		assert_int_equal(summary.remarks[0].kind, NT_REMARK_DAMAGE);
		assert_string_equal(summary.remarks[0].step, cases[i].step);
		assert_string_equal(summary.remarks[0].text, cases[i].remark);
		nt_summary_fini(&summary);
	}
}

/* json-c stops at a NUL: text after it must be detected. */
static void notices_text_behind_a_nul(void **state)
{
	static const char text[] = "{\"nccl_tune\":{\"v\":1}}\0{";
	struct nt_summary summary;

	parse(&summary, text, sizeof(text) - 1, NULL);
	assert_int_equal(summary.remark_count, 1);
	assert_string_equal(summary.remarks[0].text, "at byte 21: text after the end");
	nt_summary_fini(&summary);
}

static void leaves_foreign_text_alone(void **state)
{
	static const char *const foreign[] = {
		"JS1:H4sIAAAA",	   "see \"nccl_tune\" in the wiki", "{\"jobstats\":1}", "{broken",
		"[\"nccl_tune\"]",
	};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		struct nt_summary summary;

		assert_int_equal(nt_summary_holding(foreign[i], strlen(foreign[i])),
				 NT_HOLDS_OTHER);
		parse(&summary, foreign[i], strlen(foreign[i]), NULL);
		assert_int_equal(summary.step_count + summary.remark_count, 0);
		nt_summary_fini(&summary);
	}
	assert_int_equal(nt_summary_holding(" \n", 2), NT_HOLDS_NOTHING);
}

static void takes_steps_and_shapes_as_the_record_spells_them(void **state)
{
	static const char *const wrong_steps[] = { "",		 "01",		"-1",	 "1 ",
						   "4294967296", "99999999999", "Batch", "v",
						   "0+",	 "0+01",	"0+1+2", "+1",
						   "0+1000",	 "batch+0",	"0 +1",	 "0+1 " };
	static const char *const wrong_shapes[] = { "",	     "8",     "8r",
						    "8r2",   "r2n",   "0r1n",
						    "8r0n",  "8r2n ", "8n2r",
						    "-8r2n", "8r+2n", "99999999999999999999r1n" };
	uint32_t ranks, nodes;

	assert_true(nt_step_name_valid("0") && nt_step_name_valid("4294967295") &&
		    nt_step_name_valid("batch") && nt_step_name_valid("0+1") &&
		    nt_step_name_valid("4294967295+999"));
	assert_true(nt_step_name_matches("0+1", "0") && nt_step_name_matches("0", "0"));
	assert_false(nt_step_name_matches("01", "0") || nt_step_name_matches("0+1", "0+0") ||
		     nt_step_name_matches("0", "0+1"));
	for (size_t i = 0; i < sizeof(wrong_steps) / sizeof(wrong_steps[0]); i++)
		assert_false(nt_step_name_valid(wrong_steps[i]));
	assert_int_equal(nt_shape_parse("4294967295r1n", &ranks, &nodes), 0);
	assert_int_equal(ranks, UINT32_MAX);
	for (size_t i = 0; i < sizeof(wrong_shapes) / sizeof(wrong_shapes[0]); i++)
		assert_int_equal(nt_shape_parse(wrong_shapes[i], &ranks, &nodes), -1);
}

UNIT_TESTS(keeps_to_one_step, names_where_the_damage_is, notices_text_behind_a_nul,
	   leaves_foreign_text_alone, takes_steps_and_shapes_as_the_record_spells_them);

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

static void reads_a_whole_record(void **state)
{
	struct nt_summary summary;
	const struct nt_key *row;

	parse(&summary, WHOLE, strlen(WHOLE), NULL);
	assert_false(nt_summary_damaged(&summary));
	assert_int_equal(summary.step_count, 2);
	assert_string_equal(summary.steps[0].name, "0");
	assert_string_equal(summary.steps[1].name, "1");
	assert_int_equal(summary.steps[1].ranks, 8);
	assert_int_equal(summary.row_count, 1);
	row = &summary.rows[0];
	assert_int_equal(row->step, 1);
	assert_int_equal(row->ranks, 8);
	assert_int_equal(row->nodes, 2);
	assert_int_equal(row->coll, NT_ALLREDUCE);
	assert_int_equal(row->bytes, 262144);
	assert_string_equal(nt_arm_name(row->auto_arm), "RING/SIMPLE");
	assert_string_equal(nt_arm_name(row->arm), "TREE/LL128");
	assert_true(row->auto_us == 280.1 && row->arm_us == 173.2);
	assert_float_equal(row->gain_percent, 38.2, 0.05);
	assert_true(row->p == 0.0001 && row->spent_ms == 12.3 && row->saved_ms == 456.7);
	assert_int_equal(row->samples, 24);
	assert_int_equal(row->calls, 10000);
	assert_int_equal(row->spent_calls, 135);
	assert_int_equal(row->state, NT_KEYSTATE_COMMITTED);
	assert_int_equal(summary.remark_count, 1);
	assert_string_equal(summary.remarks[0].step, "0");
	assert_string_equal(summary.remarks[0].why.text, "nccl:1:n2:22703:22809");
	assert_int_equal(summary.remarks[0].why.id, NT_REASON_NCCL);
	nt_summary_fini(&summary);
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

/* Wherever the text was cut, it is never shown as complete. */
static void notices_every_cut(void **state)
{
	static const char key[] = "\"nccl_tune\"";
	const size_t key_end = (size_t)(strstr(WHOLE, key) - WHOLE) + strlen(key);

	for (size_t bytes = 0; bytes < strlen(WHOLE); bytes++) {
		enum nt_holding holding = nt_summary_holding(WHOLE, bytes);
		struct nt_summary summary;
		char expected[64];

		if (bytes < key_end) {
			assert_int_equal(holding, bytes ? NT_HOLDS_OTHER : NT_HOLDS_NOTHING);
			continue;
		}
		assert_int_equal(holding, NT_HOLDS_RECORD);
		parse(&summary, WHOLE, bytes, NULL);
		assert_true(nt_summary_damaged(&summary));
		snprintf(expected, sizeof(expected), "ends in the middle, after %zu bytes", bytes);
		assert_string_equal(summary.remarks[0].text, expected);
		nt_summary_fini(&summary);
	}
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

/* Other programs' members are not checked: deeper than ours, or with characters that json-c 0.18
 * refuses. */
static void judges_its_own_member_only(void **state)
{
	static const char *const others[] = {
		"{\"a\":\"\xc3\xa9\",\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\"}}}",
		"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],"
		"\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\"}}}",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct nt_summary summary;

		parse(&summary, others[i], strlen(others[i]), NULL);
		assert_false(nt_summary_damaged(&summary));
		assert_int_equal(summary.step_count, 1);
		nt_summary_fini(&summary);
	}
}

static void derives_the_state(void **state)
{
	static const struct {
		const char *mode, *entry;
		int state;
	} cases[] = {
		{ "bandit", "\"arm\":\"RING/LL\"", NT_KEYSTATE_COMMITTED },
		{ "bandit", "\"arm\":\"AUTO\",\"us\":[2,1]", NT_KEYSTATE_KEPT },
		{ "bandit", "\"arm\":\"AUTO\",\"us\":[2]", NT_KEYSTATE_EXPLORING },
		{ "bandit", "\"arm\":\"AUTO\"", NT_KEYSTATE_EXPLORING },
		{ "observe", "\"arm\":\"AUTO\",\"us\":[2,1]", NT_KEYSTATE_OBSERVED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_summary summary;
		char text[256];

		/* The mode follows the entries: its position must not matter. */
		snprintf(text, sizeof(text),
			 "{\"nccl_tune\":{\"v\":1,\"0\":{\"2r1n\":{\"Reduce 1K\":"
			 "{\"auto\":\"RING/LL\",%s}},\"mode\":\"%s\"}}}",
			 cases[i].entry, cases[i].mode);
		parse(&summary, text, strlen(text), NULL);
		assert_int_equal(summary.remark_count, 0);
		assert_int_equal(summary.row_count, 1);
		assert_int_equal(summary.rows[0].state, cases[i].state);
		nt_summary_fini(&summary);
	}
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

UNIT_TESTS(reads_a_whole_record, keeps_to_one_step, notices_every_cut, names_where_the_damage_is,
	   notices_text_behind_a_nul, leaves_foreign_text_alone, judges_its_own_member_only,
	   derives_the_state, takes_steps_and_shapes_as_the_record_spells_them);

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Rank records of several nodes to rows, and rows to the short form and back. */
#include "record/sum.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/policy.h"
#include "record/row-time.h"
#include "record/rankread.h"
#include "record/shortform.h"
#include "tests/lib/schema.h"

#define TEXT_BYTES (256 * 1024)

static void add(struct nt_sum *sum, const char *text)
{
	struct nt_error err = { "" };

	if (nt_sum_add_record(sum, text, strlen(text), 12, NT_SUM_ANY, &err) < 0)
		fail_msg("%s: %.200s", err.text, text);
}

static void summarize(struct nt_summary *summary, struct nt_sum *sum)
{
	struct nt_step head = { 0 };
	struct nt_error err;

	nt_fields_clear(&nt_step_fields, &head);
	head.spent_ms = head.saved_ms = head.comm_ms = 1e6; /* of the first node alone */
	head.rest[NT_REASON_SMALL] = head.more = 7;
	snprintf(head.name, sizeof(head.name), "0");
	nt_summary_init(summary);
	assert_int_equal(nt_summary_add_sum(summary, sum, &head, &err), 0);
	nt_sum_fini(sum);
}

#define HEAD(task, node)                                                     \
	"{\"v\":1,\"job\":12,\"step\":0,\"task\":" #task ",\"node\":\"" node \
	"\",\"mode\":\"bandit\",\"nccl\":22809,\"flags\":4,"
#define COMM(id, rank, name)                                             \
	"{\"id\":\"" id "\",\"rank\":" #rank ",\"ranks\":4,\"nodes\":2," \
	"\"state\":\"agreed\",\"why\":\"\",\"name\":\"" name "\",\"keys\":["
/* Two rounds of two blocks: 300, 400, 301, 200 us; 302, 201, 303, 202, and their periods. */
#define TRIAL                                                                                                   \
	"\"trial\":{\"arms\":[\"TREE/SIMPLE\"],\"cost\":[130],\"rounds\":[\"j5HhlJiR4Yw\",\"opHvjKyR/ozBAXSfAA" \
	"B3nw\"],\"plans\":[{\"blocks\":2,\"arms\":[\"AUTO\",\"TREE/SIMPLE\"]},{\"blocks\":2,\"arms\":[\"AUTO\",\"TREE/SIMPLE\"]}]}"
#define DECIDED                                                                                       \
	"{\"coll\":\"AllReduce\",\"bytes\":1048576,\"state\":\"committed\",\"auto\":\"RING/SIMPLE\"," \
	"\"arm\":\"TREE/SIMPLE\",\"us\":[300,200],\"p25_us\":[290,190],"                              \
	"\"own_us\":[150,100],\"p\":0.001,\"samples\":24,\"spent_ms\":2,"                             \
	"\"saved_ms\":50,\"predicted_us\":[120,130],\"calls\":1000,"                                  \
	"\"decided\":100,\"forced\":800," TRIAL "}"
#define OPEN                                                                                   \
	"{\"coll\":\"AllGather\",\"bytes\":1024,\"state\":\"exploring\",\"auto\":\"RING/LL\"," \
	"\"us\":[20],\"spent_calls\":9,\"spent_ms\":1.5,\"samples\":4,\"calls\":1000}"
#define EXPLORED                                                                            \
	"\"explored\":[{\"id\":\"a\",\"ranks\":4,\"nodes\":2,\"coll\":\"AllReduce\","       \
	"\"bytes\":1048576,\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"arms\":["     \
	"{\"arm\":\"AUTO\",\"predicted_us\":120,\"us\":300,\"p25_us\":290,\"samples\":24}," \
	"{\"arm\":\"TREE/SIMPLE\",\"us\":200,\"p25_us\":190,\"samples\":24,\"p75_us\":210,\"min_us\":180,\"max_us\":400}]}],"

/* Two nodes; b is wholly on the second one, and so is the end of c. */
static void two_nodes(struct nt_summary *summary)
{
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, HEAD(2, "n2") "\"counts\":{\"cut\":2},\"comms\":[" COMM("a", 2, "dp") "]}," COMM(
			  "b", 0, "ep_7") OPEN "]}]}");
	add(&sum, HEAD(0, "n1") EXPLORED "\"counts\":{\"cut\":1},\"comms\":[" COMM("a", 0, "dp")
			  DECIDED "]}]}");
	add(&sum,
	    HEAD(3, "n2") "\"comms\":[" COMM(
		    "a", 3,
		    "dp") "]},"
			  "{\"id\":\"c\",\"rank\":0,\"ranks\":2,\"nodes\":1,\"state\":\"rejected\","
			  "\"why\":\"nccl:1:n2:22708:22809\",\"keys\":["
			  "{\"coll\":\"Reduce\",\"bytes\":64,\"state\":\"counted\",\"calls\":5}]}]}");
	summarize(summary, &sum);
}

static const struct nt_key *row_of(const struct nt_summary *summary, int coll)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].coll == coll)
			return &summary->rows[i];
	}
	fail_msg("no row of %d", coll);
	return NULL;
}

static void rows_of_two_nodes(void **state)
{
	struct nt_summary summary;
	const struct nt_key *row;

	two_nodes(&summary);
	assert_int_equal(summary.row_count, 3);
	row = row_of(&summary, NT_ALLREDUCE);
	assert_int_equal(row->state, NT_KEYSTATE_COMMITTED);
	assert_int_equal(row->reason, NT_REASON_NONE);
	assert_true(row->auto_us == 300 && row->arm_us == 200 && row->arm_p25_us == 190);
	assert_true(row->auto_predicted_us == 120 && row->arm_predicted_us == 130);
	assert_int_equal(row->decided, 100);
	assert_int_equal(row->forced, 800);
	assert_int_equal(row->arm_count, 2);
	assert_int_equal(summary.arms[row->first_arm].arm, NT_ARM_BASELINE);
	assert_true(summary.arms[row->first_arm].predicted_us == 120);
	assert_true(summary.arms[row->first_arm + 1].p75_us == 210);
	assert_true(summary.arms[row->first_arm + 1].min_us == 180);
	assert_true(summary.arms[row->first_arm + 1].max_us == 400);
	assert_true(isnan(summary.arms[row->first_arm + 1].predicted_us));
	row = row_of(&summary, NT_ALLGATHER);
	assert_int_equal(row->state, NT_KEYSTATE_EXPLORING);
	assert_int_equal(row->reason, NT_REASON_UNFINISHED);
	assert_true(row->spent_ms == 1.5 && isnan(row->arm_us));
	row = row_of(&summary, NT_REDUCE);
	assert_int_equal(row->reason, NT_REASON_COMM_NOT_TUNED);
	/* 1000 calls of 100 us on 4 ranks. The AllGather's 20 us are from call to call. */
	assert_float_equal(row_of(&summary, NT_ALLREDUCE)->share, 1, 1e-6);
	assert_true(isnan(row_of(&summary, NT_ALLGATHER)->share));
	assert_float_equal(summary.steps[0].comm_ms, 100, 1e-6);
	assert_float_equal(summary.steps[0].spent_ms, 3.5, 1e-6);
	assert_float_equal(summary.steps[0].saved_ms, 50, 1e-6);
	nt_summary_fini(&summary);
}

static void communicators_of_two_nodes(void **state)
{
	struct nt_summary summary;
	const struct nt_comm_seen *comm;
	const struct nt_volume *volume;

	two_nodes(&summary);
	assert_int_equal(summary.steps[0].heard, 2);
	assert_string_equal(summary.steps[0].mode, "bandit");
	assert_string_equal(summary.steps[0].nccl, "2.28.9");
	assert_true(summary.steps[0].whole);
	assert_int_equal(summary.comm_count, 3);
	comm = &summary.comms[0];
	assert_string_equal(comm->id, "a");
	assert_string_equal(comm->name, "dp");
	assert_int_equal(comm->place_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct nt_place_seen *place = &comm->places[i];

		assert_int_equal(place->rank, i == 0 ? 0 : i + 1);
		assert_int_equal(place->task, place->rank);
		assert_string_equal(summary.nodes[place->node].name, i == 0 ? "n1" : "n2");
	}
	/* A ring of four on two nodes: two of its four links cross. */
	assert_int_equal(comm->volume_count, 1);
	volume = &comm->volumes[0];
	assert_int_equal(volume->coll, NT_ALLREDUCE);
	assert_float_equal(volume->bytes, 1048576e3, 1);
	assert_float_equal(volume->inside_bytes, 2 * 1.5 * 1048576e3, 1);
	assert_float_equal(volume->between_bytes, 2 * 1.5 * 1048576e3, 1);
	assert_string_equal(summary.families[summary.comms[1].family].name, "ep_#");
	assert_int_equal(summary.families[summary.comms[1].family].parallel, NT_PARALLEL_EXPERT);
	assert_int_equal(summary.families[comm->family].parallel, NT_PARALLEL_DATA);
	comm = &summary.comms[2];
	assert_int_equal(comm->state, NT_COMM_REJECTED);
	assert_int_equal(comm->why.id, NT_REASON_NCCL);
	assert_int_equal(summary.dropped_count, 1);
	assert_int_equal(summary.dropped[0].count, 3);
	nt_summary_fini(&summary);
}

/* All that rows share with the short form comes back from it. */
static void the_short_form_reads_back(void **state)
{
	char record[NT_STEP_RECORD_MAX + 1], text[NT_STEP_RECORD_MAX + 64];
	struct nt_summary summary, read;
	const struct nt_key *row;
	struct nt_error err;
	size_t bytes;

	two_nodes(&summary);
	bytes = nt_short_format(&summary, record, sizeof(record));
	assert_true(bytes > 0);
	assert_int_equal(nt_step_check(record, bytes, &err), 0);
	assert_non_null(strstr(record, ",\"names\":[\"4r2n dp\"]"));
	assert_non_null(strstr(record, "\"4r2n ep_#\":{\"AllGather 1K\""));
	if (nt_schema_check_text("step", record, &err) < 0)
		fail_msg("%s: %s", err.text, record);
	snprintf(text, sizeof(text), "{\"nccl_tune\":{\"v\":1,\"0\":%s}}", record);
	nt_summary_init(&read);
	assert_int_equal(nt_summary_parse(&read, text, strlen(text), NULL, &err), 0);
	assert_false(nt_summary_damaged(&read));
	assert_int_equal(read.row_count, 2); /* that of c is counted */
	assert_int_equal(read.steps[0].rest[NT_REASON_COMM_NOT_TUNED], 1);
	assert_int_equal(read.steps[0].more, 0);
	row = row_of(&read, NT_ALLREDUCE);
	assert_int_equal(row->state, NT_KEYSTATE_COMMITTED);
	assert_true(row->arm_own_us == 100 && row->arm_predicted_us == 130);
	assert_int_equal(read.families[row->family].parallel, NT_PARALLEL_DATA);
	assert_string_equal(read.families[row->family].name, "dp");
	row = row_of(&read, NT_ALLGATHER);
	assert_int_equal(row->state, NT_KEYSTATE_EXPLORING);
	assert_int_equal(row->reason, NT_REASON_UNFINISHED);
	assert_string_equal(read.families[row->family].name, "ep_#");
	assert_float_equal(read.steps[0].spent_ms, 3.5, 0.01);
	assert_int_equal(read.remark_count, 2);
	assert_int_equal(read.remarks[1].why.id, NT_REASON_NCCL);
	assert_int_equal(read.remarks[1].ranks, 2);
	nt_summary_fini(&read);
	nt_summary_fini(&summary);
}

/* A key in the records of other ranks and of other communicators of the family. */
static void alike_communicators_are_one_row(void **state)
{
	struct nt_summary summary;
	const struct nt_key *row;
	struct nt_sum sum;

	nt_sum_init(&sum);
	add(&sum, HEAD(0, "n1") "\"comms\":[" COMM("a", 0, "12") DECIDED "]}]}");
	add(&sum, HEAD(1, "n1") "\"comms\":[" COMM("b", 0, "13") DECIDED "]}]}");
	add(&sum,
	    HEAD(2, "n2") "\"comms\":[" COMM(
		    "c", 0,
		    "14") "{\"coll\":\"AllReduce\",\"bytes\":1048576,\"state\":\"kept\",\"auto\":\"RING/SIMPLE\","
			  "\"best\":\"TREE/SIMPLE\",\"why\":\"chance\",\"calls\":500}]}]}");
	summarize(&summary, &sum);
	assert_int_equal(summary.family_count, 1);
	assert_string_equal(summary.families[0].name, "");
	assert_int_equal(summary.families[0].comms, 3);
	assert_int_equal(summary.row_count, 1);
	row = &summary.rows[0];
	assert_int_equal(row->calls, 2500);
	assert_float_equal(row->saved_ms, 100, 1e-6);
	assert_int_equal(row->comms, 3);
	assert_int_equal(row->same, 2);
	nt_summary_fini(&summary);
}

/* ---- three collectives, six sizes, three communicators */

static const char *const colls[] = { "AllReduce", "AllGather", "ReduceScatter" };
static const int shapes[3][2] = { { 16, 2 }, { 8, 1 }, { 2, 2 } };

static void realistic(struct nt_sum *sum)
{
	char *text = malloc(TEXT_BYTES);
	size_t used = (size_t)snprintf(text, TEXT_BYTES, "%s\"comms\":[", HEAD(0, "n1"));

	for (int c = 0; c < 3; c++) {
		used += (size_t)snprintf(text + used, TEXT_BYTES - used,
					 "%s{\"id\":\"%d\",\"rank\":0,\"ranks\":%d,\"nodes\":%d,"
					 "\"state\":\"agreed\",\"why\":\"\",\"keys\":[",
					 c ? "," : "", c, shapes[c][0], shapes[c][1]);
		for (int k = 0; k < 18; k++)
			used += (size_t)snprintf(
				text + used, TEXT_BYTES - used,
				"%s{\"coll\":\"%s\",\"bytes\":%d,\"state\":\"%s\","
				"\"auto\":\"RING/SIMPLE\",\"%s\":\"TREE/SIMPLE\","
				"\"us\":[%d.25,%d.5],\"p25_us\":[8,7],"
				"\"p75_us\":[12,11],\"own_us\":[%d.5,%d.75],"
				"\"period_us\":[1000.5,1001.5],\"p\":0.0125,\"samples\":24,%s"
				"\"spent_calls\":135,\"spent_ms\":12.3,\"saved_ms\":%d.7,"
				"\"predicted_us\":[12,13],\"calls\":10000}",
				k ? "," : "", colls[k / 6], 4096 << 2 * (k % 6),
				k % 3 ? "committed" : "kept", k % 3 ? "arm" : "best", 100 + k,
				90 + k, 80 + k, 70 + k, k % 3 ? "" : "\"why\":\"small\",", 1 + k);
		used += (size_t)snprintf(text + used, TEXT_BYTES - used, "]}");
	}
	snprintf(text + used, TEXT_BYTES - used, "]}");
	nt_sum_init(sum);
	add(sum, text);
	free(text);
}

static void nothing_is_missing_and_the_short_form_says_what_is(void **state)
{
	char record[NT_STEP_RECORD_MAX + 1], text[NT_STEP_RECORD_MAX + 64];
	struct nt_summary summary, read;
	struct nt_error err;
	struct nt_sum sum;
	int64_t rest = 0;
	double least = INFINITY;

	realistic(&sum);
	summarize(&summary, &sum);
	assert_int_equal(summary.row_count, 54);
	assert_int_equal(summary.steps[0].more, 0);
	for (size_t i = 0; i < summary.row_count; i++) {
		const struct nt_key *row = &summary.rows[i];

		assert_true(row->arm_own_us > 0 && row->auto_p75_us == 12 && row->calls == 10000);
		assert_int_equal(row->reason,
				 row->arm == NT_ARM_BASELINE ? NT_REASON_SMALL : NT_REASON_NONE);
	}
	assert_true(nt_short_format(&summary, record, sizeof(record)) > 2600);
	assert_int_equal(nt_schema_check_text("step", record, &err), 0);
	snprintf(text, sizeof(text), "{\"nccl_tune\":{\"v\":1,\"0\":%s}}", record);
	nt_summary_init(&read);
	assert_int_equal(nt_summary_parse(&read, text, strlen(text), NULL, &err), 0);
	assert_false(nt_summary_damaged(&read));
	assert_in_range(read.row_count, 18, 53);
	for (int reason = 0; reason < NT_REASON_COUNT; reason++)
		rest += read.steps[0].rest[reason];
	assert_int_equal(read.row_count + (size_t)rest, 54);
	assert_int_equal(read.steps[0].more, rest);
	/* Spent and saved count for all rows; those with the most time are shown. */
	assert_float_equal(read.steps[0].spent_ms, 54 * 12.3, 0.1);
	for (size_t i = 0; i < read.row_count; i++)
		least = fmin(least, read.rows[i].share);
	for (size_t i = 0; i < summary.row_count; i++) {
		bool shown = false;

		for (size_t k = 0; k < read.row_count; k++)
			shown = shown || (read.rows[k].ranks == summary.rows[i].ranks &&
					  read.rows[k].coll == summary.rows[i].coll &&
					  read.rows[k].bytes == summary.rows[i].bytes);
		if (!shown)
			assert_true(summary.rows[i].share < least + 0.011);
	}
	nt_summary_fini(&read);
	nt_summary_fini(&summary);
}

/* ---- records of a later release */

#define REJECTED(rank, why)                                \
	"\"comms\":[{\"id\":\"a\",\"rank\":" #rank         \
	",\"ranks\":4,\"nodes\":2,\"state\":\"rejected\"," \
	"\"why\":\"" why "\",\"keys\":[]}]}"

/* A node's own reason counts more than that it was not heard, in any order. */
static void the_cause_counts_before_what_others_saw(void **state)
{
	static const char *const records[] = {
		HEAD(0, "n1") REJECTED(0, "unseen:2:3:4"),
		HEAD(1, "n1") REJECTED(1, "silent"),
		HEAD(2, "n2") REJECTED(2, "pmixcwd"),
		HEAD(3, "n2") REJECTED(3, "pmix:UNREACHABLE"),
	};

	for (size_t first = 0; first < LENGTH(records); first++) {
		struct nt_sum sum;

		nt_sum_init(&sum);
		for (size_t i = 0; i < LENGTH(records); i++)
			add(&sum, records[(first + i) % LENGTH(records)]);
		assert_int_equal(sum.comm_count, 1);
		assert_int_equal(sum.comms[0].why.id, NT_REASON_PMIX_CWD);
		nt_sum_fini(&sum);
	}
}

UNIT_TESTS(rows_of_two_nodes, communicators_of_two_nodes, the_cause_counts_before_what_others_saw,
	   the_short_form_reads_back, alike_communicators_are_one_row,
	   nothing_is_missing_and_the_short_form_says_what_is);

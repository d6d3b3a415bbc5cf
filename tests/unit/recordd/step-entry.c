/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A step's rank records to a memory's entry; and records that are not evidence. */
#include "recordd/step-entry.h"

#include <math.h>
#include "tests/lib/unit.h"
#include <json-c/json.h>
#include "contract/policy.h"
#include "recordd/collect.h"
#include "recordd/step-record.h"

#define NOW_US (INT64_C(1763769600) * 1000000)

#define RANK_WITH(more, task, comms)                     \
	"{\"v\":1,\"job\":12,\"step\":3,\"task\":" #task \
	",\"node\":\"n1\",\"mode\":\"bandit\",\"nccl\":22809," more "\"comms\":[" comms "]}"
#define RANK(task, comms)                                                                         \
	RANK_WITH("\"driver\":\"570.124.06\",\"fabric\":\"socket\",\"launch\":\"sockets-wide\",", \
		  task, comms)
#define COMM(id, rank, ranks, nodes, keys)                                             \
	"{\"id\":\"" id "\",\"rank\":" #rank ",\"ranks\":" #ranks ",\"nodes\":" #nodes \
	",\"state\":\"agreed\",\"alike\":true,\"keys\":[" keys "]}"
#define COMMITTED(bytes, calls)                                                                     \
	"{\"coll\":\"AllReduce\",\"bytes\":" #bytes                                                 \
	",\"state\":\"committed\",\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[90,60]," \
	"\"p25_us\":[80,50],\"p75_us\":[100,70],"                                                   \
	"\"samples\":24,\"calls\":" #calls "}"
#define KEPT(bytes, calls)                                                                  \
	"{\"coll\":\"AllGather\",\"bytes\":" #bytes                                         \
	",\"state\":\"kept\",\"auto\":\"RING/SIMPLE\",\"best\":\"RING/LL\",\"us\":[30,35]," \
	"\"p25_us\":[20,34],\"p75_us\":[40,36],"                                            \
	"\"samples\":12,\"calls\":" #calls "}"
#define COUNTED(bytes, calls) \
	"{\"coll\":\"Broadcast\",\"bytes\":" #bytes ",\"state\":\"counted\",\"calls\":" #calls "}"

#define SENT(coll, us, samples)                                                           \
	"{\"coll\":\"" coll "\",\"bytes\":4194304,\"state\":\"counted\",\"own_us\":[" #us \
	"],\"samples\":" #samples ",\"calls\":200,\"sent_bytes\":838860800,\"why\":\"p2p\"}"

#define RANK_OF(path, task, comms)                                  \
	RANK_WITH("\"library\":\"" path "\",\"fabric\":\"socket\"," \
		  "\"launch\":\"sockets-wide\",",                   \
		  task, comms)

/* The records. */
struct step {
	struct nt_sum sum;
	struct nt_arguments errand;
	struct nt_ticket ticket;
	struct nt_memory_entry entry;
	bool remembered;
	char why[NT_LEARN_WHY];
};

static struct nt_error err;

static void begin(struct step *step)
{
	memset(step, 0, sizeof(*step));
	nt_sum_init(&step->sum);
	step->errand = (struct nt_arguments){ .job = 12,
					      .step = 3,
					      .tasks = 8,
					      .nodes = 2,
					      .here = 4,
					      .fingerprint = "00f3000000000001" };
	snprintf(step->ticket.profile, sizeof(step->ticket.profile), "sockets-wide");
	snprintf(step->ticket.program, sizeof(step->ticket.program), "small.py");
}

static void add(struct step *step, const char *text)
{
	if (nt_sum_add_record(&step->sum, text, strlen(text), 12, 3, &err) < 0)
		fail_msg("%s: %.200s", err.text, text);
}

static void add_marker(struct step *step, int64_t task, int64_t ranks, unsigned periods)
{
	struct nt_rank_marker marker = { .coll = NT_ALLREDUCE,
					 .bytes = 1048576,
					 .ranks = ranks,
					 .calls = periods,
					 .periods = periods };

	for (unsigned i = 0; i < periods; i++)
		marker.period_us[i] = (double)(1000 + task);
	nt_sum_add_marker(&step->sum, &marker, task);
}

static int learn(struct step *step)
{
	return nt_step_entry_make(&step->sum, &step->errand, &step->ticket, step->remembered,
				  NOW_US, &step->entry, step->why, &err);
}

/* The entry that is written must be readable. */
static void check_line(struct step *step)
{
	struct nt_memory_entry back;
	json_object *line;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;

	assert_int_equal(nt_entry_name(&step->entry, &err), 0);
	out = open_memstream(&text, &bytes);
	assert_int_equal(nt_entry_print(&step->entry, out), 0);
	fclose(out);
	assert_true(bytes < NT_ENTRY_LINE_MAX);
	line = json_tokener_parse(text);
	assert_non_null(line);
	if (nt_entry_parse(&back, line) < 0)
		fail_msg("%.300s", text);
	assert_int_equal(back.keys, step->entry.keys);
	assert_int_equal(back.periods, step->entry.periods);
	assert_string_equal(back.library, step->entry.library);
	nt_entry_fini(&back);
	json_object_put(line);
	free(text);
}

static void end(struct step *step)
{
	nt_entry_fini(&step->entry);
	nt_sum_fini(&step->sum);
}

static void a_step_becomes_an_entry(void **state)
{
	const struct nt_memory_entry *entry;
	struct step step;

	begin(&step);
	add(&step, RANK(0, COMM("a", 0, 8, 2, COMMITTED(262144, 1000) "," KEPT(65536, 500))));
	add(&step, RANK(1, COMM("a", 1, 8, 2, COMMITTED(262144, 1000) "," KEPT(65536, 499))));
	add_marker(&step, 0, 8, 20);
	step.ticket.expected = 2.8;
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.why, "");
	entry = &step.entry;
	assert_string_equal(entry->profile, "sockets-wide");
	assert_int_equal(entry->origin, NT_ORIGIN_JOB);
	assert_false(entry->asked || entry->wrong);
	assert_int_equal(entry->job, 12);
	assert_int_equal(entry->step, 3);
	assert_int_equal(entry->when_s, NOW_US / 1000000);
	assert_int_equal(entry->where.fingerprint, 0xf3000000000001);
	assert_int_equal(entry->where.nodes, 2);
	assert_int_equal(entry->where.per_node, 4);
	assert_int_equal(entry->where.nccl, 22809);
	assert_string_equal(entry->where.driver, "570.124.06");
	assert_int_equal(entry->where.fabric, NT_FABRIC_SOCKET);
	assert_int_equal(entry->keys, 2);
	/* both ranks report the same calls */
	assert_int_equal(entry->key[0].coll, NT_ALLGATHER);
	assert_int_equal(entry->key[0].calls, 500);
	assert_int_equal(entry->key[0].arm, NT_ARM_BASELINE);
	assert_true(entry->key[0].best.median_us == 30 && entry->key[0].untuned.median_us == 30);
	assert_int_equal(entry->key[1].coll, NT_ALLREDUCE);
	assert_int_equal(entry->key[1].calls, 1000);
	assert_string_equal(nt_arm_name(entry->key[1].arm), "TREE/SIMPLE");
	assert_true(entry->key[1].best.p25_us == 50 && entry->key[1].best.p75_us == 70);
	assert_true(entry->key[1].untuned.median_us == 90 && entry->key[1].untuned.samples == 24);
	assert_int_equal(entry->key[1].ranks, 8);
	assert_int_equal(entry->key[1].nodes, 2);
	assert_int_equal(entry->marker_coll, NT_ALLREDUCE);
	assert_int_equal(entry->marker_bytes, 1048576);
	assert_int_equal(entry->periods, 20);
	check_line(&step);
	end(&step);
}

/* Nothing is decided about what is sent, and only the slowest rank's median is known. */
static void what_is_sent_has_its_times(void **state)
{
	const struct nt_known_key *key;
	struct step step;

	begin(&step);
	add(&step,
	    RANK(0, COMM("a", 0, 8, 2, COMMITTED(262144, 10) "," SENT("AllToAll", 440, 32))));
	add(&step,
	    RANK(1, COMM("a", 1, 8, 2, COMMITTED(262144, 10) "," SENT("AllToAll", 450, 32))));
	add(&step, RANK(2, COMM("a", 2, 8, 2, SENT("Send", 0, 0))));
	assert_int_equal(learn(&step), 1);
	assert_int_equal(step.entry.keys, 3);
	key = &step.entry.key[1];
	assert_int_equal(key->coll, NT_P2P_SEND);
	assert_int_equal(nt_key_times(key)->samples, 0);
	key = &step.entry.key[2];
	assert_int_equal(key->coll, NT_P2P_ALLTOALL);
	assert_int_equal(key->bytes, 4194304);
	assert_int_equal(key->calls, 200);
	assert_int_equal(key->arm, NT_ARM_BASELINE);
	assert_true(nt_key_times(key)->median_us == 450 && nt_key_times(key)->p25_us == 450);
	check_line(&step);
	end(&step);
}

/* The NCCL that the step has loaded: the first in alphabetical order, whichever record is read
 * first. */
static void the_library_is_remembered(void **state)
{
	static const char *const odd[] = { "", "lib/a.so", "/a\"b", "/a\\b", "/a\nb", "/\xc3\xa9" };
	struct step step;

	begin(&step);
	add(&step, RANK_OF("/env/b+c/libnccl.so.2", 1, COMM("a", 1, 8, 2, COMMITTED(262144, 9))));
	add(&step, RANK_OF("/env/a b/libnccl.so.2", 0, COMM("a", 0, 8, 2, COMMITTED(262144, 9))));
	add(&step, RANK(2, COMM("a", 2, 8, 2, COMMITTED(262144, 9))));
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.entry.library, "/env/a b/libnccl.so.2");
	check_line(&step);
	end(&step);
	begin(&step);
	add(&step, RANK_OF("lib/libnccl.so.2", 0, COMM("a", 0, 8, 2, COMMITTED(262144, 9))));
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.entry.library, "");
	end(&step);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_false(nt_entry_library_valid(odd[i]));
}

static void what_was_asked_for_is_marked(void **state)
{
	struct step step;

	begin(&step);
	step.ticket.why = NT_WHY_ASKED;
	step.ticket.user_env = 77;
	snprintf(step.ticket.program, sizeof(step.ticket.program), "train.py");
	add(&step, RANK(0, COMM("a", 0, 8, 2, COMMITTED(262144, 1000))));
	assert_int_equal(learn(&step), 1);
	assert_true(step.entry.asked);
	assert_string_equal(step.entry.where.program, "train.py");
	assert_int_equal(step.entry.where.user_env, 77);
	end(&step);
}

/* Four processes; two communicators of two ranks each beside the one of all. */
static void calls_are_those_of_an_average_rank(void **state)
{
	struct step step;

	begin(&step);
	add(&step, RANK(0, COMM("w", 0, 8, 2, COUNTED(1024, 10)) "," COMM("a", 0, 2, 1,
									  COMMITTED(4096, 100))));
	add(&step, RANK(1, COMM("w", 1, 8, 2, COUNTED(1024, 10)) "," COMM("a", 1, 2, 1,
									  COMMITTED(4096, 100))));
	add(&step, RANK(2, COMM("w", 2, 8, 2, COUNTED(1024, 10)) "," COMM("b", 0, 2, 1,
									  COUNTED(4096, 300))));
	add(&step, RANK(3, COMM("w", 3, 8, 2, COUNTED(1024, 10)) "," COMM("b", 1, 2, 1,
									  COMMITTED(4096, 300))));
	assert_int_equal(learn(&step), 1);
	assert_int_equal(step.entry.keys, 3);
	assert_int_equal(step.entry.key[0].ranks, 2);
	assert_int_equal(step.entry.key[0].coll, NT_BROADCAST);
	assert_int_equal(step.entry.key[0].calls, 150);
	assert_int_equal(step.entry.key[1].coll, NT_ALLREDUCE);
	assert_int_equal(step.entry.key[1].calls, 200); /* (100 * 2 + 300 * 2) / 4 */
	assert_int_equal(step.entry.key[2].ranks, 8);
	assert_int_equal(step.entry.key[2].calls, 10);
	assert_int_equal(step.entry.key[2].best.samples, 0);
	check_line(&step);
	end(&step);
}

static void one_process_may_have_all_ranks(void **state)
{
	struct step step;

	begin(&step);
	step.errand.tasks = 2;
	step.errand.here = 1;
	add(&step, RANK(0, COMM("w", 0, 4, 2, COMMITTED(4096, 100)) "," COMM(
				   "w", 1, 4, 2, COMMITTED(4096, 100))));
	assert_int_equal(learn(&step), 1);
	assert_int_equal(step.entry.where.per_node, 2);
	assert_int_equal(step.entry.start_nodes, 2);
	assert_int_equal(step.entry.start_tasks, 2);
	assert_int_equal(step.entry.keys, 1);
	assert_int_equal(step.entry.key[0].ranks, 4);
	assert_int_equal(step.entry.key[0].calls, 100);
	end(&step);
}

static void the_most_costly_keys_are_kept(void **state)
{
	struct nt_key keys[200];
	struct nt_comm_seen comm = { .id = "a", .ranks = 8, .nodes = 2, .alike = true };
	struct step step;

	begin(&step);
	step.sum.records = 1;
	for (int i = 0; i < 200; i++) {
		double us = 1 + (double)((i * 37) % 200);

		keys[i] = (struct nt_key){ .coll = NT_ALLREDUCE,
					   .bytes = 1024 * (i + 1),
					   .state = NT_KEYSTATE_KEPT,
					   .auto_p25_us = us,
					   .auto_us = us,
					   .auto_p75_us = us,
					   .samples = 9,
					   .calls = 10 };
	}
	comm.keys = keys;
	comm.key_count = 200;
	assert_int_equal(nt_sum_add(&step.sum, &comm, 0, 0), 0);
	assert_int_equal(learn(&step), 1);
	assert_int_equal(step.entry.keys, NT_ENTRY_KEYS);
	for (unsigned i = 0; i < step.entry.keys; i++) {
		assert_true(step.entry.key[i].best.median_us > 200 - NT_ENTRY_KEYS);
		assert_true(i == 0 || step.entry.key[i].bytes > step.entry.key[i - 1].bytes);
	}
	check_line(&step);
	end(&step);
}

static void the_marker_is_the_largest_communicators(void **state)
{
	struct step step;

	begin(&step);
	add_marker(&step, 2, 4, 60);
	add_marker(&step, 7, 8, 40);
	add_marker(&step, 5, 8, 3); /* too few to show anything */
	add_marker(&step, 6, 8, 30);
	assert_int_equal(step.sum.marker_task, 6);
	add(&step, RANK(0, COMM("a", 0, 8, 2, COUNTED(1024, 10))));
	assert_int_equal(learn(&step), 1); /* a marker alone is worth it */
	assert_int_equal(step.entry.periods, 30);
	assert_true(step.entry.period_us[0] == 1006);
	end(&step);
	begin(&step);
	add_marker(&step, 0, 8, 7);
	add(&step, RANK(0, COMM("a", 0, 8, 2, COUNTED(1024, 10))));
	assert_int_equal(learn(&step), 0);
	assert_string_equal(step.why, "");
	end(&step);
}

/* Hostile content of a user's file is neither written nor read by others. */
static void hostile_records(void **state)
{
	static const char *const keys[] = {
		/* no order, nothing, too much, less than nothing */
		"{\"coll\":\"AllReduce\",\"bytes\":1,\"state\":\"committed\",\"arm\":\"TREE/SIMPLE\",\"us\":[5],"
		"\"p25_us\":[9],\"p75_us\":[1],\"samples\":9,\"calls\":1}",
		"{\"coll\":\"AllReduce\",\"bytes\":2,\"state\":\"kept\",\"us\":[0],\"p25_us\":[0],"
		"\"p75_us\":[0],\"samples\":9,\"calls\":1}",
		"{\"coll\":\"AllReduce\",\"bytes\":3,\"state\":\"kept\",\"us\":[1e14],\"p25_us\":[1e14],"
		"\"p75_us\":[1e14],\"samples\":9,\"calls\":1}",
		"{\"coll\":\"AllReduce\",\"bytes\":1000000000000000,\"state\":\"kept\",\"samples\":999999999999,"
		"\"us\":[1],\"p25_us\":[1],\"p75_us\":[1],\"calls\":1000000000000000}",
		"{\"coll\":\"AllReduce\",\"bytes\":4,\"state\":\"committed\",\"arm\":\"AUTO\",\"us\":[0,1],"
		"\"p25_us\":[0,1],\"p75_us\":[0,1],\"samples\":9,\"calls\":1}",
	};
	char text[1024];
	struct step step;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		begin(&step);
		snprintf(text, sizeof(text),
			 RANK_WITH("\"driver\":\"5,id=x\",\"fabric\":\"pigeon\","
				   "\"launch\":\"sockets-wide\",",
				   0, COMM("a", 0, 8, 2, "%s")),
			 keys[i]);
		add(&step, text);
		add_marker(&step, 0, 8, 12);
		step.sum.marker.period_us[0] = NAN;
		step.sum.marker.period_us[1] = INFINITY;
		step.sum.marker.period_us[2] = -1;
		assert_int_equal(learn(&step), 1);
		assert_int_equal(step.entry.where.fabric, NT_FABRIC_ANY);
		assert_string_equal(step.entry.where.driver, "");
		for (unsigned k = 0; k < step.entry.keys; k++)
			assert_int_equal(step.entry.key[k].best.samples, 0);
		check_line(&step);
		end(&step);
	}
}

static void expect_doubt(struct step *step, const char *why)
{
	assert_int_equal(learn(step), 0);
	assert_string_equal(step->why, why);
	end(step);
}

static void expect_unseen(struct step *step)
{
	expect_doubt(step, "it is unknown whether all its nodes have the same hardware");
}

#define JOINING(state, ranks, nodes)                                              \
	RANK(0, "{\"id\":\"a\",\"rank\":0,\"ranks\":" #ranks ",\"nodes\":" #nodes \
		",\"state\":\"" state "\",\"keys\":[" SENT("AllToAll", 440, 32) "]}")

/* A program that only sends compares nothing. */
static void the_memory_may_know_that_hosts_are_alike(void **state)
{
	struct nt_where where;
	struct step step;

	begin(&step);
	add(&step, JOINING("joining", 8, 2));
	assert_false(nt_ranks_alike(&step.sum, 2));
	assert_non_null(nt_step_entry_where(&step.sum, &step.errand, &step.ticket, false, &where));
	assert_int_equal(learn(&step), 0);
	assert_string_not_equal(step.why, "");
	assert_null(nt_step_entry_where(&step.sum, &step.errand, &step.ticket, true, &where));
	step.remembered = true;
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.why, "");
	assert_int_equal(step.entry.keys, 1);
	check_line(&step);
	end(&step);
	/* Ranks that differ, and a step without a communicator of all its nodes. */
	begin(&step);
	step.remembered = true;
	add(&step, JOINING("rejected", 8, 2));
	expect_unseen(&step);
	begin(&step);
	step.remembered = true;
	add(&step, JOINING("joining", 4, 1));
	expect_unseen(&step);
}

static void begin_good(struct step *step)
{
	begin(step);
	add(step, RANK(0, COMM("a", 0, 8, 2, COMMITTED(262144, 1000))));
}

static void what_is_no_evidence(void **state)
{
	static const char uneven[] = "its tasks or ranks are not spread evenly over its nodes";
	static const char other[] = "not all its ranks ran with its launch profile";
	struct step step;

	begin_good(&step);
	step.errand.tasks = 7;
	expect_doubt(&step, uneven);
	begin_good(&step);
	step.errand.here = 5; /* and 3 on the other one */
	expect_doubt(&step, uneven);
	begin_good(&step);
	snprintf(step.errand.fingerprint, sizeof(step.errand.fingerprint), "-");
	expect_doubt(&step, "the hardware of its node is unknown");
	begin_good(&step);
	step.ticket.program[0] = '\0';
	expect_doubt(&step, "which program it ran is unknown");
	begin_good(&step);
	step.errand.nodes = 4; /* of which the communicator has two */
	step.errand.here = 2;
	expect_unseen(&step);
	begin(&step);
	add(&step,
	    RANK(0,
		 "{\"id\":\"a\",\"rank\":0,\"ranks\":8,\"nodes\":2,\"state\":\"rejected\",\"keys\":[" COMMITTED(
			 262144, 1000) "]}"));
	expect_unseen(&step);
	begin_good(&step);
	snprintf(step.ticket.left, sizeof(step.ticket.left), "NCCL_BUFFSIZE");
	expect_doubt(&step, "its launch profile was set only in part");
	begin_good(&step);
	nt_sum_add_word(&step.sum.launch, "");
	expect_doubt(&step, other);
	begin(&step);
	add(&step,
	    RANK_WITH("\"launch\":\"default\",", 0, COMM("a", 0, 8, 2, COMMITTED(262144, 1000))));
	expect_doubt(&step, other);
	begin_good(&step);
	step.errand.flags = NT_FLAG_USER_ALGO;
	expect_doubt(&step, "NCCL_ALGO or NCCL_PROTO is set");
}

static void variables_that_are_part_of_the_place_are_no_doubt(void **state)
{
	struct step step;

	begin_good(&step);
	snprintf(step.ticket.left, sizeof(step.ticket.left), "NCCL_BUFFSIZE");
	step.ticket.user_env = 5;
	assert_int_equal(learn(&step), 1);
	end(&step);
}

/* One node is enough; ranks without the plugin's variable run with the default. */
static void little_is_enough_for_one_node(void **state)
{
	struct step step;

	begin(&step);
	snprintf(step.ticket.profile, sizeof(step.ticket.profile), "default");
	step.errand.nodes = 1;
	step.errand.here = 8;
	add(&step,
	    RANK_WITH(
		    "", 0,
		    "{\"id\":\"a\",\"rank\":0,\"ranks\":8,\"nodes\":1,\"state\":\"joining\",\"keys\":[" COMMITTED(
			    262144, 1000) "]}"));
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.why, "");
	end(&step);
}

/* Whatever its measurements. */
static void a_failure_is_no_evidence(void **state)
{
	struct step step;

	begin_good(&step);
	step.errand.ended = NT_ENDED_FAILED;
	assert_int_equal(learn(&step), 1);
	assert_string_equal(step.why, "it failed");
	assert_int_equal(step.entry.keys, 0);
	assert_false(step.entry.wrong);
	check_line(&step);
	end(&step);
}

/* A step that failed at its start, and one that was only short. */
static void a_profile_in_use_that_came_to_nothing_is_marked(void **state)
{
	struct step step;

	begin(&step);
	step.sum.started = true;
	assert_int_equal(learn(&step), 1);
	assert_int_equal(step.entry.keys, 0);
	assert_false(step.entry.wrong);
	end(&step);
	begin(&step);
	step.sum.started = true;
	add(&step, RANK(0, COMM("a", 0, 8, 2, COUNTED(1024, 10))));
	expect_doubt(&step, "");
	begin(&step);
	step.sum.started = true;
	snprintf(step.ticket.profile, sizeof(step.ticket.profile), "%s", NT_PROFILE_DEFAULT);
	expect_doubt(&step, "");
}

UNIT_TESTS(a_step_becomes_an_entry, what_is_sent_has_its_times, the_library_is_remembered,
	   what_was_asked_for_is_marked, calls_are_those_of_an_average_rank,
	   one_process_may_have_all_ranks, the_most_costly_keys_are_kept,
	   the_marker_is_the_largest_communicators, a_profile_in_use_that_came_to_nothing_is_marked,
	   hostile_records, what_is_no_evidence, the_memory_may_know_that_hosts_are_alike,
	   variables_that_are_part_of_the_place_are_no_doubt, little_is_enough_for_one_node,
	   a_failure_is_no_evidence);

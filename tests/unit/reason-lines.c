/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* From what a rank's record says to the line that the user reads, for reasons that no job of the
 * simulated NCCL makes surely, or makes soon; the others are in tests/fake/reasons.bats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "record/sum.h"
#include "report/reasons.h"
#include "report/rowtext.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define WITH_PMIX "Start the step with srun --mpi=pmix."
#define ONE_NCCL \
	"Let all ranks load the same NCCL: look at their containers, modules and LD_LIBRARY_PATH."
#define NOTHING_TO_DO "Nothing needs to be done."
#define STAYS "NCCL's choice (RING/SIMPLE) stays: "

/* words: of a key where it was decided, else of its communicator, of four ranks on two nodes. */
static const struct line {
	int reason;
	const char *words, *says, *type;
} lines[] = {
	/* keys that were decided */
	{ NT_REASON_CHANCE, "may be chance",
	  STAYS "TREE/LL looked better, by 5.0 %, but that may be chance (p 0.21).",
	  "To measure more before deciding: --nccl-tune=bandit,confirm_blocks=64." },
	{ NT_REASON_MEAN, "faster at best, slower on average",
	  STAYS "TREE/LL is faster at its best, by 5.0 %, but slower on average.", NOTHING_TO_DO },
	{ NT_REASON_PERIOD, "faster, but the program around it slower",
	  STAYS "calls are faster with TREE/LL, by 5.0 %, but the program around them is slower.",
	  "Fewer channels leave more of the GPU to the program; to try them: "
	  "--nccl-tune=bandit,channels=on." },
	/* communicators */
	{ NT_REASON_BOARD, "no shared board on a node",
	  "The ranks of a node share no memory: the step's directory is missing there, or full.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ NT_REASON_UNSEEN,
	  "rank 3 was not seen: no plugin there, or its node cannot be heard (3 of 4 seen)",
	  "Rank 3 did not show up (3 of 4 seen): it has no plugin, or its node cannot be heard.",
	  "See what that rank says with NCCL_DEBUG=INFO: is nccl-tune installed on its node, "
	  "mounted in its container, and PMIx in use (srun --mpi=pmix)?" },
	{ NT_REASON_NO_PMIX, "no PMIx server answers (-25)",
	  "Its ranks are on several nodes, and Slurm's PMIx does not answer them.",
	  WITH_PMIX " In a container see that enroot's hook 50-slurm-pmi.sh runs." },
	{ NT_REASON_NO_PMIX, "no libpmix.so.2 on this node: no such file",
	  "Its ranks are on several nodes, and libpmix.so.2 is missing where they run.",
	  "Install libpmix2 on the nodes, or in the container's image." },
	{ NT_REASON_SILENT, "nothing was heard from the node of rank 0",
	  "The node of its rank 0 was never heard: it is gone, or hangs.",
	  "Look at slurmd's log of that node." },
	{ NT_REASON_NCCL, "rank 3 on n2 differs: NCCL 22708, others 22809",
	  "Rank 3 on n2 runs another NCCL: 22708, others 22809.", ONE_NCCL },
	{ NT_REASON_INTERFACE, "rank 3 on n2 differs: plugin interface 4.4, others 5.5",
	  "Rank 3 on n2 runs another NCCL, with another plugin interface: 4.4, others 5.5.",
	  ONE_NCCL },
	{ NT_REASON_BUILD, "rank 3 on n2 differs: plugin build 1, others 2",
	  "Rank 3 on n2 has another build of nccl-tune: 1, others 2.",
	  "Install the same nccl-tune on all nodes." },
	{ NT_REASON_DIFFERS, "rank 3 was seen on two nodes",
	  "Rank 3 was seen on two nodes: two communicators have the same number.", NOTHING_TO_DO },
	{ NT_REASON_LIMIT, "its nodes are too many and stand in no order",
	  "Its nodes are too many to be named in one message.",
	  "Give its ranks to nodes in order: srun --distribution=block." },
	{ NT_REASON_REFUSED, "a node takes no plan for it",
	  "A node of it could not take part; why is told of another communicator, or in that "
	  "node's log.",
	  "Look at what NCCL says with NCCL_DEBUG=WARN, and at slurmd's log of the nodes." },
	{ NT_REASON_ASYNCHRONOUS, "collectives are issued asynchronously to their calls",
	  "Its collectives are issued by another thread than its calls: which call is which cannot "
	  "be told.",
	  "If the program can, let it use blocking communicators (ncclConfig_t, blocking=1)." },
	{ NT_REASON_LEFT, "a rank has left", "A rank of it ended before the others.",
	  NOTHING_TO_DO },
	{ NT_REASON_SPEAKER, "the process that spoke for a node has ended",
	  "The process that spoke for a node to the others has ended.",
	  "Let the first task of each node live as long as the others." },
	{ NT_REASON_SPEAKER,
	  "the first task of a node has no NCCL rank: other nodes cannot be reached",
	  "The first task of a node speaks for it to other nodes, and runs no NCCL here.",
	  "Let the first task of each node use NCCL, too." },
	{ NT_REASON_MODE, "mode observe: nothing is tried",
	  "Only measured: mode observe tries nothing.",
	  "To try other choices: --nccl-tune=bandit." },
};

/* A rank's record with one key. */
static void make_record(char *out, size_t room, const struct line *line)
{
	bool decided = nt_reason_about(line->reason) == NT_ABOUT_KEY;

	snprintf(out, room,
		 "{\"v\":1,\"job\":1,\"step\":0,\"task\":0,\"node\":\"n1\",\"mode\":\"bandit\","
		 "\"comms\":[{\"id\":\"a\",\"rank\":0,\"ranks\":4,\"nodes\":2,\"state\":\"%s\","
		 "\"why\":\"%s\",\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":4194304,"
		 "\"auto\":\"RING/SIMPLE\",\"calls\":100,%s%s\"}]}]}",
		 decided ? "agreed" : "rejected", decided ? "" : line->words,
		 decided ? "\"state\":\"kept\",\"arm\":\"TREE/LL\",\"auto_us\":100,\"arm_us\":95,"
			   "\"p\":0.21,\"samples\":24,\"why\":\""
			 : "\"state\":\"counted",
		 decided ? line->words : "");
}

static void make_summary(struct nt_summary *summary, const struct line *line)
{
	struct nt_error err = { "" };
	struct nt_step head;
	struct nt_sum sum;
	char record[1024];

	make_record(record, sizeof(record), line);
	nt_sum_init(&sum);
	if (nt_sum_add_record(&sum, record, strlen(record), 1, 0, &err) < 0)
		fail_msg("%s: %s", err.text, record);
	nt_fields_clear(&nt_step_fields, &head);
	snprintf(head.name, sizeof(head.name), "0");
	nt_summary_init(summary);
	assert_int_equal(nt_summary_add_sum(summary, &sum, &head, &err), 0);
	nt_sum_fini(&sum);
}

/* Of a communicator that is not tuned its keys only point to what is said of it. */
static void say(struct nt_said *said, const struct nt_summary *summary, const struct line *line)
{
	struct nt_said row;

	assert_int_equal(summary->row_count, 1);
	nt_row_say(&row, &summary->rows[0]);
	if (nt_reason_about(line->reason) == NT_ABOUT_KEY) {
		*said = row;
		return;
	}
	assert_string_equal(row.says,
			    "NCCL's choice is RING/SIMPLE. Its communicator was not tuned, for "
			    "a reason of its own.");
	assert_int_equal(row.reason, NT_REASON_COMM_NOT_TUNED);
	assert_int_equal(summary->remark_count, 1);
	nt_remark_say(said, &summary->remarks[0]);
}

static void the_user_reads_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(lines); i++) {
		struct nt_summary summary;
		struct nt_said said;

		make_summary(&summary, &lines[i]);
		say(&said, &summary, &lines[i]);
		assert_string_equal(said.says, lines[i].says);
		assert_string_equal(said.type, lines[i].type);
		assert_int_equal(said.reason, lines[i].reason);
		nt_summary_fini(&summary);
	}
}

/* No other node is to be heard where there is none. */
static void ranks_of_one_node_need_no_pmix(void **state)
{
	struct nt_remark remark = { .kind = NT_REMARK_WHY, .ranks = 4, .nodes = 1, .comms = 1 };
	struct nt_said said;

	(void)state;
	snprintf(remark.text, sizeof(remark.text), "its ranks were not all seen");
	remark.reason = nt_reason_find(remark.text);
	nt_remark_say(&said, &remark);
	assert_int_equal(said.reason, NT_REASON_JOINING);
	assert_string_equal(
		said.says,
		"The step ended before its ranks, all on one node, had found each other.");
	assert_string_equal(said.type, "Let it run longer.");
	remark.nodes = 2;
	nt_remark_say(&said, &remark);
	assert_non_null(strstr(said.says, "PMIx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_user_reads_the_reason),
		cmocka_unit_test(ranks_of_one_node_need_no_pmix),
	};

	return cmocka_run_group_tests_name("reason-lines", tests, NULL, NULL);
}

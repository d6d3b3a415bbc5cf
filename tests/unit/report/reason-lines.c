/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* From a rank's record to the line that the user reads, for reasons that no job of the simulated
 * NCCL produces reliably or quickly; the others are in tests/fake/reasons.bats. */
#include "tests/lib/unit.h"
#include "record/sum.h"
#include "report/text/reasons.h"
#include "report/text/row-text.h"

#define SEVERAL "Its ranks are on several nodes, and "
#define NOT_STARTED SEVERAL "PMIx was not started: "
#define ONE_NCCL "Load the same NCCL on all ranks: check containers, modules and LD_LIBRARY_PATH."
#define NOTHING_TO_DO "Nothing needs to be done."
#define STAYS "NCCL's choice (RING/SIMPLE) stays: "

/* why: of a key if it was decided, else of its communicator, which has four ranks on two nodes. */
static const struct line {
	int reason;
	const char *why, *says, *type;
} lines[] = {
	/* keys that were decided */
	{ NT_REASON_CHANCE, "chance",
	  STAYS "TREE/LL looked faster, by 5.0 %, but that may be chance (p 0.21).",
	  "To measure more before deciding: --nccl-tune=bandit,confirm_blocks=64." },
	{ NT_REASON_MEAN, "mean",
	  STAYS "TREE/LL is faster at its best, by 5.0 %, but slower on average.", NOTHING_TO_DO },
	{ NT_REASON_SLOWEST, "slowest",
	  STAYS "with TREE/LL most ranks finish earlier, by 5.0 %, but the slowest rank later.",
	  NOTHING_TO_DO },
	{ NT_REASON_PERIOD, "period",
	  STAYS "calls are faster with TREE/LL, by 5.0 %, but the program is slower.",
	  "Fewer channels leave more of the GPU to the program; to try them: "
	  "--nccl-tune=bandit,channels=on." },
	/* communicators */
	{ NT_REASON_SHM, "shm",
	  "The ranks of a node share no memory: there was none, or it is full.",
	  "In a container, use the host's /dev/shm; otherwise see slurmd's log on that node." },
	{ NT_REASON_SHM_OPEN, "shmopen:/run/x:No such file or directory",
	  "The ranks of a node share no memory: /run/x: No such file or directory.",
	  "In a container, use the host's /dev/shm; otherwise see slurmd's log on that node." },
	{ NT_REASON_UNSEEN, "unseen:3:3:4",
	  "Rank 3 was not seen (3 of 4 were): it has no plugin, or its node cannot be reached.",
	  "Run with NCCL_DEBUG=INFO and see what that rank says: is nccl-tune installed on its "
	  "node, mounted in its container, and PMIx in use (srun --mpi=pmix)?" },
	{ NT_REASON_PMIX, "pmix:UNREACHABLE",
	  SEVERAL "Slurm's PMIx server does not answer: UNREACHABLE.",
	  "See slurmd's log on their nodes. In a container, check that enroot's hook "
	  "50-slurm-pmi.sh runs, and that the container has no network namespace of its own." },
	{ NT_REASON_PMIX_UNSAFE, "pmixunsafe:PMIX_MCA_psec=none",
	  NOT_STARTED "with PMIX_MCA_psec=none it may fail, hang or print.",
	  "Unset that variable, or correct that file; PMIX_MCA_gds=hash and "
	  "PMIX_MCA_psec=native are safe." },
	{ NT_REASON_PMIX_ALTERED, "pmixaltered:PMIX_RANK=7",
	  NOT_STARTED "PMIX_RANK=7 is not what Slurm sets.",
	  "Leave the PMIX_ variables as srun --mpi=pmix sets them." },
	{ NT_REASON_PMIX_STORE, "pmixstore",
	  NOT_STARTED "its directory of this step cannot be seen.",
	  "In a container, check that enroot's hook 50-slurm-pmi.sh runs; or set "
	  "PMIX_MCA_gds=hash." },
	{ NT_REASON_PMIX_NET, "pmixnet",
	  NOT_STARTED "no network interface has an address there, as in a network namespace.",
	  "Leave the program in the node's network namespace: no unshare --net, and no container "
	  "with a network of its own." },
	{ NT_REASON_SHM_SMALL, "shmsmall",
	  "/dev/shm is too small: NCCL's GPU times take 34 MB there for each rank of the node and "
	  "each communicator, and without that room NCCL crashes.",
	  "Give the container a larger one: docker --shm-size=1g; a memory volume in a pod; with "
	  "enroot or pyxis --container-mounts=/dev/shm:/dev/shm. NCCL 2.31 needs none." },
	{ NT_REASON_LIMITS, "limits",
	  "The process may start no more threads, or have no more descriptors, address space or "
	  "file size, which NCCL's GPU times need.",
	  "Raise the limits: ulimit -u, -n, -v, -f; and pids.max of the container." },
	{ NT_REASON_PMIX_CWD, "pmixcwd", NOT_STARTED "the working directory is gone.",
	  "Start the program in a directory that exists." },
	{ NT_REASON_REMAPPED, "remap:1000:0",
	  SEVERAL "Slurm's PMIx refuses them: the container maps user 1000 to user 0.",
	  "Use srun --no-container-remap-root, or ENROOT_REMAP_ROOT=no if the step calls enroot "
	  "itself." },
	{ NT_REASON_NO_LIBPMIX, "nolibpmix", SEVERAL "libpmix.so.2 is missing where they run.",
	  "Install libpmix2 on the nodes, or in the container's image." },
	{ NT_REASON_SILENT, "silent",
	  "The node of its rank 0 did not answer: it is down, or hangs.",
	  "See slurmd's log on that node." },
	{ NT_REASON_NCCL, "nccl:3:n2:22708:22809",
	  "Rank 3 on n2 runs a different NCCL: 22708, others 22809.", ONE_NCCL },
	{ NT_REASON_INTERFACE, "interface:3:n2:404:505",
	  "Rank 3 on n2 runs a different NCCL, with plugin interface 404, others 505.", ONE_NCCL },
	{ NT_REASON_BUILD, "build:3:n2:1:2",
	  "Rank 3 on n2 has a different build of nccl-tune: 1, others 2.",
	  "Install the same nccl-tune on all nodes." },
	{ NT_REASON_TWO_NODES, "twonodes:3",
	  "Rank 3 was seen on two nodes: two communicators have the same id.", NOTHING_TO_DO },
	{ NT_REASON_ORDER, "order", "It has too many nodes to name them in one message.",
	  "Distribute its ranks in order: srun --distribution=block." },
	{ NT_REASON_REFUSED, "refused",
	  "One of its nodes refused; see the other communicators or that node's log.",
	  "Run with NCCL_DEBUG=WARN, and see slurmd's log on the nodes." },
	{ NT_REASON_ASYNCHRONOUS, "async",
	  "NCCL issues its collectives from a different thread than the program's, so calls "
	  "cannot be identified.",
	  "If possible, use blocking communicators (ncclConfig_t, blocking=1)." },
	{ NT_REASON_LEFT, "left", "One of its ranks ended before the others.", NOTHING_TO_DO },
	{ NT_REASON_LEADER, "leader",
	  "The process that exchanges messages with other nodes has ended on one of its nodes.",
	  "Keep the first task of each node alive as long as the others." },
	{ NT_REASON_FIRST_TASK, "firsttask",
	  "The first task of a node exchanges messages with other nodes, and does not use NCCL "
	  "here.",
	  "Use NCCL in the first task of each node, too." },
	{ NT_REASON_SHM_FILE, "shmfile:shm",
	  "The ranks of a node share no memory: shm is not the file that this step "
	  "shares.",
	  "In a container, use the host's /dev/shm; otherwise see slurmd's log on that "
	  "node." },
	{ NT_REASON_SHM_LOCKED, "shmlocked",
	  "The shared memory of a node was locked for too long while old "
	  "communicators were removed.",
	  "Nothing needs to be done." },
	{ NT_REASON_JOINING_NODE, "joinnode",
	  "The step ended before its ranks, all on one node, had found each other.",
	  "Run longer." },
	{ NT_REASON_NO_PMIX, "nopmix",
	  "Its ranks are on several nodes, and cannot reach each other without PMIx.",
	  "Start the step with srun --mpi=pmix." },
	{ NT_REASON_PMIX_REMOVED, "pmixgone",
	  "Its ranks are on several nodes, and cannot reach each other: the program "
	  "removed PMIx's variables.",
	  "Leave PMIX_ and SLURM_ variables as srun --mpi=pmix sets them for the ranks' "
	  "own step." },
	{ NT_REASON_OTHER_STEP, "otherstep",
	  "Its ranks are on several nodes, and cannot reach each other: their "
	  "variables are of a step of one node. They are in several steps, or the "
	  "program removed PMIx's variables and gave them those of another step.",
	  "Start all ranks in one step, and leave them its PMIX_ and SLURM_ variables. "
	  "Ray's runtime_env gives them the driver's." },
	{ NT_REASON_OLD_LIBPMIX, "oldpmix:PMIx_Get_nb",
	  "Its ranks are on several nodes, and the PMIx library is too old: it has "
	  "no PMIx_Get_nb.",
	  "Install libpmix2 4.1 or newer on the nodes, or in the container's image." },
	{ NT_REASON_PMIX_MAP, "pmixmap",
	  "Its ranks are on several nodes, and PMIx does not say which tasks run "
	  "where.",
	  "Start the step with srun --mpi=pmix." },
	{ NT_REASON_TASK_ORDER, "taskorder:5",
	  "PMIx and Slurm disagree on the number of task 5, or on the first task of "
	  "its node.",
	  "Start the step with srun --mpi=pmix." },
	{ NT_REASON_MPI, "mpi",
	  "The program loaded an MPI library and had not initialized it when the "
	  "step ended.",
	  "Call MPI_Init() before creating NCCL communicators." },
	{ NT_REASON_PMIX_HOME, "pmixhome",
	  "Its ranks are on several nodes, and PMIx was not started: the user has no "
	  "home directory.",
	  "Set HOME to a directory that exists." },
	{ NT_REASON_DIFFERS, "differs:3:n2:half:ready",
	  "Rank 3 on n2 cannot be tuned like the others: half, others ready.",
	  "Start all ranks alike: the same NCCL, nccl-tune and settings." },
	{ NT_REASON_MISMATCH, "mismatch", "Its ranks do not match.",
	  "Start all ranks alike: the same NCCL, nccl-tune and settings." },
	{ NT_REASON_TWINS, "twins", "Two communicators have the same id and cannot be told apart.",
	  "Nothing needs to be done." },
	{ NT_REASON_REUSED, "reused", "An earlier communicator had the same id.",
	  "Nothing needs to be done." },
	{ NT_REASON_LIMIT, "limit", "The step has made more communicators than can be tuned.",
	  "Nothing needs to be done: the first ones were tuned." },
	{ NT_REASON_NO_ROOM, "noroom:64", "A node had more than 64 communicators at once.",
	  "Nothing needs to be done: the first ones were tuned." },
	{ NT_REASON_MANY_RANKS, "manyranks:64", "More than 64 of its ranks are on one node.",
	  "Nothing needs to be done." },
	{ NT_REASON_READS, "reads",
	  "Its nodes have read each other's messages as often as allowed.",
	  "Nothing needs to be done; with fewer communicators at a time, each may "
	  "read more." },
	{ NT_REASON_NOT_READY, "notready", "Its ranks were not ready to be tuned.",
	  "Run longer; or explore once in a short step with "
	  "--nccl-tune=profile,launch=auto and use the result with "
	  "--nccl-tune=policy,launch=auto." },
	{ NT_REASON_MEMORY, "memory", "A process ran out of memory.",
	  "Give the job more memory (--mem)." },
	{ NT_REASON_BEHIND, "behind:Rank 3 on n1:AllReduce 64M, call 1204:all 3 others:62",
	  "Rank 3 on n1 had not begun AllReduce 64M, call 1204, which all 3 others had waited in "
	  "for 62 s.",
	  "See what that rank does (py-spy dump, gdb -p), its GPU (nvidia-smi) and its data." },
	{ NT_REASON_LAST_CALLS, "lastcalls:2 of 4 ranks:1203 to 1204:AllReduce 64M, call 1204:0.1",
	  "When last seen, 2 of 4 ranks had begun 1203 to 1204 calls; the newest was AllReduce "
	  "64M, call 1204, 0.1 s earlier.",
	  "See the program's output, and how Slurm says it ended: sacct -o state,exitcode." },
	{ NT_REASON_MODE, "mode:observe", "Only measured: mode observe tries nothing.",
	  "To explore: --nccl-tune=bandit." },
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
		 decided ? "agreed" : "rejected", decided ? "" : line->why,
		 decided ? "\"state\":\"kept\",\"best\":\"TREE/LL\",\"us\":[100,95],"
			   "\"p\":0.21,\"samples\":24,\"why\":\""
			 : "\"state\":\"counted",
		 decided ? line->why : "");
}

static void make_summary(struct nt_summary *summary, const struct line *line)
{
	struct nt_error err = { "" };
	struct nt_step head = { 0 };
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

/* Keys of an untuned communicator only refer to its reason. */
static void say(struct nt_said *said, const struct nt_summary *summary, const struct line *line)
{
	struct nt_said row;

	assert_int_equal(summary->row_count, 1);
	nt_row_say(&row, summary, &summary->rows[0]);
	if (nt_reason_about(line->reason) == NT_ABOUT_KEY) {
		*said = row;
		return;
	}
	assert_string_equal(row.says,
			    "NCCL's choice is RING/SIMPLE. Its communicator was not tuned.");
	assert_int_equal(row.reason, NT_REASON_COMM_NOT_TUNED);
	assert_int_equal(summary->remark_count, 1);
	nt_said_why(said, &summary->remarks[0].why);
}

static void the_user_reads_the_reason(void **state)
{
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

/* The record of a rank that ended before its communicator was joined. */
static void make_joining(struct nt_summary *summary, int ranks, int nodes)
{
	struct nt_error err;
	struct nt_step head = { 0 };
	struct nt_sum sum;
	char record[512];

	snprintf(record, sizeof(record),
		 "{\"v\":1,\"job\":1,\"step\":0,\"task\":0,\"node\":\"n1\",\"comms\":["
		 "{\"id\":\"a\",\"rank\":0,\"ranks\":%d,\"nodes\":%d,"
		 "\"state\":\"joining\",\"why\":\"\"}]}",
		 ranks, nodes);
	nt_sum_init(&sum);
	assert_int_equal(nt_sum_add_record(&sum, record, strlen(record), 1, 0, &err), 0);
	nt_fields_clear(&nt_step_fields, &head);
	snprintf(head.name, sizeof(head.name), "0");
	nt_summary_init(summary);
	assert_int_equal(nt_summary_add_sum(summary, &sum, &head, &err), 0);
	nt_sum_fini(&sum);
}

/* Without other nodes none can be silent. */
static void ranks_of_one_node_need_no_pmix(void **state)
{
	struct nt_said said;

	for (int nodes = 1; nodes <= 2; nodes++) {
		struct nt_summary summary;

		make_joining(&summary, 4, nodes);
		assert_int_equal(summary.remark_count, 1);
		nt_said_why(&said, &summary.remarks[0].why);
		assert_int_equal(said.reason,
				 nodes == 1 ? NT_REASON_JOINING_NODE : NT_REASON_JOINING);
		assert_int_equal(strstr(said.says, "PMIx") != NULL, nodes == 2);
		nt_summary_fini(&summary);
	}
}

static void a_single_rank_waits_for_no_other(void **state)
{
	struct nt_summary summary;

	make_joining(&summary, 1, 1);
	assert_int_equal(summary.remark_count, 0);
	nt_summary_fini(&summary);
}

/* A long form that was not kept is reported for its step. */
static void a_record_that_was_not_kept_in_full(void **state)
{
	static const char text[] = "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\","
				   "\"no_long\":\"no room\"}}}";
	struct nt_summary summary;
	struct nt_error err;
	struct nt_said said;

	nt_summary_init(&summary);
	assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, &err), 0);
	assert_int_equal(summary.remark_count, 1);
	assert_int_equal(summary.remarks[0].why.id, NT_REASON_NOT_IN_FULL);
	nt_said_why(&said, &summary.remarks[0].why);
	assert_string_equal(said.says, "The full record was not kept: no room.");
	assert_string_equal(said.type, "Set NCCL_TUNE_RECORD_DIR to a directory that you can "
				       "write to on all nodes.");
	nt_summary_fini(&summary);
}

UNIT_TESTS(the_user_reads_the_reason, ranks_of_one_node_need_no_pmix,
	   a_single_rank_waits_for_no_other, a_record_that_was_not_kept_in_full);

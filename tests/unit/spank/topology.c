/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's dumps: a task's variables, the names of communicators, and reading a step's directory. */
#include "spank/topology-env.h"

#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "recordd/topologydir.h"
#include "tuner/dumps.h"
#include "tests/unit/scratch.h"
#include "tests/unit/task-env.h"

static int begin(void **state)
{
	unsetenv(NT_ENV_TOPOLOGY);
	unsetenv(NT_ENV_GRAPH_FILE);
	unsetenv(NT_ENV_GRAPH_RANK);
	unsetenv(NT_ENV_SYSTEM_FILE);
	unsetenv(NT_ENV_SYSTEM_RANK);
	unsetenv("SLURM_GPUS_ON_NODE");
	return make_top(state);
}

/* ---- a task's variables */

static void a_task_has_files_of_its_own(void **state)
{
	const struct nt_topology_task task = {
		.dir = "/run/s", .task = 11, .first = 8, .tasks = 8
	};

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/run/s/nccl-graphs.11.xml");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "8");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/run/s/nccl-system.11.xml");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "8");
	assert_string_equal(value_of(NT_ENV_TOPOLOGY), "(unset)");
}

static void a_nodes_only_task_has_a_rank_for_each_gpu(void **state)
{
	const struct nt_topology_task task = { .dir = "/run/s", .task = 1, .first = 1, .tasks = 1 };

	set(NULL, "SLURM_GPUS_ON_NODE", "8");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "8");
}

static void the_users_own_files_stay(void **state)
{
	const struct nt_topology_task task = { .dir = "/run/s", .task = 0, .tasks = 8 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	set(NULL, NT_ENV_GRAPH_FILE, "/home/u/graph.xml");
	set(NULL, NT_ENV_SYSTEM_RANK, "3");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/home/u/graph.xml");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/run/s/nccl-system.0.xml");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "3");
}

/* If only some ranks had a file, they would wait for each other. */
static void a_node_without_a_directory_has_a_file_all_the_same(void **state)
{
	const struct nt_topology_task task = { .dir = NULL, .task = 4, .first = 4, .tasks = 4 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/dev/null/nccl-system.4.xml");
	assert_null(fopen(value_of(NT_ENV_SYSTEM_FILE), "w"));
}

/* And if srun has not told all nodes, no node has one. */
static void a_node_alone_asks_for_no_devices(void **state)
{
	struct nt_topology_task task = { .dir = "/run/s", .tasks = 8 };

	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/run/s/nccl-graphs.0.xml");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "(unset)");
	task.alone = true;
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/run/s/nccl-system.0.xml");
}

static void those_of_the_step_around_it_go(void **state)
{
	const struct nt_topology_task outer = { .dir = "/run/outer", .first = 2, .tasks = 8 };
	const struct nt_topology_task inner = { .dir = NULL, .tasks = 1 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &outer);
	nt_topology_set(&env, &inner);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "(unset)");
}

/* ---- communicators */

static bool has_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return access(path, F_OK) == 0;
}

static void dumps_get_their_communicators_names(void **state)
{
	struct nt_comm_identity who = { .id = 0xab, .rank = 7, .ranks = 16, .nodes = 2 };
	const struct nt_topology_task task = { .dir = top, .task = 8, .first = 8, .tasks = 8 };
	struct nt_policy policy;
	struct nt_place place;

	nt_policy_default(&policy);
	memset(&place, 0, sizeof(place));
	snprintf(place.dir, sizeof(place.dir), "%s", top);
	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	write_text("nccl-graphs.8.xml", "");
	write_text("nccl-system.8.xml", "");
	policy.topology = NT_SWITCH_ON;
	nt_dumps_name(&policy, &place, &who); /* another rank has written them */
	assert_true(has_file("nccl-graphs.8.xml"));
	who.rank = 8;
	policy.topology = NT_SWITCH_OFF;
	nt_dumps_name(&policy, &place, &who);
	assert_true(has_file("nccl-graphs.8.xml"));
	policy.topology = NT_SWITCH_ON;
	nt_dumps_name(&policy, &place, &who);
	assert_true(has_file("nccl-graphs.00000000000000ab.8.16.2.xml"));
	assert_true(has_file("nccl-system.00000000000000ab.8.16.2.xml"));
	assert_false(has_file("nccl-graphs.8.xml"));
	/* The user's own file is left alone. */
	write_text("mine.xml", "");
	snprintf(place.dir, sizeof(place.dir), "%s/step", top);
	set(NULL, NT_ENV_GRAPH_FILE, "mine.xml");
	nt_dumps_name(&policy, &place, &who);
	assert_true(has_file("mine.xml"));
}

/* ---- a step's directory */

#define GRAPHS "<graphs version=\"1\"><graph id=\"0\" nchannels=\"4\"/></graphs>"
#define SYSTEM "<system version=\"1\"><cpu><gpu dev=\"0\"/></cpu></system>"

static void the_largest_communicators_are_read(void **state)
{
	struct nt_topologies topologies;
	char name[64];

	for (int i = 0; i < NT_TOPOLOGIES_MAX + 4; i++) {
		snprintf(name, sizeof(name), "nccl-graphs.%016x.0.%d.2.xml", i, i + 2);
		write_text(name, GRAPHS);
	}
	write_text("nccl-system.0000000000000013.0.21.2.xml", SYSTEM);
	write_text("nccl-graphs.0.xml", GRAPHS); /* not known of which communicator */
	write_text("nccl-graphs.000000000000000z.0.99.2.xml", GRAPHS);
	write_text("nccl-graphs.0000000000000001.0.99.2.xml~", GRAPHS);
	write_text("nccl-graphs.0000000000000001.0.9999999999.2.xml", GRAPHS);
	nt_topologies_read(&topologies, top);
	assert_int_equal(topologies.count, NT_TOPOLOGIES_MAX);
	assert_string_equal(topologies.text[0],
			    "{\"id\":\"0000000000000013\",\"rank\":0,\"ranks\":21,\"nodes\":2,"
			    "\"gpus\":[{\"dev\":0,\"nvlinks\":0}],\"nics\":[],\"graphs\":[{"
			    "\"name\":\"ring\",\"channels\":4,\"paths\":[]}]}");
	assert_non_null(strstr(topologies.text[1], "\"no_devices\":\"it cannot be opened\""));
	nt_topologies_fini(&topologies);
}

/* Opening must neither follow a link nor wait. */
static void what_is_no_file_is_told(void **state)
{
	struct nt_topologies topologies;
	char path[128];

	snprintf(path, sizeof(path), "%s/nccl-graphs.0000000000000001.0.4.1.xml", top);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/nccl-system.0000000000000001.0.4.1.xml", top);
	assert_int_equal(mkfifo(path, 0600), 0);
	nt_topologies_read(&topologies, top);
	assert_int_equal(topologies.count, 1);
	assert_non_null(strstr(topologies.text[0], "\"no_graphs\":\"it is a link\","
						   "\"no_devices\":\"it is not a plain file\""));
	nt_topologies_fini(&topologies);
	nt_topologies_read(&topologies, "/nonexistent");
	assert_int_equal(topologies.count, 0);
}

UNIT_TESTS_EACH(begin, remove_top, a_task_has_files_of_its_own,
		a_nodes_only_task_has_a_rank_for_each_gpu, the_users_own_files_stay,
		a_node_without_a_directory_has_a_file_all_the_same,
		a_node_alone_asks_for_no_devices, those_of_the_step_around_it_go,
		dumps_get_their_communicators_names, the_largest_communicators_are_read,
		what_is_no_file_is_told);

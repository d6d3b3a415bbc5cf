/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's dumps: a task's variables, what is left of them in the node's memory, and reading that. */
#include "spank/topology-env.h"

#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "recordd/topologies.h"
#include "spank/step/shm-fd.h"
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
		.graphs = "/proc/7/fd/101", .devices = "/proc/7/fd/102", .first = 8, .tasks = 8
	};

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/proc/7/fd/101");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "8");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/proc/7/fd/102");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "8");
	assert_string_equal(value_of(NT_ENV_TOPOLOGY), "(unset)");
}

static void a_nodes_only_task_has_a_rank_for_each_gpu(void **state)
{
	const struct nt_topology_task task = { .graphs = "/proc/7/fd/101", .first = 1, .tasks = 1 };

	set(NULL, "SLURM_GPUS_ON_NODE", "8");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "8");
}

static void the_users_own_files_stay(void **state)
{
	const struct nt_topology_task task = { .graphs = "/proc/7/fd/101",
					       .devices = "/proc/7/fd/102",
					       .tasks = 8 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	set(NULL, NT_ENV_GRAPH_FILE, "/home/u/graph.xml");
	set(NULL, NT_ENV_SYSTEM_RANK, "3");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/home/u/graph.xml");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/proc/7/fd/102");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "3");
}

/* If only some ranks had a file, they would wait for each other. */
static void a_node_without_memory_has_a_file_all_the_same(void **state)
{
	const struct nt_topology_task task = { .first = 4, .tasks = 4 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), NT_TOPOLOGY_NOWHERE);
	assert_null(fopen(value_of(NT_ENV_SYSTEM_FILE), "w"));
}

/* And if srun has not told all nodes, no node has one. */
static void a_node_alone_asks_for_no_devices(void **state)
{
	struct nt_topology_task task = { .graphs = "/proc/7/fd/101",
					 .devices = "/proc/7/fd/102",
					 .tasks = 8 };

	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "/proc/7/fd/101");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "(unset)");
	task.alone = true;
	nt_topology_set(&env, &task);
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "/proc/7/fd/102");
}

static void those_of_the_step_around_it_go(void **state)
{
	const struct nt_topology_task outer = {
		.graphs = "/proc/7/fd/101", .devices = "/proc/7/fd/102", .first = 2, .tasks = 8
	};
	const struct nt_topology_task inner = { .tasks = 1 };

	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &outer);
	nt_topology_set(&env, &inner);
	assert_string_equal(value_of(NT_ENV_GRAPH_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_GRAPH_RANK), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_FILE), "(unset)");
	assert_string_equal(value_of(NT_ENV_SYSTEM_RANK), "(unset)");
}

/* ---- what is left of them */

#define GRAPHS "<graphs version=\"1\"><graph id=\"0\" nchannels=\"4\"/></graphs>"
#define SYSTEM "<system version=\"1\"><cpu><gpu dev=\"0\"/></cpu></system>"

static struct nt_collected items[64];
static size_t item_count;

static void keep_item(void *argument, struct nt_collected *item)
{
	(void)argument;
	assert_true(item_count < 64);
	items[item_count++] = *item;
	item->text = NULL;
}

static void collect(int shm_fd)
{
	for (size_t i = 0; i < item_count; i++)
		free(items[i].text);
	item_count = 0;
	assert_int_equal(nt_collect_each(shm_fd, keep_item, NULL, NULL), 0);
}

static void write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* As in a task: NCCL writes, the communicator's init copies. */
static void dumps_are_left_with_their_communicators(void **state)
{
	struct nt_comm_identity who = { .id = 0xab, .rank = 7, .ranks = 16, .nodes = 2 };
	char graphs[NT_SHM_FD_PATH], devices[NT_SHM_FD_PATH];
	struct nt_topology_task task = { graphs, devices, false, .first = 8, .tasks = 8 };
	struct nt_policy policy;
	struct nt_error err;
	int shm_fd = nt_shm_fd_make(getuid(), getgid(), "n1", 12, 0, &err);

	nt_policy_default(&policy);
	assert_int_equal(nt_shm_fd_scratch(graphs), 0);
	assert_int_equal(nt_shm_fd_scratch(devices), 0);
	set(NULL, NT_ENV_TOPOLOGY, "1");
	nt_topology_set(&env, &task);
	write_to(graphs, GRAPHS);
	write_to(devices, SYSTEM);
	policy.topology = NT_SWITCH_ON;
	nt_dumps_leave(&policy, shm_fd, &who); /* another rank has written them */
	who.rank = 8;
	nt_dumps_leave(&policy, -1, &who);
	policy.topology = NT_SWITCH_OFF;
	nt_dumps_leave(&policy, shm_fd, &who);
	collect(shm_fd);
	assert_int_equal(item_count, 0);
	policy.topology = NT_SWITCH_ON;
	nt_dumps_leave(&policy, shm_fd, &who);
	nt_dumps_leave(&policy, shm_fd, &who); /* which has written none */
	collect(shm_fd);
	assert_int_equal(item_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(items[i].name, "00000000000000ab.8.16.2");
	assert_string_equal(items[0].text, GRAPHS);
	assert_string_equal(items[1].text, SYSTEM);
	/* The user's own file is left alone. */
	snprintf(graphs, sizeof(graphs), "%s/mine.xml", top);
	write_to(graphs, GRAPHS);
	set(NULL, NT_ENV_GRAPH_FILE, graphs);
	nt_dumps_leave(&policy, shm_fd, &who);
	collect(shm_fd);
	assert_int_equal(item_count, 2);
	close(shm_fd);
}

static struct nt_collected dump(enum nt_collected_kind kind, const char *name, const char *text)
{
	struct nt_collected item = { .kind = kind, .why = { "it is too long" } };

	snprintf(item.name, sizeof(item.name), "%s", name);
	item.text = text ? strdup(text) : NULL;
	item.bytes = text ? strlen(text) : 0;
	return item;
}

static void the_largest_communicators_are_read(void **state)
{
	struct nt_collected all[NT_TOPOLOGIES_MAX + 8];
	struct nt_topologies topologies;
	char name[64];
	size_t n = 0;

	for (int i = 0; i < NT_TOPOLOGIES_MAX + 4; i++) {
		snprintf(name, sizeof(name), "%016x.0.%d.2", i, i + 2);
		all[n++] = dump(NT_COLLECTED_GRAPHS, name, GRAPHS);
	}
	all[n++] = dump(NT_COLLECTED_DEVICES, "0000000000000013.0.21.2", SYSTEM);
	all[n++] = dump(NT_COLLECTED_GRAPHS, "000000000000000z.0.99.2", GRAPHS);
	all[n++] = dump(NT_COLLECTED_GRAPHS, "0000000000000001.0.9999999999.2", GRAPHS);
	all[n++] = dump(NT_COLLECTED_RECORD, "0000000000000001.0.99.2", GRAPHS);
	nt_topologies_read(&topologies, all, n);
	assert_int_equal(topologies.count, NT_TOPOLOGIES_MAX);
	assert_string_equal(topologies.text[0],
			    "{\"id\":\"0000000000000013\",\"rank\":0,\"ranks\":21,\"nodes\":2,"
			    "\"gpus\":[{\"dev\":0,\"nvlinks\":0}],\"nics\":[],\"graphs\":[{"
			    "\"name\":\"ring\",\"channels\":4,\"paths\":[]}]}");
	assert_non_null(strstr(topologies.text[1], "\"no_devices\":\"there is none\""));
	nt_topologies_fini(&topologies);
	for (size_t i = 0; i < n; i++)
		free(all[i].text);
}

static void what_cannot_be_read_is_told(void **state)
{
	const struct nt_collected one = dump(NT_COLLECTED_GRAPHS, "0000000000000001.0.4.1", NULL);
	struct nt_topologies topologies;

	nt_topologies_read(&topologies, &one, 1);
	assert_int_equal(topologies.count, 1);
	assert_non_null(strstr(topologies.text[0], "\"no_graphs\":\"it is too long\","
						   "\"no_devices\":\"there is none\""));
	nt_topologies_fini(&topologies);
	nt_topologies_read(&topologies, NULL, 0);
	assert_int_equal(topologies.count, 0);
}

UNIT_TESTS_EACH(begin, remove_top, a_task_has_files_of_its_own,
		a_nodes_only_task_has_a_rank_for_each_gpu, the_users_own_files_stay,
		a_node_without_memory_has_a_file_all_the_same, a_node_alone_asks_for_no_devices,
		those_of_the_step_around_it_go, dumps_are_left_with_their_communicators,
		the_largest_communicators_are_read, what_cannot_be_read_is_told);

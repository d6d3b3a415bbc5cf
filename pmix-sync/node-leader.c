/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/node-leader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/names.h"
#include "pmix-sync/read-pace.h"

#define NT_TICK_MS 2 /* while something is pending: shared memory costs nothing */
#define NT_IDLE_MS 50 /* otherwise */
#define NT_LEAVE_MS 10000 /* leave PMIx after so long with nothing pending */
#define NT_LEAVES 64u /* ... at most so often: each time costs memory */
#define NT_APPEND_MAX (256 * 1024)

struct nt_node_leader {
	struct nt_node_leader_config config;
	struct nt_agree *agree;
	struct nt_log *log; /* NULL: no other node can be reached */
	struct nt_reason why; /* why there is no log */
	struct nt_reason elsewhere; /* of a step of one node: why others cannot be reached */
	bool locked; /* as the node's only leader */
	struct {
		uint64_t ms, listened_ms; /* of the last read */
	} * polled; /* by node */
	/* time of the last step; listening time so far */
	uint64_t stepped_ms, listened_ms;
	uint64_t pending_ms; /* when something was last pending */
	uint8_t *buffer;
};

static int node_of_task(void *arg, uint32_t task)
{
	struct nt_node_leader *leader = arg;

	const struct nt_nodes *nodes = leader->log ? nt_log_nodes(leader->log) : NULL;

	if (!nodes)
		return 0;
	return task < nodes->tasks ? (int)nodes->node_of[task] : -1;
}

static const char *node_name(void *arg, uint32_t node)
{
	struct nt_node_leader *leader = arg;

	return leader->log ? nt_log_nodes(leader->log)->name[node] : "this node";
}

static int create_agree(struct nt_node_leader *leader, struct nt_error *err)
{
	struct nt_agree_config config = {
		.shm = leader->config.shm,
		.hooks = leader->config.hooks,
		.nodes = leader->log ? nt_log_nodes(leader->log)->nodes : 1,
		.self = leader->log ? nt_log_self(leader->log) : 0,
		.tasks = leader->log ? nt_log_nodes(leader->log)->tasks : leader->config.tasks,
		.node_of_task = node_of_task,
		.node_name = node_name,
		.node_arg = leader,
		.join_ms = leader->config.join_ms,
		.join_calls = leader->config.join_calls,
		.agree_ms = leader->config.agree_ms,
		.elsewhere = leader->config.nodes < 2 ? &leader->elsewhere : NULL,
		.deaf = leader->why.id != NT_REASON_NONE ? &leader->why : NULL,
	};

	leader->polled = calloc(config.nodes, sizeof(*leader->polled));
	leader->buffer = malloc(NT_APPEND_MAX);
	if (!leader->polled || !leader->buffer)
		return nt_error_set(err, "out of memory");
	leader->agree = nt_agree_create(&config, err);
	return leader->agree ? 0 : -1;
}

/* A lock of this descriptor, whatever others of the memory are closed. The kernel releases it
 * however the process ends. */
static int lock_node(int fd, short type)
{
	struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole);
}

/* In steps with logs there is only one leader ever: entries are numbered by node, and others must
 * know whom to ask. False: perhaps later. */
static bool open_log(struct nt_node_leader *leader)
{
	const struct nt_node_leader_config *config = &leader->config;
	bool later = false;

	nt_log_elsewhere(&leader->elsewhere);
	if (config->nodes < 2)
		return true;
	if (config->local_task != 0)
		nt_reason_set(&leader->why, NT_REASON_FIRST_TASK);
	else if (atomic_load(&config->shm->leader_pid) != 0)
		nt_reason_set(&leader->why, NT_REASON_LEADER);
	else
		leader->log = nt_log_open(config->task, &later, &leader->why);
	return !later || config->late;
}

struct nt_node_leader *nt_node_leader_create(const struct nt_node_leader_config *config,
					     struct nt_error *err)
{
	struct nt_node_leader *leader;
	bool first = config->local_task == 0 && atomic_load(&config->shm->leader_pid) == 0;

	if (config->nodes > 1 && !first && !config->late) {
		nt_error_set(err, "another process is the leader of this node");
		return NULL;
	}
	leader = calloc(1, sizeof(*leader));
	if (!leader) {
		nt_error_set(err, "out of memory");
		return NULL;
	}
	leader->config = *config;
	leader->locked = lock_node(config->fd, F_WRLCK) == 0;
	if (!leader->locked) {
		nt_error_set(err, "another process is the leader of this node");
		nt_node_leader_destroy(leader);
		return NULL;
	}
	if (!open_log(leader)) {
		nt_error_set(err, "%s", leader->why.text);
		nt_node_leader_destroy(leader);
		return NULL;
	}
	atomic_store(&config->shm->leader_pid, (uint32_t)getpid());
	if (create_agree(leader, err) < 0) {
		nt_node_leader_destroy(leader);
		return NULL;
	}
	return leader;
}

/* Append entries. They take effect here once others can read them. */
static void send_entries(struct nt_node_leader *leader, bool pending, uint64_t now_ms)
{
	const uint8_t *bytes;
	size_t count;

	/* Do not join PMIx again just for refusals: nobody waits for them. */
	if (!pending && leader->log && nt_log_is_away(leader->log))
		return;
	/* Entries that failed before come first. */
	while ((count = nt_agree_out(leader->agree, &bytes)) > 0) {
		if (!leader->log || nt_log_append(leader->log, bytes, count, NULL) < 0)
			return;
		nt_agree_sent(leader->agree, now_ms);
	}
}

static void read_logs(struct nt_node_leader *leader, uint64_t now_ms)
{
	uint32_t node;
	size_t count;

	for (;;) {
		count = nt_log_take(leader->log, &node, leader->buffer, NT_APPEND_MAX);
		if (count == 0)
			return;
		nt_agree_in(leader->agree, node, leader->buffer, count, now_ms);
	}
}

static void poll_logs(struct nt_node_leader *leader, uint64_t now_ms)
{
	struct nt_log *log = leader->log;
	struct nt_log_counts so_far = nt_log_count(log);
	uint32_t nodes = nt_log_nodes(log)->nodes;
	uint64_t passed_ms = now_ms - leader->stepped_ms, cost = 0;
	uint32_t wanted = 0;
	bool limited = nt_pace_limited(so_far.fetches, so_far.spent, nodes);

	for (uint32_t n = 0; n < nodes; n++) {
		if (nt_agree_listens(leader->agree, n) == NT_AGREE_DEAF)
			continue;
		cost += nt_log_read_cost(log, n);
		wanted++;
	}
	if (wanted == 0)
		return;
	leader->listened_ms += passed_ms < NT_IDLE_MS ? passed_ms : NT_IDLE_MS;
	if (limited)
		nt_agree_limit(leader->agree);
	for (uint32_t n = 0; n < nodes; n++) {
		enum nt_agree_need need = nt_agree_listens(leader->agree, n);
		bool urgent = need == NT_AGREE_IN_DOUBT;

		if (need < (limited ? NT_AGREE_OWED : NT_AGREE_LISTENS) ||
		    now_ms - leader->polled[n].ms <
			    nt_pace_ms(leader->polled[n].listened_ms, wanted, cost, urgent))
			continue;
		leader->polled[n].ms = now_ms;
		leader->polled[n].listened_ms = leader->listened_ms;
		nt_log_poll(log, n, urgent);
	}
}

/* Slurm ends the step if a PMIx client dies: be one only while there is something to agree on. */
static void leave_when_calm(struct nt_node_leader *leader, bool pending, uint64_t now_ms)
{
	if (pending || leader->pending_ms == 0) {
		leader->pending_ms = now_ms;
		return;
	}
	if (now_ms - leader->pending_ms >= NT_LEAVE_MS &&
	    nt_log_count(leader->log).leaves < NT_LEAVES)
		nt_log_leave(leader->log);
}

uint32_t nt_node_leader_step(struct nt_node_leader *leader, uint64_t now_ms)
{
	bool pending;

	atomic_fetch_add(&leader->config.shm->beat, 1);
	if (leader->log) {
		nt_log_stand_aside(leader->log);
		read_logs(leader, now_ms);
	}
	pending = nt_agree_step(leader->agree, now_ms);
	send_entries(leader, pending, now_ms);
	if (leader->log)
		poll_logs(leader, now_ms);
	if (leader->log)
		leave_when_calm(leader, pending, now_ms);
	leader->stepped_ms = now_ms;
	return pending ? NT_TICK_MS : NT_IDLE_MS;
}

void nt_node_leader_destroy(struct nt_node_leader *leader)
{
	if (!leader)
		return;
	if (leader->agree && leader->log) {
		nt_agree_leave(leader->agree, 0);
		send_entries(leader, false, 0);
	}
	nt_log_close(leader->log);
	nt_agree_destroy(leader->agree);
	free(leader->polled);
	free(leader->buffer);
	if (leader->locked)
		(void)lock_node(leader->config.fd, F_UNLCK);
	free(leader);
}

struct nt_node_leader_counts nt_node_leader_count(const struct nt_node_leader *leader)
{
	struct nt_node_leader_counts counts = { .agree = nt_agree_count(leader->agree),
						.nodes = 1 };

	if (leader->log) {
		counts.log = nt_log_count(leader->log);
		counts.nodes = nt_log_nodes(leader->log)->nodes;
	}
	return counts;
}

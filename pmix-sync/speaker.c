/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* speaker.c - see speaker.h */
#include "pmix-sync/speaker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/names.h"
#include "pmix-sync/log.h"
#include "pmix-sync/pace.h"

#define NT_TICK_MS 2 /* while something is pending: the board costs nothing to look at */
#define NT_IDLE_MS 50 /* otherwise */
#define NT_ASIDE_MS 10000 /* without anything pending: PMIx is left until something is */
#define NT_ASIDES 64u /* ... so many times: each costs some memory */
#define NT_APPEND_MAX (256 * 1024)
#define NT_LOCK_FILE "speaker"

struct nt_speaker {
	struct nt_speaker_config config;
	struct nt_agree *agree;
	struct nt_log *log; /* NULL: this node speaks to nobody */
	struct nt_error why;
	int lock; /* of the node's one speaker */
	struct {
		uint64_t ms, listened_ms; /* of the last read */
	} * polled; /* by node */
	/* the last step; for how long any log was listened to */
	uint64_t stepped_ms, listened_ms;
	uint64_t pending_ms; /* when anything was pending last */
	uint8_t *buffer;
};

static int node_of_task(void *arg, uint32_t task)
{
	struct nt_speaker *speaker = arg;

	return speaker->log ? nt_log_node_of_task(speaker->log, task) : 0;
}

static const char *node_name(void *arg, uint32_t node)
{
	struct nt_speaker *speaker = arg;

	return speaker->log ? nt_log_node_name(speaker->log, node) : "this node";
}

static int create_agree(struct nt_speaker *speaker, struct nt_error *err)
{
	struct nt_agree_config config = {
		.board = speaker->config.board,
		.hooks = speaker->config.hooks,
		.nodes = speaker->log ? nt_log_nodes(speaker->log) : 1,
		.self = speaker->log ? nt_log_self(speaker->log) : 0,
		.tasks = speaker->log ? nt_log_tasks(speaker->log) : speaker->config.tasks,
		.node_of_task = node_of_task,
		.node_name = node_name,
		.node_arg = speaker,
		.join_ms = speaker->config.join_ms,
		.join_calls = speaker->config.join_calls,
		.agree_ms = speaker->config.agree_ms,
		.deaf = speaker->why.text[0] ? speaker->why.text : NULL,
	};

	speaker->polled = calloc(config.nodes, sizeof(*speaker->polled));
	speaker->buffer = malloc(NT_APPEND_MAX);
	if (!speaker->polled || !speaker->buffer)
		return nt_error_set(err, "out of memory");
	speaker->agree = nt_agree_create(&config, err);
	return speaker->agree ? 0 : -1;
}

/* The kernel gives the lock back when the process ends, however it ends. */
static int lock_node(const char *dir)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[NT_PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, NT_LOCK_FILE);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && fcntl(fd, F_SETLK, &whole) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* With logs the first speaker is the only one: their entries are numbered once per node and step,
 * and the others know whom to ask. */
static void open_log(struct nt_speaker *speaker)
{
	const struct nt_speaker_config *config = &speaker->config;

	if (config->nodes < 2)
		return;
	if (config->local_task != 0)
		nt_error_set(
			&speaker->why,
			"the first task of a node has no NCCL rank: other nodes cannot be reached");
	else if (atomic_load(&config->board->speaker_pid) != 0)
		nt_error_set(&speaker->why, "the process that spoke for a node has ended");
	else
		speaker->log = nt_log_open(config->task, &speaker->why);
}

struct nt_speaker *nt_speaker_create(const struct nt_speaker_config *config, struct nt_error *err)
{
	struct nt_speaker *speaker;
	bool first = config->local_task == 0 && atomic_load(&config->board->speaker_pid) == 0;

	if (config->nodes > 1 && !first && !config->late) {
		nt_error_set(err, "another process of this node speaks");
		return NULL;
	}
	speaker = calloc(1, sizeof(*speaker));
	if (!speaker) {
		nt_error_set(err, "out of memory");
		return NULL;
	}
	speaker->config = *config;
	speaker->lock = lock_node(config->dir);
	if (speaker->lock < 0) {
		nt_error_set(err, "another process of this node speaks");
		nt_speaker_destroy(speaker);
		return NULL;
	}
	open_log(speaker);
	atomic_store(&config->board->speaker_pid, (uint32_t)getpid());
	if (create_agree(speaker, err) < 0) {
		nt_speaker_destroy(speaker);
		return NULL;
	}
	return speaker;
}

/* Hand the log what the state machine wants said; it takes effect here only once others can read
 * it. */
static void say(struct nt_speaker *speaker, bool pending, uint64_t now_ms)
{
	const uint8_t *bytes;
	size_t count;

	/* Refusals for which nobody waits do not make this process a client of PMIx again. */
	if (!pending && speaker->log && nt_log_stands_aside(speaker->log))
		return;
	/* What failed before is handed out alone, then what has come since. */
	while ((count = nt_agree_out(speaker->agree, &bytes)) > 0) {
		if (!speaker->log || nt_log_append(speaker->log, bytes, count, NULL) < 0)
			return;
		nt_agree_sent(speaker->agree, now_ms);
	}
}

static void hear(struct nt_speaker *speaker, uint64_t now_ms)
{
	uint32_t node;
	size_t count;

	for (;;) {
		count = nt_log_take(speaker->log, &node, speaker->buffer, NT_APPEND_MAX);
		if (count == 0)
			return;
		nt_agree_in(speaker->agree, node, speaker->buffer, count, now_ms);
	}
}

static void poll_logs(struct nt_speaker *speaker, uint64_t now_ms)
{
	struct nt_log *log = speaker->log;
	struct nt_log_counts so_far = nt_log_count(log);
	uint32_t nodes = nt_log_nodes(log);
	uint64_t passed_ms = now_ms - speaker->stepped_ms, cost = 0;
	uint32_t wanted = 0;
	bool limited = nt_pace_limited(so_far.fetches, so_far.spent, nodes);

	for (uint32_t n = 0; n < nodes; n++) {
		if (nt_agree_listens(speaker->agree, n) == NT_AGREE_DEAF)
			continue;
		cost += nt_log_read_cost(log, n);
		wanted++;
	}
	if (wanted == 0)
		return;
	speaker->listened_ms += passed_ms < NT_IDLE_MS ? passed_ms : NT_IDLE_MS;
	if (limited)
		nt_agree_limit(speaker->agree);
	for (uint32_t n = 0; n < nodes; n++) {
		enum nt_agree_need need = nt_agree_listens(speaker->agree, n);
		bool urgent = need == NT_AGREE_IN_DOUBT;

		if (need < (limited ? NT_AGREE_OWED : NT_AGREE_LISTENS) ||
		    now_ms - speaker->polled[n].ms <
			    nt_pace_ms(speaker->polled[n].listened_ms, wanted, cost, urgent))
			continue;
		speaker->polled[n].ms = now_ms;
		speaker->polled[n].listened_ms = speaker->listened_ms;
		nt_log_poll(log, n, urgent);
	}
}

/* Slurm ends the whole step when a process that is a PMIx client dies. So nobody is one for
 * longer than there is something to agree on. */
static void stand_aside_when_calm(struct nt_speaker *speaker, bool pending, uint64_t now_ms)
{
	if (pending || speaker->pending_ms == 0) {
		speaker->pending_ms = now_ms;
		return;
	}
	if (now_ms - speaker->pending_ms >= NT_ASIDE_MS &&
	    nt_log_count(speaker->log).asides < NT_ASIDES)
		nt_log_stand_aside(speaker->log);
}

uint32_t nt_speaker_step(struct nt_speaker *speaker, uint64_t now_ms)
{
	bool pending;

	atomic_fetch_add(&speaker->config.board->beat, 1);
	if (speaker->log)
		hear(speaker, now_ms);
	pending = nt_agree_step(speaker->agree, now_ms);
	say(speaker, pending, now_ms);
	if (speaker->log)
		poll_logs(speaker, now_ms);
	if (speaker->log)
		stand_aside_when_calm(speaker, pending, now_ms);
	speaker->stepped_ms = now_ms;
	return pending ? NT_TICK_MS : NT_IDLE_MS;
}

const char *nt_speaker_why(const struct nt_speaker *speaker)
{
	return speaker->why.text;
}

void nt_speaker_destroy(struct nt_speaker *speaker)
{
	if (!speaker)
		return;
	if (speaker->agree && speaker->log) {
		nt_agree_leave(speaker->agree, 0);
		say(speaker, false, 0);
	}
	nt_log_close(speaker->log);
	nt_agree_destroy(speaker->agree);
	free(speaker->polled);
	free(speaker->buffer);
	if (speaker->lock >= 0)
		close(speaker->lock);
	free(speaker);
}

struct nt_speaker_counts nt_speaker_count(const struct nt_speaker *speaker)
{
	struct nt_speaker_counts counts = { .agree = nt_agree_count(speaker->agree), .nodes = 1 };

	if (speaker->log) {
		counts.log = nt_log_count(speaker->log);
		counts.nodes = nt_log_nodes(speaker->log);
	}
	return counts;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* speaker.c - see speaker.h */
#include "pmix-sync/speaker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmix-sync/log.h"

#define NT_TICK_MS 2			/* while something is pending: the board costs nothing to look at */
#define NT_IDLE_MS 50			/* otherwise */
#define NT_POLL_FIRST_MS 10		/* between two reads of a log that has just moved */
#define NT_POLL_LAST_MS 2000		/* ... and of one that long has not */
#define NT_POLL_SLOW_MS 20000		/* ... and where nothing has moved for a minute */
#define NT_APPEND_MAX (256 * 1024)

struct reader {
	uint64_t polled_ms;
	uint32_t interval_ms;
	bool listening;
};

struct nt_speaker {
	struct nt_speaker_config config;
	struct nt_agree *agree;
	struct nt_log *log;		/* NULL: this node speaks to nobody */
	struct nt_error why;
	struct reader *reader;		/* by node */
	uint64_t moved_ms;		/* when any log last moved */
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
		.deaf = speaker->why.text[0] ? speaker->why.text : NULL,
	};

	speaker->reader = calloc(config.nodes, sizeof(*speaker->reader));
	speaker->buffer = malloc(NT_APPEND_MAX);
	if (!speaker->reader || !speaker->buffer)
		return nt_error_set(err, "out of memory");
	speaker->agree = nt_agree_create(&config, err);
	return speaker->agree ? 0 : -1;
}

/* One process speaks for the node. Where a step has one node, the next program of a script may follow a speaker that
 * has ended; with logs it may not: their entries are numbered once per node and step. */
static bool claim(const struct nt_speaker_config *config, uint32_t *other)
{
	_Atomic uint32_t *pid = &config->board->speaker_pid;

	*other = 0;
	if (atomic_compare_exchange_strong(pid, other, (uint32_t)getpid()))
		return true;
	if (config->nodes > 1 || kill((pid_t)*other, 0) == 0 || errno != ESRCH)
		return false;
	return atomic_compare_exchange_strong(pid, other, (uint32_t)getpid());
}

struct nt_speaker *nt_speaker_create(const struct nt_speaker_config *config, struct nt_error *err)
{
	struct nt_speaker *speaker;
	uint32_t other;

	if (config->local_task != 0) {
		nt_error_set(err, "another task of this node speaks");
		return NULL;
	}
	if (!claim(config, &other)) {
		nt_error_set(err, "process %u of this node speaks", other);
		return NULL;
	}
	speaker = calloc(1, sizeof(*speaker));
	if (!speaker) {
		nt_error_set(err, "out of memory");
		return NULL;
	}
	speaker->config = *config;
	if (config->nodes > 1)
		speaker->log = nt_log_open(config->task, &speaker->why);
	if (create_agree(speaker, err) < 0) {
		nt_speaker_destroy(speaker);
		return NULL;
	}
	return speaker;
}

/* Hand the log what the state machine wants said; it takes effect here only once others can read it. */
static void say(struct nt_speaker *speaker, uint64_t now_ms)
{
	const uint8_t *bytes;
	size_t count = nt_agree_out(speaker->agree, &bytes);

	if (count == 0)
		return;
	if (!speaker->log || nt_log_append(speaker->log, bytes, count, NULL) < 0)
		return;
	speaker->moved_ms = now_ms;
	nt_agree_sent(speaker->agree, now_ms);
}

static bool hear(struct nt_speaker *speaker, uint64_t now_ms)
{
	bool moved = false;
	uint32_t node;
	size_t count;

	for (;;) {
		count = nt_log_take(speaker->log, &node, speaker->buffer, NT_APPEND_MAX);
		if (count == 0)
			break;
		moved = true;
		speaker->reader[node].interval_ms = NT_POLL_FIRST_MS;
		speaker->moved_ms = now_ms;
		nt_agree_in(speaker->agree, node, speaker->buffer, count, now_ms);
	}
	return moved;
}

/* Reads are spaced by how long a log has been still, and by the number of logs. */
static void poll_one(struct nt_speaker *speaker, uint32_t node, uint32_t spread, uint64_t now_ms)
{
	struct reader *reader = &speaker->reader[node];
	uint32_t last_ms = now_ms - speaker->moved_ms > 60000 ? NT_POLL_SLOW_MS : NT_POLL_LAST_MS;

	if (!reader->listening)
		reader->interval_ms = NT_POLL_FIRST_MS;
	reader->listening = true;
	if (now_ms - reader->polled_ms < (uint64_t)reader->interval_ms * spread)
		return;
	reader->polled_ms = now_ms;
	reader->interval_ms += reader->interval_ms / 4 + 1;
	if (reader->interval_ms > last_ms)
		reader->interval_ms = last_ms;
	nt_log_poll(speaker->log, node);
}

static void poll_logs(struct nt_speaker *speaker, uint64_t now_ms)
{
	uint32_t nodes = nt_log_nodes(speaker->log);
	uint32_t wanted = 0, spread;

	for (uint32_t n = 0; n < nodes; n++)
		wanted += nt_agree_listens(speaker->agree, n);
	spread = 1 + wanted / 8;
	for (uint32_t n = 0; n < nodes; n++) {
		if (nt_agree_listens(speaker->agree, n))
			poll_one(speaker, n, spread, now_ms);
		else
			speaker->reader[n].listening = false;
	}
}

uint32_t nt_speaker_step(struct nt_speaker *speaker, uint64_t now_ms)
{
	bool pending;

	atomic_fetch_add(&speaker->config.board->beat, 1);
	if (speaker->log)
		(void)hear(speaker, now_ms);
	pending = nt_agree_step(speaker->agree, now_ms);
	say(speaker, now_ms);
	if (speaker->log)
		poll_logs(speaker, now_ms);
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
		say(speaker, 0);
	}
	nt_log_close(speaker->log);
	nt_agree_destroy(speaker->agree);
	free(speaker->reader);
	free(speaker->buffer);
	free(speaker);
}

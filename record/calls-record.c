/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/calls-record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/read.h"

#define PROCESS_ROW(...) NT_FIELD_ROW(struct nt_calls_process, __VA_ARGS__)
const struct nt_fields nt_calls_fields = NT_FIELDS(NT_CALLS_FIELDS(PROCESS_ROW));

#define COMM_ROW(...) NT_FIELD_ROW(struct nt_calls_rank, __VA_ARGS__)
const struct nt_fields nt_calls_comm_fields = NT_FIELDS(NT_CALLS_COMM_FIELDS(COMM_ROW));

/* Consecutive calls of one kind. */
struct stretch {
	NT_CALLS_LAST_FIELDS(NT_FIELD_MEMBER)
};

#define LAST_ROW(...) NT_FIELD_ROW(struct stretch, __VA_ARGS__)
const struct nt_fields nt_calls_last_fields = NT_FIELDS(NT_CALLS_LAST_FIELDS(LAST_ROW));

/* ---- write */

static int64_t bounded(uint64_t value)
{
	return value > NT_COUNT_MAX ? NT_COUNT_MAX : (int64_t)value;
}

static unsigned kept_of(uint64_t begun)
{
	return begun < NT_CALLS_LAST ? (unsigned)begun : NT_CALLS_LAST;
}

static void put_last(struct nt_json_writer *put, const struct nt_calls_comm *comm, uint64_t begun)
{
	const unsigned kept = kept_of(begun);
	unsigned i = 0;

	nt_json_put_open(put, NT_CALLS_LAST_LIST, '[');
	while (i < kept) {
		const uint16_t kind = comm->last[(begun - 1 - i) % NT_CALLS_LAST];
		struct stretch stretch = { .coll = kind >> 8,
					   .bytes = (int64_t)nt_band_floor(kind & 127) };

		for (; i < kept && comm->last[(begun - 1 - i) % NT_CALLS_LAST] == kind; i++)
			stretch.calls++;
		if (stretch.coll >= NT_COLLS)
			break;
		nt_json_put_open(put, NULL, '{');
		nt_fields_put(put, &nt_calls_last_fields, &stretch);
		nt_json_put_close(put);
	}
	nt_json_put_close(put);
}

/* Returns whether it was in use, and had room. */
static bool put_comm(struct nt_json_writer *put, const struct nt_calls_comm *comm)
{
	const uint32_t state = atomic_load_explicit(&comm->state, memory_order_acquire);
	const uint64_t begun = atomic_load_explicit(&comm->begun, memory_order_acquire);
	struct nt_json_writer before = *put;
	struct nt_calls_rank out;

	if ((state != NT_CALLS_OPEN && state != NT_CALLS_LEFT) || comm->rank < 0)
		return false;
	nt_fields_clear(&nt_calls_comm_fields, &out);
	snprintf(out.id, sizeof(out.id), "%016" PRIx64, comm->id);
	out.rank = comm->rank;
	out.ranks = comm->ranks;
	out.nodes = comm->nodes;
	out.begun = bounded(begun);
	if (comm->ended > 0)
		out.ended = bounded(comm->ended);
	out.moved_ms = bounded(comm->moved_ms);
	out.left = state == NT_CALLS_LEFT;
	nt_json_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_calls_comm_fields, &out);
	put_last(put, comm, begun);
	nt_json_put_close(put);
	if (!put->full)
		return true;
	*put = before;
	return false;
}

size_t nt_calls_format(const struct nt_calls *calls, int64_t read_ms, char *out, size_t out_bytes)
{
	struct nt_calls_process head;
	struct nt_json_writer put;
	unsigned count = 0;

	nt_fields_clear(&nt_calls_fields, &head);
	head.task = calls->task;
	head.pid = calls->pid;
	snprintf(head.node, sizeof(head.node), "%.63s", calls->node);
	head.seen_ms = bounded(calls->seen_ms);
	head.read_ms = read_ms;
	head.stall_s = calls->stall_s;
	head.end = calls->ended != 0;
	nt_json_put_begin(&put, out, out_bytes, NT_RECORD_DEPTH);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_calls_fields, &head);
	nt_json_put_open(&put, NT_CALLS_COMM_LIST, '[');
	for (unsigned i = 0; i < NT_CALLS_COMMS; i++)
		count += put_comm(&put, &calls->comm[i]);
	nt_json_put_close(&put);
	nt_json_put_close(&put);
	return put.full || count == 0 ? 0 : put.used;
}

/* ---- read */

static int read_last(struct nt_calls_rank *rank, struct nt_error *err)
{
	const size_t count = rank->last_array ? json_object_array_length(rank->last_array) : 0;

	for (size_t i = 0; i < count; i++) {
		struct stretch stretch;

		if (nt_fields_read_item(&nt_calls_last_fields, rank->last_array, i, &stretch,
					NT_READ_TO_COPY, err) < 0)
			return -1;
		if (stretch.coll < 0 || stretch.bytes < 0)
			return 0;
		for (; stretch.calls > 0 && rank->last_count < NT_CALLS_LAST; stretch.calls--)
			rank->last[rank->last_count++] = nt_calls_kind(
				(unsigned)stretch.coll, nt_band((size_t)stretch.bytes));
	}
	return 0;
}

static int read_comm(struct nt_calls_rank *rank, const struct nt_calls_process *process,
		     json_object *value, struct nt_error *err)
{
	memset(rank, 0, sizeof(*rank));
	nt_fields_clear(&nt_calls_comm_fields, rank);
	rank->task = process->task;
	rank->pid = process->pid;
	rank->seen_ms = process->seen_ms;
	rank->read_ms = process->read_ms < 0 ? process->seen_ms : process->read_ms;
	rank->stall_s = process->stall_s;
	rank->end = process->end;
	memcpy(rank->node, process->node, sizeof(rank->node));
	if (!json_object_is_type(value, json_type_object))
		return nt_error_set(err, "calls: not a list of objects");
	if (nt_fields_read(&nt_calls_comm_fields, value, rank, NT_READ_TO_COPY, err) < 0 ||
	    read_last(rank, err) < 0)
		return -1;
	rank->last_array = NULL; /* the text's */
	if (!rank->id[0] || rank->rank < 0 || rank->begun < 0 || rank->moved_ms < 0)
		return nt_error_set(err, "calls: id, rank, begun or moved_ms is missing");
	return 0;
}

static int read_all(json_object *root, struct nt_calls_rank **ranks, size_t *count,
		    struct nt_error *err)
{
	struct nt_calls_process process;
	size_t most;

	nt_fields_clear(&nt_calls_fields, &process);
	if (nt_fields_read(&nt_calls_fields, root, &process, NT_READ_TO_COPY, err) < 0)
		return -1;
	if (!process.comm_array || process.seen_ms < 0)
		return nt_error_set(err, "calls: comms or seen_ms is missing");
	most = json_object_array_length(process.comm_array);
	if (most > NT_CALLS_COMMS)
		return nt_error_set(err, "calls: more than %d communicators", NT_CALLS_COMMS);
	*ranks = calloc(most + 1, sizeof(**ranks));
	if (!*ranks)
		return nt_error_set(err, "no memory for calls");
	for (; *count < most; (*count)++) {
		if (read_comm(&(*ranks)[*count], &process,
			      json_object_array_get_idx(process.comm_array, *count), err) < 0)
			return -1;
	}
	return 0;
}

int nt_calls_read(const char *text, size_t text_bytes, struct nt_calls_rank **ranks, size_t *count,
		  struct nt_error *err)
{
	json_object *root = NULL;
	int rc = -1;

	*ranks = NULL;
	*count = 0;
	if (nt_json_parse(text, text_bytes, &root, err) == 0) {
		if (json_object_is_type(root, json_type_object))
			rc = read_all(root, ranks, count, err);
		else
			nt_error_set(err, "calls: not an object");
	}
	json_object_put(root);
	if (rc < 0) {
		free(*ranks);
		*ranks = NULL;
		*count = 0;
	}
	return rc;
}

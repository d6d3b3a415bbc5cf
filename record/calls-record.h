/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calls-record.h - how many calls each rank has begun and ended
 *
 * A line of a node's part of the long form (long.h), from a process's tray (contract/tray-
 * layout.h):
 *
 *	{"calls":{ NT_CALLS_FIELDS, "comms":[{ NT_CALLS_COMM_FIELDS,
 *	   "last":[{ NT_CALLS_LAST_FIELDS }, ...] }, ...]}}
 *
 * The tray is a user's: nothing in the copy that is read is trusted.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; the caller frees *ranks of nt_calls_read.
 * Errors:   -1 and *err.
 * Units:    in the names; milliseconds since 1970.
 */
#ifndef NT_RECORD_CALLS_H
#define NT_RECORD_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include "contract/tray-layout.h"
#include "lib/error.h"
#include "record/rank.h"

#define NT_CALLS_COMM_LIST "comms"
#define NT_CALLS_LAST_LIST "last"

struct nt_calls_process {
	NT_CALLS_FIELDS(NT_FIELD_MEMBER)
};

struct nt_calls_rank {
	NT_CALLS_COMM_FIELDS(NT_FIELD_MEMBER)
	/* Of its process: */
	int64_t task, pid, seen_ms, read_ms, stall_s;
	bool end;
	char node[64];
	/* nt_calls_kind() of the newest calls, the newest first */
	uint16_t last[NT_CALLS_LAST];
	unsigned last_count;
};

extern const struct nt_fields nt_calls_fields, nt_calls_comm_fields, nt_calls_last_fields;

/* Formats calls, copied at read_ms, as the value of such a line. Returns its length; 0: there is no
 * communicator. Communicators without room are omitted. */
size_t nt_calls_format(const struct nt_calls *calls, int64_t read_ms, char *out, size_t out_bytes);

int nt_calls_read(const char *text, size_t text_bytes, struct nt_calls_rank **ranks, size_t *count,
		  struct nt_error *err);

#endif

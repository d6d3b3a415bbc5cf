/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longform.h - how nt-recordd writes a node's part of a step's long form (record/long.h)
 *
 * A child with the user's rights reads the ranks' records, reports that, and then writes: from then
 * on the step may end. The user chooses the directory, which may hang, be
 * full or be missing; only this child waits for it.
 *
 * Threads:  nt-recordd's one, and its child's.
 * Memory:   values, except struct nt_ranks.
 * Errors:   as text in why.
 * Units:    points in time on nt_clock_ms().
 */
#ifndef NT_LONGFORM_H
#define NT_LONGFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recordd/collect.h"
#include "spank/arguments.h"
#include "recordd/work.h"
#include "recordd/topologies.h"

#define NT_LONGFORM_EVERY_MS 60000 /* between two while the step stalls, at least */
#define NT_LONGFORM_LIMIT_MS 20000 /* for one */
#define NT_LONGFORM_WHY 128
#define NT_LONGFORM_NODES 128

/* ---- in nt-recordd */

enum nt_longform_stage {
	NT_LONGFORM_ENDED, /* or none has begun */
	NT_LONGFORM_BEGUN,
	NT_LONGFORM_READ, /* it needs the node's memory no longer */
	NT_LONGFORM_PLACED, /* it has a directory to write into */
};

struct nt_longform {
	const struct nt_arguments *arguments;
	int64_t next_ms; /* when the next one may start */
	uint64_t changes; /* up to those that were written last, or are being written */
	enum nt_longform_stage stage; /* of the child */
	bool written; /* there is a part */
	char why[NT_LONGFORM_WHY]; /* why the last one was not written; "": it was, or none began */
};

bool nt_longform_wanted(const struct nt_arguments *arguments);
/* Of several nodes, not too many to be read at once at the step's end? */
bool nt_longform_of_nodes(const struct nt_arguments *arguments);

/* The job's directory. Returns its length; -1: it does not fit. */
int nt_longform_directory(const struct nt_arguments *arguments, char *out, size_t out_bytes);

/* Is it time to write, after so many changes? */
bool nt_longform_due(const struct nt_longform *longform, uint64_t changes, int64_t now_ms);

/* A child starts, writes a message, ends (work.h). */
void nt_longform_begin(struct nt_longform *longform, uint64_t changes, int64_t now_ms);
bool nt_longform_take_byte(struct nt_longform *longform, char byte);
void nt_longform_end(struct nt_longform *longform, const struct nt_work_result *result);

/* Adds the path of the long form to a step's record, or the reason why there is none.
 * nt_longform_reserve() bytes are kept for it. */
size_t nt_longform_reserve(const struct nt_arguments *arguments);
void nt_longform_tell(const struct nt_longform *longform, char *record, size_t record_bytes);

/* ---- in the child */

struct nt_ranks {
	struct nt_collected *item;
	size_t count;
	struct nt_topologies topologies;
};

/* A visitor (collect.h): keep the item. nt_ranks_sort() once all are there. */
void nt_ranks_keep(void *ranks, struct nt_collected *item);
void nt_ranks_sort(struct nt_ranks *ranks);
void nt_ranks_fini(struct nt_ranks *ranks);

/* The largest part. */
size_t nt_longform_bytes(const struct nt_arguments *arguments);

/* The child's messages to nt-recordd: a byte each, the last one followed by text. */
#define NT_LONGSAY_READ 'r' /* it needs the node's memory no longer */
#define NT_LONGSAY_PLACED 'o' /* the job's directory is there, and it writes into it */
#define NT_LONGSAY_WRITTEN 'w'
#define NT_LONGSAY_NOTHING 'n' /* there are no records */
#define NT_LONGSAY_FAILED 'x' /* why */

/* why: or "". Not 0: it could not be sent. */
int nt_longform_say(int out_fd, char byte, const char *why);
/* Write the part, and report the result. record: the step's record as this node has it, or "". */
int nt_longform_write(const struct nt_arguments *arguments, bool final,
		      const struct nt_ranks *ranks, const char *record, int out_fd);

/* ---- in another child, as root */

/* Creates a user's directory directly below record_dir. In a directory that everybody may write to,
 * another user could create it first: there the user has to create it (record/longwrite.h). If only
 * root may write, root creates it and gives it to the user. Nothing of a user is opened. */
int nt_longform_make_directory(const char *path, uint32_t uid, uint32_t gid, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longform.h - how nt-recordd has a node's part of a step's long form (record/long.h) written
 *
 * A child with the user's rights reads what the ranks have left, says so, and then writes: from
 * then on the step may go, and its directory with it. Where it writes is the user's word, and may
 * hang, be full or be gone; nobody waits for it but this.
 *
 * Threads:  nt-recordd's one, and its child's.
 * Memory:   values, but for struct nt_ranks.
 * Errors:   as words in why.
 * Units:    points in time on nt_clock_ms().
 */
#ifndef NT_LONGFORM_H
#define NT_LONGFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "spank/recordd/collect.h"
#include "spank/arguments.h"
#include "spank/recordd/work.h"
#include "spank/recordd/topologydir.h"

#define NT_LONGFORM_EVERY_MS 60000 /* between two of them while the step runs, at least ... */
#define NT_LONGFORM_SHARE 100 /* ... and so many times what the last one took of a processor */
#define NT_LONGFORM_LIMIT_MS 20000 /* for one */
#define NT_LONGFORM_WHY 128

/* ---- what nt-recordd knows of it */

enum nt_longform_stage {
	NT_LONGFORM_ENDED, /* or there was none */
	NT_LONGFORM_BEGUN,
	NT_LONGFORM_READ, /* it needs the step's directory no longer */
	NT_LONGFORM_PLACED, /* it has a directory to write into */
};

struct nt_longform {
	const struct nt_arguments *arguments;
	int64_t begun_ms; /* when the last one was started */
	int64_t next_ms; /* when the next may be */
	uint64_t signature; /* of the records as they were written last, or are now */
	enum nt_longform_stage stage; /* of the child */
	bool killed; /* the last one was, with nothing done */
	bool written; /* there is a part */
	char why[NT_LONGFORM_WHY]; /* the last one could not be written; "": it was, or never tried */
};

bool nt_longform_wanted(const struct nt_longform *longform);

/* Whether it is time for one, of records with this signature. */
bool nt_longform_due(const struct nt_longform *longform, uint64_t signature, int64_t now_ms);

/* A child begins, of records with this signature; what it says, and its end (work.h). */
void nt_longform_begin(struct nt_longform *longform, uint64_t signature, int64_t now_ms);
bool nt_longform_word(struct nt_longform *longform, char word);
void nt_longform_end(struct nt_longform *longform, const struct nt_work_result *result);

/* Adds to a step's record where its long form is, or why there is none. Room that is kept for it:
 * nt_longform_room(). */
size_t nt_longform_room(const struct nt_arguments *arguments);
void nt_longform_tell(const struct nt_longform *longform, char *record, size_t record_bytes);

/* ---- in the child */

struct nt_ranks {
	struct nt_collected *file; /* name and text are its own */
	size_t count, room;
	struct nt_topologies topologies;
};

/* What lies in the step's directory. */
void nt_ranks_read(struct nt_ranks *ranks, const char *directory);
void nt_ranks_fini(struct nt_ranks *ranks);

size_t nt_longform_bytes(const struct nt_arguments *arguments); /* of a part, at most */
/* What the child says to nt-recordd: a byte each, words behind the last. */
#define NT_LONGSAY_READ 'r' /* it needs the step's directory no longer */
#define NT_LONGSAY_PLACED 'o' /* the job's directory is there, and it writes into it */
#define NT_LONGSAY_WRITTEN 'w'
#define NT_LONGSAY_NOTHING 'n' /* there are no records */
#define NT_LONGSAY_FAILED 'x' /* why */

void nt_longform_say(int out_fd, char word);
/* Write the part, and say how that went. record: the step's, as it is seen here; "": none. */
int nt_longform_write(const struct nt_arguments *arguments, bool final,
		      const struct nt_ranks *ranks, const char *record, int out_fd);

#endif

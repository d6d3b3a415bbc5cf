/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - the records of a node's NCCL processes, summed up to the record of the step
 *
 * A communicator is known by its id; of each of its keys the record that knows most counts, be it
 * the one of the home or of another rank. Communicators of one shape (ranks, nodes) are one in the
 * step's record: calls, calls spent and times are added up, the rest is that of the communicator
 * with the firmest decision and the most calls. The result does not depend on the order in which
 * records are added.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_sum_init first; nt_sum_fini frees all. What is added is copied.
 * Errors:   -1 when memory or a bound runs out; what was added before stays.
 * Units:    in the names; NAN and -1 stand for what is not known.
 */
#ifndef NT_SUM_H
#define NT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "launch/entry.h"
#include "launch/ticket.h"

/* How firm what a key says is; record/rank.h has the words. */
enum nt_sum_state {
	NT_SUM_COUNTED,
	NT_SUM_EXPLORING,
	NT_SUM_OBSERVED,
	NT_SUM_KEPT,
	NT_SUM_COMMITTED
};

struct nt_sum_key {
	int coll;
	int64_t bytes;
	enum nt_sum_state state;
	bool unworthy; /* counted only, since it takes too little of the time */
	int auto_arm, arm; /* -1 unknown */
	double auto_us, arm_us, p;
	double auto_p25_us, auto_p75_us, arm_p25_us, arm_p75_us;
	double own_us[2], period_us[2]; /* AUTO's, the arm's */
	int64_t samples, calls, spent_calls, rechecks, rollbacks;
	double spent_ms, saved_ms;
	int64_t rank; /* whose word this is; ties go to the lowest */
};

struct nt_sum_comm {
	char id[40];
	int64_t rank, ranks, nodes;
	bool joining; /* its ranks have not all been seen */
	bool rejected;
	bool alike; /* its ranks have shown their cards, and these are the same */
	size_t here; /* ranks of it that were added */
	char why[160];
	struct nt_sum_key *keys;
	size_t key_count;
};

#define NT_SUM_PERIODS 64

/* The step marker of one process: a collective that it calls once a step, and how long its steps
 * took. */
struct nt_sum_marker {
	int coll; /* -1: none */
	int64_t bytes, ranks, task;
	int64_t calls; /* periods in all */
	unsigned periods; /* that are kept, in time order */
	float period_us[NT_SUM_PERIODS];
};

/* What all ranks should say alike. */
struct nt_sum_word {
	char text[40];
	bool known; /* somebody has said something */
	bool mixed; /* and somebody something else */
};

struct nt_sum {
	struct nt_sum_comm *comms;
	size_t comm_count;
	size_t records; /* that were added */
	size_t unusable; /* that could not be */
	char unusable_why[160];
	bool board; /* NCCL has started: its processes have a board, if perhaps no records */
	int64_t nccl; /* the newest NCCL that a record names, as 22809; 0 none */
	struct nt_sum_word driver, fabric, launch; /* as rank records have them */
	struct nt_sum_marker marker; /* that of the largest communicator and the lowest task */
};

/* What Slurm knows of the step. */
struct nt_sum_head {
	const char *mode;
	uint32_t flags; /* NT_PLACE_* */
	uint32_t tasks, nodes;
	bool final; /* the step has ended */
	const struct nt_ticket *ticket; /* NULL: nothing was asked for at the start */
	const struct nt_where *where; /* NULL: what the step shows is no evidence of a place */
	double measured; /* times as fast as the default, as the program felt it; 0: unknown */
	const char *remark; /* what else there is to say; NULL or "": nothing */
};

void nt_sum_init(struct nt_sum *sum);
void nt_sum_fini(struct nt_sum *sum);

/* keys of comm are copied, comm->keys stays the caller's; it is one rank's word. */
int nt_sum_add(struct nt_sum *sum, const struct nt_sum_comm *comm);
/* why names the file and what is wrong with it; the first in the order of the texts is kept. */
void nt_sum_add_unusable(struct nt_sum *sum, const char *why);

void nt_sum_add_marker(struct nt_sum *sum, const struct nt_sum_marker *marker);
void nt_sum_add_word(struct nt_sum_word *word, const char *text);

/* Has any communicator committed to an arm or decided to keep AUTO? */
bool nt_sum_decided(const struct nt_sum *sum);

/* The step's record, at most NT_STEP_RECORD_MAX bytes and a NUL: its length, or 0 where there is
 * nothing to say. Puts the communicators in order. */
size_t nt_sum_format(struct nt_sum *sum, const struct nt_sum_head *head, char *out,
		     size_t out_bytes);

#endif

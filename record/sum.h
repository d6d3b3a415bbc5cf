/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - sum up the records of a step's NCCL processes, of one node or several
 *
 * A communicator is identified by its id; for each of its keys the record with the firmest
 * knowledge is used, that of the coordinator or of another rank. Communicators of one family
 * (job-summary.h) become one in the summary made from the sum. The result does not depend on the
 * order in which records are added.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_sum_init first; nt_sum_fini frees all. Arguments are copied.
 * Errors:   -1 when memory or a limit is exceeded; what was added before is kept.
 * Units:    in the names; NAN and -1 stand for what is not known.
 */
#ifndef NT_SUM_H
#define NT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/calls.h"
#include "record/job-summary.h"
#include "record/lateness.h"

#define NT_SUM_ANY UINT32_MAX /* of any job, of any step */
#define NT_SUM_ARMS 32 /* of one key; a process keeps as many */

/* Where a rank is. */
struct nt_sum_place {
	int64_t rank, task; /* -1: its task is not known */
	size_t node; /* index into the sum's nodes */
};

struct nt_sum_comm {
	char id[40];
	char name[NT_COMM_NAME];
	int64_t rank, ranks, nodes;
	bool joining; /* its ranks have not all been seen */
	bool rejected;
	bool alike; /* its ranks have shown their cards, and these are the same */
	size_t here; /* ranks of it that were added */
	struct nt_reason why;
	struct nt_key *keys;
	size_t key_count;
	struct nt_sum_place *places; /* one for each rank that was added */
	size_t place_count;
	struct nt_late_sample *samples; /* own times of calls, of all ranks that were added */
	size_t sample_count;
};

/* What was measured of a key's arms. */
struct nt_sum_explored {
	struct nt_explored key; /* which one */
	struct nt_explored_arm arm[NT_SUM_ARMS];
	size_t arm_count;
};

#define NT_SUM_PERIODS 64
#define NT_SUM_COUNTS 32 /* names of what was dropped */

/* The step marker of one process: a collective that it calls once per step, and the durations of
 * its steps. */
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
	int64_t open_s; /* when the newest of a process that had not ended was written; 0: none */
	size_t unusable; /* that could not be */
	struct nt_error unusable_why; /* the first in the order of texts */
	uint32_t flags; /* NT_PLACE_*, of any */
	struct nt_reason not_loaded; /* a plugin behind ours; the first in the order of texts */
	char mode[16]; /* of the first that was added */
	struct nt_node_seen *nodes; /* by name; step is not looked at */
	size_t node_count;
	struct nt_sum_explored *explored;
	size_t explored_count;
	struct nt_dropped dropped[NT_SUM_COUNTS];
	size_t dropped_count;
	bool started; /* NCCL has: its processes have shared memory, if perhaps no records */
	int64_t nccl; /* the newest NCCL that a record names, as 22809; 0 none */
	struct nt_sum_word driver, fabric, launch; /* as rank records have them */
	char library[NT_LIBRARY_MAX]; /* NCCL's; the first in the order of texts; "" unknown */
	struct nt_calls_rank *calls; /* of all ranks that told; in any order */
	size_t calls_count;
	struct nt_sum_marker marker; /* that of the largest communicator and the lowest task */
};

void nt_sum_init(struct nt_sum *sum);
void nt_sum_fini(struct nt_sum *sum);

/* keys of comm are copied, comm->keys stays the caller's; it is from one rank. */
int nt_sum_add(struct nt_sum *sum, const struct nt_sum_comm *comm);
/* A rank's calls of a communicator that was added; those beyond a limit are left out. node: an
 * index into sum->nodes. */
int nt_sum_add_calls(struct nt_sum *sum, const struct nt_sum_comm *comm, size_t node,
		     const struct nt_sampled_call *calls, size_t count);
/* why names the file and the problem; the first one in alphabetical order is kept. */
void nt_sum_add_unusable(struct nt_sum *sum, const char *why);

/* text: about a plugin behind ours, from a rank record. Does nothing if it was loaded. */
void nt_sum_add_plugin(struct nt_sum *sum, const char *text);

void nt_sum_add_marker(struct nt_sum *sum, const struct nt_sum_marker *marker);
void nt_sum_add_word(struct nt_sum_word *word, const char *text);

/* *node: its index in sum->nodes. */
int nt_sum_add_node(struct nt_sum *sum, const char *name, size_t *node);
int nt_sum_add_explored(struct nt_sum *sum, const struct nt_sum_explored *explored);
/* As many names as there is room for. */
void nt_sum_add_dropped(struct nt_sum *sum, const char *what, int64_t count);

/* Has any communicator committed to an arm or decided to keep AUTO? */
bool nt_sum_decided(const struct nt_sum *sum);

/* Add one rank record; after -1 and *err, *sum is as before. */
int nt_sum_add_record(struct nt_sum *sum, const char *text, size_t text_bytes, uint32_t job,
		      uint32_t step, struct nt_error *err);

/* Calls of a process's ranks, from a line of the long form (calls.h). */
int nt_sum_add_begun(struct nt_sum *sum, const char *text, size_t text_bytes, struct nt_error *err);

void nt_sum_sort_calls(struct nt_sum *sum);

#define NT_SUM_WHYS 3

struct nt_sum_why {
	int64_t ranks, nodes; /* of the communicator */
	struct nt_reason why;
};

/* The reasons that these calls give (behind.h), the most important first: stalled communicators,
 * or, if the step has ended and a process did not end by itself, the newest calls of the largest
 * communicator. Returns their number. sum->calls: sorted. */
size_t nt_sum_calls_whys(const struct nt_sum *sum, bool running,
			 struct nt_sum_why whys[NT_SUM_WHYS]);
/* The counts of the summary's last communicator; sum->calls: sorted. -1: no memory. */
int nt_sum_put_begun(const struct nt_sum *sum, struct nt_summary *summary);
/* Has no rank on this node begun a call for as long as the setting stall? Ranks of other nodes may
 * have. */
bool nt_sum_still(struct nt_sum *sum);
/* For the next function. The waiting in that communicator, the summary's at comm_at; -1: no memory.
 * Then the step's members on it. */
int nt_summary_add_lateness(struct nt_summary *summary, size_t comm_at,
			    const struct nt_sum_comm *comm, size_t first_node);
void nt_summary_note_late(struct nt_summary *summary, size_t step_at);

/* Add a step to summary with everything that sum has on it, sorted (job-summary.h). Members of head
 * that are set take precedence, except those that are made from the rows: comm_ms, spent_ms,
 * saved_ms, estimated_ms, heard, more, rest. Other members of head must be cleared
 * (nt_fields_clear). Sorts the communicators; sum stays the caller's. */
int nt_summary_add_sum(struct nt_summary *summary, struct nt_sum *sum, const struct nt_step *head,
		       struct nt_error *err);

#endif

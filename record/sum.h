/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - sum up the records of a step's NCCL processes, of one node or several
 *
 * A communicator is identified by its id; of each key the firmest record counts, the coordinator's
 * or another rank's. The result does not depend on the order of records.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_sum_init first; nt_sum_fini frees all. Arguments are copied.
 * Errors:   -1: no memory, or a limit is exceeded; what was added before is kept.
 * Units:    in the names; NAN and -1 mean unknown.
 */
#ifndef NT_SUM_H
#define NT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/calls-record.h"
#include "record/findings-list.h"
#include "record/job-summary.h"
#include "record/lateness.h"

#define NT_SUM_ANY UINT32_MAX /* any job or step */
#define NT_SUM_ARMS 32 /* of one key; a process keeps as many */

struct nt_sum_explored {
	struct nt_explored key; /* which one */
	struct nt_explored_arm arm[NT_SUM_ARMS];
	size_t arm_count;
};

#define NT_SUM_COUNTS 32 /* names of what was dropped */

/* What should be the same on all ranks. */
struct nt_sum_word {
	char text[40];
	bool known; /* a rank has a value */
	bool mixed; /* and another has a different one */
};

struct nt_sum {
	struct nt_comm_seen *comms;
	size_t comm_count;
	size_t records; /* that were added */
	int64_t open_s; /* when the newest record of a running process was written; 0: none */
	size_t unusable; /* records that could not be added */
	struct nt_error unusable_why; /* the first alphabetically */
	uint32_t flags; /* NT_FLAG_*, of any */
	struct nt_reason not_loaded; /* of a chained plugin; the first alphabetically */
	char mode[16]; /* of the first that was added */
	struct nt_node_seen *nodes; /* by name; step is not looked at */
	size_t node_count;
	struct nt_sum_explored *explored;
	size_t explored_count;
	struct nt_dropped dropped[NT_SUM_COUNTS];
	size_t dropped_count;
	bool started; /* NCCL has started, perhaps without records */
	int64_t nccl; /* the newest NCCL that a record names, as 22809; 0 none */
	struct nt_sum_word driver, fabric, launch; /* as rank records have them */
	char library[NT_LIBRARY_MAX]; /* NCCL's; the first alphabetically; "" unknown */
	struct nt_calls_rank *calls; /* of all ranks, in any order */
	size_t calls_count;
	struct nt_facts_seen *facts; /* of at most NT_FINDINGS_RANKS processes */
	size_t facts_count;
	struct nt_rank_marker marker; /* of the largest communicator and the lowest task */
	int64_t marker_task;
};

void nt_sum_init(struct nt_sum *sum);
void nt_sum_fini(struct nt_sum *sum);

/* Adds a rank's communicator. task: -1 if unknown; node: index into sum->nodes. */
int nt_sum_add(struct nt_sum *sum, const struct nt_comm_seen *comm, int64_t task, size_t node);
/* why names the file and the problem. */
void nt_sum_add_unusable(struct nt_sum *sum, const char *why);

/* text: about a chained plugin; does nothing if that was loaded. */
void nt_sum_add_plugin(struct nt_sum *sum, const char *text);

void nt_sum_add_marker(struct nt_sum *sum, const struct nt_rank_marker *marker, int64_t task);
void nt_sum_add_word(struct nt_sum_word *word, const char *text);

/* *node: its index in sum->nodes. */
int nt_sum_add_node(struct nt_sum *sum, const char *name, size_t *node);
int nt_sum_add_explored(struct nt_sum *sum, const struct nt_sum_explored *explored);
/* At most NT_SUM_COUNTS names. */
void nt_sum_add_dropped(struct nt_sum *sum, const char *what, int64_t count);

/* Has any key been decided? */
bool nt_sum_decided(const struct nt_sum *sum);

/* Adds a rank record; after -1 and *err, *sum is as before. */
int nt_sum_add_record(struct nt_sum *sum, const char *text, size_t text_bytes, uint32_t job,
		      uint32_t step, struct nt_error *err);

/* Adds calls, from a line of the long form (calls-record.h). */
int nt_sum_add_begun(struct nt_sum *sum, const char *text, size_t text_bytes, struct nt_error *err);

void nt_sum_sort_calls(struct nt_sum *sum);

#define NT_SUM_WHYS 3

struct nt_sum_why {
	int64_t ranks, nodes; /* of the communicator */
	struct nt_reason why;
};

/* The reasons that these calls give (behind.h), the most important first: stalled communicators,
 * or, if the step has ended and a process did not end by itself, the newest calls of the largest
 * communicator. Returns their number. sum->calls must be sorted. */
size_t nt_sum_calls_whys(const struct nt_sum *sum, bool running,
			 struct nt_sum_why whys[NT_SUM_WHYS]);
/* Fills comm->begun; sum->calls must be sorted. -1: no memory. */
int nt_sum_put_begun(const struct nt_sum *sum, struct nt_comm_seen *comm);
/* Has no rank on this node begun a call for as long as the setting stall? */
bool nt_sum_still(struct nt_sum *sum);
/* Fills comm->lateness from its samples, of a step whose own steps are known or not. -1: no
 * memory. */
int nt_sum_put_lateness(const struct nt_step *step, struct nt_comm_seen *comm);
/* Fills the step's members on lateness. */
void nt_summary_note_late(struct nt_summary *summary, size_t step_at);

/* Adds a step to summary with everything in sum, whose communicators it takes. Members of head that
 * are set take precedence, except those computed from rows: comm_ms, spent_ms, saved_ms,
 * estimated_ms, heard, more, rest. Other members of head must be cleared (nt_fields_clear). */
int nt_summary_add_sum(struct nt_summary *summary, struct nt_sum *sum, const struct nt_step *head,
		       struct nt_error *err);

#endif

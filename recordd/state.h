/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - nt-recordd's data about its step, and the kinds of work for it
 *
 * The loop (loop.c) runs from the step's start until all work is done. Whenever something happens
 * or a timeout is over, it looks at each kind of work, which then starts its child if it is due.
 * Each kind is in one file, which owns its member of struct nt_recordd:
 *
 *   long-work.c    a child with root's rights makes the user's directory for the long form; one
 *                  with the user's rights writes the node's part, when the step stalls and at
 *                  the end
 *   memory-work.c  adds to the user's memory what the step's tasks measured before the program,
 *                  while that runs, and the step's measurements at the end
 *   nodes-work.c   judges the set-up of the step by the parts of all nodes, at the end
 *   stacks-work.c  has the stacks of ranks that others wait for read, as the user
 *   reader.c       makes the step's record from the ranks' records, as the user, when they change
 *   deliver.c      delivers that record, early and at the end. slurmctld may process the request of
 *                  a killed child after a later one, so the early child may outlive the step
 *
 * Threads:  nt-recordd's one.
 * Errors:   reported at the step's end; until then the work is tried again.
 */
#ifndef NT_RECORDD_STATE_H
#define NT_RECORDD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/names.h"
#include "record/findings-list.h"
#include "site/sinks.h"
#include "spank/arguments.h"
#include "accounting/choose-sink.h"
#include "recordd/longform.h"
#include "recordd/work.h"

/* After the step's end: the latest time to release it. */
#define NT_RECORDD_RELEASE_MS (NT_HOLD_STEP_MS - 150)

enum nt_recordd_work {
	NT_WORK_MAKER, /* makes the user's directory for the long form */
	NT_WORK_LONGFORM, /* writes the node's part of it */
	NT_WORK_MEMORY, /* writes to the user's memory */
	NT_WORK_NODES, /* reads the parts of all nodes */
	NT_WORK_STACKS, /* reads the stacks of ranks that others wait for */
	NT_WORK_READER, /* reads the ranks' records */
	NT_WORK_EARLY, /* delivers a record while the step runs */
	NT_WORK_DELIVERY, /* delivers the last one */
	NT_WORK_KINDS,
};

/* reader.c */
struct nt_rank_reading {
	char record[NT_STEP_RECORD_MAX + 1]; /* the newest */
	bool decided; /* record has a decision, or the step is still: it is delivered early */
	bool still; /* no rank of this node has begun a call for long */
	bool with_memory; /* record has what the user's memory says: it is the last */
	uint64_t changes; /* in the node's memory, up to the last reading */
	bool calibrated; /* the step's tasks have */
	int64_t next_ms; /* when it may be read next */
};

/* deliver.c */
enum nt_delivery_stage {
	NT_DELIVERY_NOT_BEGUN, /* the last record; an early one may have been delivered */
	NT_DELIVERY_FIRST,
	NT_DELIVERY_PAUSE, /* other work may add something to the record */
	NT_DELIVERY_SECOND,
	NT_DELIVERY_OVER,
};

struct nt_delivery {
	struct nt_sinks sinks; /* of the site */
	char record[NT_STEP_RECORD_MAX + 1]; /* that is being delivered */
	char written[NT_STEP_RECORD_MAX + 1]; /* that was delivered last */
	enum nt_delivered result; /* of the last try */
	int64_t tried_ms; /* when that was; 0: never */
	int64_t again_ms; /* between early records; 0: none was repeated yet */
	enum nt_delivery_stage stage;
	int64_t tell_ms; /* when to report that the record waits, if slurmctld has not answered */
	bool handed; /* the step need not wait any longer */
	bool spooled; /* record is in the spool */
	bool told; /* it was reported that it waits */
};

/* memory-work.c */
struct nt_calibration_work {
	int64_t next_ms; /* when it is tried next */
	unsigned tries;
	bool stored;
};

/* nodes-work.c */
struct nt_nodes_judged {
	bool known;
	struct nt_findings findings; /* of the whole step */
};

/* stacks-work.c */
struct nt_stacks_work {
	int64_t next_ms; /* when it is tried next */
	unsigned tries; /* in this stall; 0: the step has not stalled */
	unsigned stalls; /* whose stacks were read */
	int group; /* its processes, killed at the step's end; 0: none */
};

struct nt_recordd {
	struct nt_arguments arguments;
	char step[NT_STEP_NAME_MAX];
	int shm_fd; /* the node's memory: only nt_shm_fd_changes() looks at it as root */
	bool final; /* the step has ended, at ended_ms */
	int64_t ended_ms;
	bool told_end; /* by slurmstepd; otherwise slurmstepd is gone */
	bool released; /* the step may end */
	bool inside; /* the cgroups of the step's tasks exist: the user's work runs there */
	struct nt_work work[NT_WORK_KINDS];
	struct nt_rank_reading reading;
	struct nt_calibration_work calibration;
	bool memory_waits; /* for the parts of other nodes */
	struct nt_stacks_work stacks;
	struct nt_longform longform;
	struct nt_nodes_judged nodes;
	struct nt_delivery delivery;
};

/* The arguments, sinks and descriptors are set; the rest is zero. Returns when all work is done. */
void nt_recordd_run(struct nt_recordd *recordd);

extern const struct nt_work_kind nt_long_maker_kind, nt_long_writer_kind, nt_memory_kind,
	nt_nodes_kind, nt_stacks_kind, nt_reader_kind, nt_deliver_early_kind, nt_deliver_kind;
void nt_long_maker_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_long_writer_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_memory_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_nodes_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_stacks_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_reader_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_deliver_early_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_deliver_look(struct nt_recordd *recordd, int64_t now_ms);

/* After the step's end: the last part's records have been read; it is known where the part will be,
 * or that there is none; slurmctld has the record, or the next update is not due. */
bool nt_long_work_has_read(const struct nt_recordd *recordd);
bool nt_long_work_has_dir(const struct nt_recordd *recordd);
bool nt_stacks_are_gone(const struct nt_recordd *recordd); /* their processes */
bool nt_deliver_is_handed(const struct nt_recordd *recordd);

/* The memory is being written, and will not only be once other nodes have written. */
bool nt_memory_holds(const struct nt_recordd *recordd, int64_t now_ms);

/* Take a child's output, in the format of nt_step_record_make(), as the newest record. false: it is
 * not a record. */
bool nt_reader_take(struct nt_recordd *recordd, const char *out, size_t bytes,
		    struct nt_error *err);

/* How long after the step's end the last record waits for the memory's result, and for the path of
 * the long form. */
#define NT_DELIVER_MEMORY_MS 500
#define NT_DELIVER_LONG_MS 200

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - nt-recordd's data about its step, and the kinds of work for it
 *
 * Each kind of work is in its own file, which owns its member here; loop.c has a table of them. Its
 * look() is called whenever something has happened or a timeout is over, and starts the work if it
 * is due.
 */
#ifndef NT_RECORDD_STATE_H
#define NT_RECORDD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "contract/names.h"
#include "site/sinks.h"
#include "spank/arguments.h"
#include "spank/delivery/choose-sink.h"
#include "spank/recordd/longform.h"
#include "spank/recordd/work.h"

/* After the step's end: by then it is let go. */
#define NT_RECORDD_RELEASE_MS (NT_HOLD_STEP_MS - 150)

enum nt_recordd_work {
	NT_WORK_MAKER, /* makes the user's directory for the long form */
	NT_WORK_LONGFORM, /* writes the node's part of it */
	NT_WORK_MEMORY, /* writes into the user's memory */
	NT_WORK_READER, /* reads the ranks' records */
	NT_WORK_EARLY, /* brings a record while the step runs */
	NT_WORK_DELIVERY, /* brings the last one */
	NT_WORK_KINDS,
};

/* reader.c */
struct nt_reading {
	char record[NT_STEP_RECORD_MAX + 1]; /* as it was read last */
	bool decided; /* record holds a decision */
	uint64_t signature; /* of the files as they were read last */
	struct timespec seen; /* the directory's time stamp when it was read last */
	int64_t next_ms; /* when it may be read next */
	bool last; /* the one that runs was begun after the step's end */
	bool outside; /* of the step's groups: Slurm has ended what is there */
	bool complete; /* the last one has ended */
	bool with_memory; /* record has what the user's memory says: it is the last */
};

/* deliver.c */
enum nt_delivery_stage {
	NT_DELIVERY_NOT_BEGUN, /* the last record; an early one may have been delivered */
	NT_DELIVERY_FIRST,
	NT_DELIVERY_PAUSE, /* what else is being written may add something to the record */
	NT_DELIVERY_SECOND,
	NT_DELIVERY_OVER,
};

struct nt_delivery {
	struct nt_sinks sinks; /* where the site wants records */
	char record[NT_STEP_RECORD_MAX + 1]; /* that is being delivered */
	char written[NT_STEP_RECORD_MAX + 1]; /* as it was delivered last */
	enum nt_delivered result; /* of the last try */
	int64_t tried_ms; /* when that was; 0: never */
	int64_t again_ms; /* between two early ones, by now; 0: none was repeated yet */
	enum nt_delivery_stage stage;
	int64_t tell_ms; /* when to tell that it waits, if slurmctld has not answered by then */
	bool handed; /* the step need not wait any longer */
	bool spooled; /* it was put there */
	bool told; /* that it waits */
};

struct nt_recordd {
	struct nt_arguments arguments;
	char step[NT_STEP_NAME_MAX];
	int dir_fd; /* O_PATH: only its time stamp is looked at */
	int64_t started_ms;
	bool final; /* the step has ended, at ended_ms */
	int64_t ended_ms;
	bool told_end; /* by slurmstepd; else that is gone */
	bool released; /* the step may go */
	bool inside; /* the step's groups are there: who works for the user works there */
	struct nt_work work[NT_WORK_KINDS];
	struct nt_reading reading;
	struct nt_longform longform;
	bool made, long_last, long_outside, remembered; /* that work was begun */
	struct nt_delivery delivery;
};

#endif

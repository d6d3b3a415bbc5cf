/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the simulated network: shared memory of the ranks of a job
 *
 * Each rank publishes its next operation; the first difference between two ranks raises the alarm,
 * which ends the waits of every rank. A real NCCL would hang or corrupt data there.
 *
 * Threads:  nt_wire_publish and nt_wire_barrier on a rank's host thread, nt_wire_meet on its GPU
 *           thread, the rest anywhere.
 * Memory:   one mapping shared by all processes; the file's name is removed once all have opened
 *           it.
 * Errors:   the waits return enum nt_wire_end; opening returns NULL and *err.
 * Units:    times in nanoseconds of the simulated clock, timeouts in seconds.
 */
#ifndef NT_FAKE_WIRE_H
#define NT_FAKE_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "tests/fake/limits.h"

#define NT_WIRE_RING 128 /* most published operations of a rank; above NT_MAX_QUEUE */

enum nt_wire_end {
	NT_WIRE_OK = 0,
	NT_WIRE_MISMATCH, /* two ranks chose differently; nt_wire_alarm() says what */
	NT_WIRE_GONE, /* a peer did not arrive in time */
	NT_WIRE_QUIT, /* *quit was set, or the communicator was aborted */
};

/* The data that must be equal on two ranks. */
struct nt_wire_task {
	uint64_t bytes;
	uint8_t coll;
	uint8_t algo;
	uint8_t proto;
	uint8_t channels;
	uint8_t symmetric; /* by a symmetric kernel: algo and proto are then 0 */
	uint8_t run; /* number of its decision in the group */
	uint8_t connect; /* not a collective: the connections of the first use of algo */
	uint8_t auto_arm; /* informative: not compared */
	uint8_t cap; /* channels that the plugin asked for; 0: NCCL's own */
	uint32_t chunk_bytes; /* if the plugin chose it, else 0 */
	uint32_t chunk_rest; /* of the task's other channels */
	uint32_t round; /* informative: equal if the programs are equal */
};

struct nt_wire_result {
	uint64_t latest_ns; /* when the last rank arrived */
	uint64_t run_ns[NT_MAX_TASKS]; /* durations of the runs from then on */
};

struct nt_wire;
struct nt_wire_comm;

/* Called only by the last rank to arrive: sets result->run_ns. cursor: see nt_model_duration_ns. */
typedef void (*nt_wire_resolve)(void *arg, uint64_t op, const struct nt_wire_task *task,
				unsigned tasks, struct nt_wire_result *result, uint32_t *cursor);

/* Private memory for this process, its threads and its forked children. */
struct nt_wire *nt_wire_create(unsigned ranks, unsigned timeout_s, struct nt_error *err);

/* A file in dir; processes: number of processes that open it. The last one removes its name. */
struct nt_wire *nt_wire_open(const char *dir, const char *name, unsigned ranks, unsigned processes,
			     unsigned timeout_s, struct nt_error *err);
void nt_wire_close(struct nt_wire *w);
void nt_wire_unlink(const struct nt_wire *w); /* safe in a signal handler */

/* A block of fixed size for each rank's final message to rank 0. */
#define NT_WIRE_REPORT_BYTES 49152
void *nt_wire_report(struct nt_wire *w, unsigned rank);
void nt_wire_report_done(struct nt_wire *w);
enum nt_wire_end nt_wire_report_wait(struct nt_wire *w);

/* At a check by all ranks, between barriers: has any rank not finished yet? */
#define NT_WIRE_LOOKS 256
void nt_wire_say_busy(struct nt_wire *w, unsigned look);
bool nt_wire_is_busy(const struct nt_wire *w, unsigned look);

/* A rank's data for the others, read after the first barrier of the job. */
void nt_wire_hello(struct nt_wire *w, unsigned rank, const char *node, const char *launch,
		   uint64_t world_id);
const char *nt_wire_node(const struct nt_wire *w, unsigned rank);
uint64_t nt_wire_world(const struct nt_wire *w);
/* The set of launch variables that is in force for it. */
const char *nt_wire_launch(const struct nt_wire *w, unsigned rank);

/* The place of a communicator, created at first use; id 0 is the job itself. life distinguishes
 * successive communicators with the same id. NULL: too many. */
struct nt_wire_comm *nt_wire_comm(struct nt_wire *w, uint64_t id, uint32_t life, unsigned ranks);

/* A rank has destroyed it or given up; the last one frees the place for another communicator. */
void nt_wire_leave(struct nt_wire_comm *c);

/* A rank aborts it: from now on the others' waits on it end with NT_WIRE_QUIT. */
void nt_wire_abort(struct nt_wire_comm *c);

/* All ranks of the communicator wait for each other. */
enum nt_wire_end nt_wire_barrier(struct nt_wire_comm *c, unsigned rank);

/* Publish rank's operation op, in order: raises the alarm if another rank's differs. */
enum nt_wire_end nt_wire_publish(struct nt_wire_comm *c, unsigned rank, uint64_t op,
				 const struct nt_wire_task *task, unsigned tasks);

/* Rank's GPU arrives at the published operation op at start_ns and waits for the others. */
struct nt_wire_call {
	uint64_t op;
	uint64_t start_ns;
	nt_wire_resolve resolve;
	void *arg;
	_Atomic bool *quit; /* ends the wait */
};
enum nt_wire_end nt_wire_meet(struct nt_wire_comm *c, unsigned rank,
			      const struct nt_wire_call *call, struct nt_wire_result *result);

/* The error, as text. */
const char *nt_wire_alarm(const struct nt_wire *w);
void nt_wire_missing(const struct nt_wire_comm *c, unsigned rank, char *out, size_t out_bytes);

/* Before leaving with an error: waits for all ranks of the job, 2 s at most, so that each can print
 * its line. */
void nt_wire_mourn(struct nt_wire *w);

#endif

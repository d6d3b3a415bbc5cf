/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - what the probe has seen of the communicators of this process
 *
 * Threads:  rows are added from NCCL's threads, each place by one; written when the process ends.
 * Memory:   pools that are never given back: NCCL may come back to a handle at any time.
 */
#ifndef NT_GPU_PROBE_H
#define NT_GPU_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMS 64
#define TABLES 64 /* (collective, size) pairs of a communicator */
#define LIST 16 /* masks, arms */
#define DECISIONS (1 << 18)
#define COLLS (1 << 18)
#define LAUNCHES 4096

struct table {
	int coll;
	size_t bytes;
	uint32_t legal;
	uint64_t hash;
	unsigned calls, hashes;
};

struct comm {
	uint64_t id;
	int rank, ranks, nodes;
	unsigned long decisions, captured;
	struct table table[TABLES];
	unsigned tables;
	struct launch *launched; /* not yet taken by a Coll event */
	atomic_bool tuner_over, profiler_over;
	atomic_ulong late_tuner, late_profiler;
};

struct decision {
	const struct comm *comm;
	unsigned long index;
	int coll, arm, mask;
	size_t bytes;
	uint64_t host_ns;
};

struct launch {
	void *event[2];
};

struct coll {
	struct comm *comm;
	uint64_t seq, first_start_ns, last_stop_ns;
	const char *func, *datatype, *algo, *proto;
	size_t count;
	struct launch *launch;
	unsigned channels, starts, stops;
};

struct probe {
	struct comm comm[COMMS];
	atomic_uint comms;
	struct decision *decision;
	atomic_uint decisions;
	struct coll *coll;
	atomic_uint colls;
	struct launch *launch;
	atomic_uint launches;
	unsigned long block;
	int mask[LIST], arm[LIST];
	unsigned masks, arms;
	_Atomic(int *) nccl_mask;
	atomic_ulong cuda_errors;
	int (*event_create)(void **event, unsigned flags);
	int (*event_record)(void *event, void *stream);
	int (*event_elapsed)(float *ms, void *start, void *end);
};

extern struct probe nt_probe;

/* What the next decisions of this thread follow, instead of NT_PROBE_ARMS and NT_PROBE_MASKS. */
void nt_probe_tell(int arm, int mask);

/* All rows, to NT_PROBE_DIR; for atexit. */
void nt_probe_write(void);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - measured iteration times (tests/traces/) and what NCCL picked where they were measured
 *
 * Threads:  read only after loading.
 * Memory:   the structures own their samples until _fini.
 * Errors:   -1 and *err with file and line: a malformed line, too many rows.
 * Units:    samples in microseconds.
 */
#ifndef NT_FAKE_TRACE_H
#define NT_FAKE_TRACE_H

#include <stdint.h>
#include "contract/coll.h"
#include "contract/error.h"
#include "tests/fake/limits.h"

struct nt_trace_row {
	char launch[96]; /* NCCL variables set at launch; empty: none */
	int coll;
	char topology[16]; /* "2x4": nodes x ranks on each */
	char mode[16]; /* "seq", "ovl" */
	int arm; /* NT_ARM_AUTO: NCCL's own pick */
	uint64_t bytes;
	unsigned samples;
	float *sample_us; /* NULL in a list of picks, where arm is the pick */
};

struct nt_trace {
	struct nt_trace_row *row;
	unsigned rows;
};

/* A line: [launch variables,]collective,topology,mode,algorithm,protocol,bytes,samples... */
int nt_trace_load(struct nt_trace *t, const char *path, struct nt_error *err);

/* A line: collective,topology,bytes,algorithm,protocol */
int nt_picks_load(struct nt_trace *t, const char *path, struct nt_error *err);

void nt_trace_fini(struct nt_trace *t);

/* The row of that arm whose size is nearest (by ratio; the smaller one of two). -1: none. */
int nt_trace_find(const struct nt_trace *t, const struct nt_trace_row *want);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - measured times of arms (tests/traces/), and what NCCL picked where they were measured
 *
 * Text, a line for each arm of a cell (a collective, topology, mode and size); lines that begin
 * with '#' and empty ones are skipped:
 *
 *   [launch variables,]collective,topology,mode,algorithm,protocol,bytes,samples...
 *
 * AUTO,AUTO for algorithm and protocol are NCCL's own choice. A protocol may be followed by a limit
 * of channels or a chunk size, as in Ring,Simple/4ch. Samples are in the order of measurement; an
 * arm in several lines has the samples of all.
 *
 * Threads:  read only after loading.
 * Memory:   the structures own their samples until _fini.
 * Errors:   -1 and *err with file, line and the mistake; nothing is then loaded.
 * Units:    samples in microseconds.
 */
#ifndef NT_REPLAY_TRACE_H
#define NT_REPLAY_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "contract/coll.h"
#include "lib/error.h"

#define NT_TRACE_ROWS 10000 /* more are refused */
#define NT_TRACE_LAUNCH 192 /* bytes, with the NUL */
#define NT_TRACE_SAMPLES 1000000 /* of a row */

struct nt_trace_row {
	/* launch variables: "none", "NAME=VALUE+NAME=VALUE"; empty: not given */
	char launch[NT_TRACE_LAUNCH];
	int coll;
	char collective[16]; /* as spelled in the file */
	char topology[32]; /* "2x4": nodes x ranks on each */
	char mode[32]; /* "seq", "ovl" */
	int arm; /* NT_ARM_BASELINE: NCCL's own pick */
	uint64_t bytes;
	unsigned samples;
	float *sample_us; /* NULL in a list of picks, where arm is NCCL's pick ... */
	uint32_t masked; /* ... and these pairs are not legal */
};

struct nt_trace {
	struct nt_trace_row *row;
	size_t rows;
};

int nt_trace_load(struct nt_trace *t, const char *path, struct nt_error *err);
/* The same from a text; messages contain name. */
int nt_trace_read(struct nt_trace *t, char *text, size_t bytes, const char *name,
		  struct nt_error *err);

/* A line: collective,topology,bytes,algorithm,protocol[,what NCCL masks there...], a protocol
 * (LL128) or a pair (Tree/LL128) each. */
int nt_picks_load(struct nt_trace *t, const char *path, struct nt_error *err);

void nt_trace_fini(struct nt_trace *t);

/* Equal except for the arm. */
bool nt_trace_same_cell(const struct nt_trace_row *a, const struct nt_trace_row *b);

/* The pick for the cell of this row, at the nearest size; NULL: unknown, as for cells with their
 * own launch variables. */
const struct nt_trace_row *nt_picks_find(const struct nt_trace *picks,
					 const struct nt_trace_row *cell);

/* The row of that arm with the nearest size (by ratio; the smaller one of two). -1: none. */
int nt_trace_find(const struct nt_trace *t, const struct nt_trace_row *want);

#endif

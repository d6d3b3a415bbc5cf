/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-result.h - what a calibration has measured, and the text that says it
 *
 * Lines of JSON: the calibration, then an entry (launch/entry.h) for each profile that ran,
 * NCCL's default first.
 *
 * Threads:  one.
 * Memory:   nt_driver_result is a value; writing allocates and frees.
 * Errors:   -1 and *err.
 */
#ifndef NT_DRIVER_RESULT_H
#define NT_DRIVER_RESULT_H

#include "bench/driver.h"
#include "launch/measure/race.h"

struct nt_driver_times {
	double p25, median, p75; /* sums of logarithms */
	uint64_t samples;
};

struct nt_driver_result {
	double seconds; /* that it took */
	unsigned ranks, nodes, per_node; /* per_node: of the node with most */
	unsigned call_ranks, call_nodes; /* of the communicators of the calls */
	int nccl; /* 0: unknown */
	char library[NT_LIBRARY_MAX];
	unsigned chosen; /* profile */
	char why[NT_CAL_WHY]; /* nothing was chosen; "": the measurements decided */
	struct nt_driver_times times[NT_RACERS][NT_CAL_CALLS];
	char failed[NT_RACERS][NT_CAL_WHY];
};

/* nodes[t]: the node of task t. */
void nt_driver_result_init(struct nt_driver_result *result, const struct nt_driver *driver,
			   const unsigned *nodes);
/* A lap's times of a call, microseconds above 0. */
void nt_driver_result_add(struct nt_driver_times *times, double p25, double median, double p75,
			  uint64_t samples);
/* Leave it in the node's memory (record/tray.h). */
int nt_driver_result_write(const struct nt_driver_result *result, const struct nt_driver *driver,
			   const struct nt_race *race, struct nt_error *err);

#endif

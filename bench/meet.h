/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* meet.h - exchange a few bytes between processes through files in a shared directory
 *
 * A file appears whole or not at all (written under another name, synced, renamed). The directory
 * must not have files of an earlier run of the same name.
 *
 * Threads:  any; one writer for each name.
 * Memory:   the caller's.
 * Errors:   -1 and *err: the path and the reason, or a timeout.
 */
#ifndef NT_BENCH_MEET_H
#define NT_BENCH_MEET_H

#include <stddef.h>
#include "lib/error.h"

/* Files of one run: DIR/nccl-tune-bench.RUN.NAME. */
struct nt_meet {
	const char *dir;
	const char *run;
	int rank, ranks; /* this process's rank, and their number */
};

int nt_meet_put(const struct nt_meet *meet, const char *name, const void *data, size_t bytes,
		struct nt_error *err);

/* Wait up to timeout_s seconds for the file, and read exactly `bytes` bytes. */
int nt_meet_get(const struct nt_meet *meet, const char *name, void *data, size_t bytes,
		int timeout_s, struct nt_error *err);

/* Rank 0 collects one part from each rank. *parts, on the heap and the caller's to free, is this
 * rank's part of `bytes` bytes; on rank 0 it is replaced by all parts, in order of ranks. */
int nt_meet_gather(const struct nt_meet *meet, const char *name, char **parts, size_t bytes,
		   int timeout_s, struct nt_error *err);

void nt_meet_remove(const struct nt_meet *meet, const char *name);

#endif

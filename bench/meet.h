/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* meet.h - send a few bytes from one process to others through files in a shared directory
 *
 * A file appears whole or not at all (written under another name, synced, renamed). The directory
 * must not hold files of an earlier run under the same name.
 *
 * Threads:  any; one writer for each name.
 * Memory:   the caller's.
 * Errors:   -1 and *err: the path and the reason, or a timeout.
 */
#ifndef NT_BENCH_MEET_H
#define NT_BENCH_MEET_H

#include <stddef.h>
#include "lib/error.h"

/* The files of one run: DIR/nccl-tune-bench.RUN.NAME. */
struct nt_meet {
	const char *dir;
	const char *run;
	int rank, ranks; /* this process, and how many there are */
};

int nt_meet_put(const struct nt_meet *meet, const char *name, const void *data, size_t bytes,
		struct nt_error *err);

/* Read exactly `bytes` bytes, waiting up to timeout_s seconds for the file. */
int nt_meet_get(const struct nt_meet *meet, const char *name, void *data, size_t bytes,
		int timeout_s, struct nt_error *err);

/* Rank 0 receives the parts of all ranks, of so many bytes each. *parts, on the heap, is this rank's
 * part, and on rank 0 afterwards all of them in order. The caller frees it. */
int nt_meet_gather(const struct nt_meet *meet, const char *name, char **parts, size_t bytes,
		   int timeout_s, struct nt_error *err);

void nt_meet_remove(const struct nt_meet *meet, const char *name);

#endif

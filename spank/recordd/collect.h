/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - read the rank records of a step's runtime directory
 *
 * Runs in a process with the user's rights only: the directory is the user's, and nothing in it is
 * trusted. Only plain files of bounded size and number are opened, without following links or
 * waiting for a writer.
 *
 * Threads:  one process of its own.
 * Memory:   only *sum keeps memory.
 * Errors:   -1 and *err: the directory cannot be read. A file that cannot be used is counted in
 *           *sum.
 */
#ifndef NT_COLLECT_H
#define NT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/sum.h"

#define NT_COLLECT_FILES 4096 /* one a process of a node and step; more are left out */
#define NT_COLLECT_BYTES (64 * 1024 * 1024) /* of all files together */

/* A record as it lies there. */
struct nt_collected {
	const char *name; /* of its file; NULL: this is no record, NCCL has started; "": of many */
	const char *text; /* until the visit ends */
	size_t bytes;
	const char *why; /* it could not be read; NULL: it was */
	bool calls; /* no record, but the text of a process's calls (record/calls-record.h) */
};

typedef void nt_collect_visit(void *argument, const struct nt_collected *file);

/* Read a plain file of the open directory, of at most max_bytes; the caller frees text. */
int nt_collect_file(int dir_fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err);

/* All files of records in directory, in no order. */
int nt_collect_each(const char *directory, nt_collect_visit *visit, void *argument,
		    struct nt_error *err);

/* Add what was visited. */
void nt_collect_add(struct nt_sum *sum, const struct nt_collected *file, uint32_t job,
		    uint32_t step);

/* A signature that changes whenever a record is added, removed or written; reads each name once. */
uint64_t nt_collect_signature(const char *directory);

/* Add all records of job.step in directory. */
int nt_collect_directory(struct nt_sum *sum, const char *directory, uint32_t job, uint32_t step,
			 struct nt_error *err);

#endif

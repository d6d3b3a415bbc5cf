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

#define NT_COLLECT_FILES 4096 /* of each kind; a process has one */
#define NT_COLLECT_BYTES (64 * 1024 * 1024) /* in total */
#define NT_COLLECT_NAME 64 /* rank.<task>.<pid>.json needs 32; longer names are cut */

enum nt_collected_kind {
	NT_COLLECTED_RECORD,
	NT_COLLECTED_CALLS, /* a process's calls as text (record/calls-record.h) */
	NT_COLLECTED_SHM, /* the shared memory, which is not read: NCCL has started */
};

/* A file of the directory. */
struct nt_collected {
	enum nt_collected_kind kind;
	char name[NT_COLLECT_NAME]; /* "": several files */
	char *text; /* NULL: it could not be read, why has the reason */
	size_t bytes;
	struct nt_error why;
};

/* May take the text, and set it to NULL then. */
typedef void nt_collect_visit(void *argument, struct nt_collected *file);

/* Read a plain file of at most max_bytes in an open directory. The caller frees *text. */
int nt_collect_file(int dir_fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err);

/* Visit all records and files of calls, in no order. */
int nt_collect_each(const char *directory, nt_collect_visit *visit, void *argument,
		    struct nt_error *err);

/* Add a visited file to a sum. */
void nt_collect_add(struct nt_sum *sum, const struct nt_collected *file, uint32_t job,
		    uint32_t step);

/* Changes whenever a record is added, removed or written. No record is opened. */
uint64_t nt_collect_signature(const char *directory);

/* Add all records of job.step in directory. */
int nt_collect_directory(struct nt_sum *sum, const char *directory, uint32_t job, uint32_t step,
			 struct nt_error *err);

#endif

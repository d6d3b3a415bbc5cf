/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - read what a step's processes have left in the node's memory (contract/tray-layout.h)
 *
 * Runs in a process with the user's rights only: any process of the user's can write there, and
 * nothing in it is trusted. It is copied, never mapped, so what is looked at does
 * not change, and reading takes no memory of the job's.
 *
 * Threads:  one process of its own.
 * Memory:   a visited text belongs to the reader unless it is taken.
 * Errors:   -1 and *err: the memory cannot be read. What cannot be used is visited without a text.
 */
#ifndef NT_COLLECT_H
#define NT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/tray-layout.h"
#include "lib/error.h"
#include "record/sum.h"

#define NT_COLLECT_BYTES (64 * 1024 * 1024) /* in total */

enum nt_collected_kind {
	NT_COLLECTED_RECORD,
	NT_COLLECTED_CALLS, /* a process's calls as text (record/calls-record.h); NULL: none */
	NT_COLLECTED_CALIBRATION,
	NT_COLLECTED_GRAPHS,
	NT_COLLECTED_DEVICES,
	NT_COLLECTED_STACKS, /* of a rank (record/stacks.h) */
};

/* From a tray. */
struct nt_collected {
	enum nt_collected_kind kind;
	char name[NT_TRAY_ABOUT]; /* <task>.<pid>, or a dump's communicator; "": of several */
	char *text; /* with a NUL; NULL: it could not be read, why has the reason */
	size_t bytes;
	struct nt_error why;
};

/* May take the text, and set it to NULL then. */
typedef void nt_collect_visit(void *argument, struct nt_collected *item);

/* Visit everything, in no order. */
int nt_collect_each(int shm_fd, nt_collect_visit *visit, void *argument, struct nt_error *err);

/* The same in the user's file beside the memory (NT_SHM_BESIDE), if there is one. */
void nt_collect_beside(const char *node, uint32_t job, uint32_t step, nt_collect_visit *visit,
		       void *argument);

/* Add a visited record, or calls, to a sum. */
void nt_collect_add(struct nt_sum *sum, const struct nt_collected *item, uint32_t job,
		    uint32_t step);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trial-calls.h - which calls a calibration makes: those of a job's mix, or a standard list
 *
 * What a job sends and receives is measured too, as AllToAll or as messages from each rank to the
 * next (SendRecv), whichever direction the job's own ranks have.
 *
 * Threads:  pure.
 * Memory:   values.
 * Errors:   nt_trial_calls_parse: -1 and *err says what is accepted.
 * Units:    bytes.
 */
#ifndef NT_TRIAL_CALLS_H
#define NT_TRIAL_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include "profiles/memory.h"
#include "profiles/mix-cost.h"

#define NT_TRIAL_CALLS_COLLS 4
#define NT_TRIAL_CALLS_SIZES 8
#define NT_TRIAL_CALLS_TEXT 256

struct nt_trial_calls {
	unsigned colls, sizes;
	int coll[NT_TRIAL_CALLS_COLLS];
	uint64_t bytes[NT_TRIAL_CALLS_SIZES]; /* ascending */
	/* Communicators of a part of the ranks, as in nccl-tune-bench --split; "": only that of all
	 * ranks. */
	char split[24];
};

/* Are there sends and receives among them? */
bool nt_trial_calls_send(const struct nt_trial_calls *calls);

/* AllReduce of 64K to 64M. */
void nt_trial_calls_standard(struct nt_trial_calls *calls);

/* The collectives and sizes that cost an entry's step most. Of smaller communicators, the most
 * expensive one, if it has the ranks of one node or one rank of each node. false if the entry has
 * no calls. */
bool nt_trial_calls_of(const struct nt_memory_entry *entry, struct nt_trial_calls *calls);

/* "64K,1M,16M": sizes of AllReduce. */
int nt_trial_calls_parse(struct nt_trial_calls *calls, const char *sizes, struct nt_error *err);

/* As arguments of nccl-tune-bench: "allreduce,allgather" and "65536,1048576". */
const char *nt_trial_calls_colls_text(const struct nt_trial_calls *calls, char *out,
				      size_t out_bytes);
const char *nt_trial_calls_sizes_text(const struct nt_trial_calls *calls, char *out,
				      size_t out_bytes);

/* The entry with a job's calls: the newest step of this job, else of any job at this place; NULL if
 * none has calls. fingerprint 0: only of this job. */
const struct nt_memory_entry *nt_trial_calls_entry(const struct nt_memory *memory, uint32_t job,
						   uint64_t fingerprint, uint32_t nodes,
						   uint32_t per_node);

#endif

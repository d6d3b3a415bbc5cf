/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* late-nodes.h - nodes that others wait for, or that are slower than their like, in several jobs
 *
 * A job's short record knows the last rank if its step ran on one node; the long form, where it is
 * found, knows all nodes, and with topology=on what each has less than others. Records are written
 * by users' processes: a node is told with the number of jobs and with their user.
 *
 * Threads:  the main thread.
 * Memory:   grows with nodes, up to a bound; nt_late_nodes_fini frees it.
 * Errors:   -1 and *err: out of memory. Jobs without a usable record are left out.
 */
#ifndef NT_LATE_NODES_H
#define NT_LATE_NODES_H

#include <json.h>
#include <stdio.h>
#include "lib/name-set.h"
#include "report/model/sacct-jobs.h"

#define NT_LATE_NODES_JOBS 2 /* fewer are not told */

struct nt_late_node {
	char cluster[64], name[64];
	uint64_t seen; /* number of the newest job that was counted; so with the next two */
	uint64_t seen_late, seen_slower;
	int64_t jobs; /* with measured calls, or with what NCCL found on nodes */
	int64_t late, slower; /* of these */
	double late_us; /* sum over the late ones of what others waited in a call */
	char user[64]; /* of the jobs in which it was late or slower; "": several */
	char newest[NT_JOB_LABEL_MAX]; /* of these jobs */
};

struct nt_late_nodes {
	struct nt_names names;
	struct nt_late_node *node;
	uint64_t jobs; /* that were added */
	int64_t measured; /* of these, with something to compare */
};

void nt_late_nodes_init(struct nt_late_nodes *nodes);
void nt_late_nodes_fini(struct nt_late_nodes *nodes);

int nt_late_nodes_add(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
		      struct nt_error *err);

/* Those of NT_LATE_NODES_JOBS jobs or more, the most frequent first: a table, or JSON, which also
 * has and takes what a comparison of nodes has found (compared-nodes.h); NULL: nothing. */
int nt_late_nodes_text(FILE *out, struct nt_late_nodes *nodes, struct nt_error *err);
int nt_late_nodes_json(FILE *out, struct nt_late_nodes *nodes, json_object *compared,
		       struct nt_error *err);

#endif

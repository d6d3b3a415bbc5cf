/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* finding-stats.h - findings over the records of many jobs, by code and node
 *
 * A job counts once in a class. Nodes are compared in long forms (record/longset.h), which are read
 * where a job's record names their directory; of other jobs the first node's findings are known.
 * Array tasks and components of heterogeneous jobs are among these. Records are users': a class
 * says of how many users it is.
 *
 * Threads:  one thread at a time for one struct; the main thread, for long forms.
 * Memory:   grows with clusters, nodes and users; free it with nt_finding_stats_fini.
 * Errors:   -1 and *err only when out of memory. Malformed records are skipped.
 */
#ifndef NT_FINDING_STATS_H
#define NT_FINDING_STATS_H

#include <stdio.h>
#include "lib/name-set.h"
#include "record/job-summary.h"
#include "report/model/sacct-jobs.h"

struct nt_finding_class {
	char cluster[64], node[NT_FINDING_NODE_MAX]; /* node "": steps */
	struct nt_finding newest;
	int64_t jobs, first_s, last_s; /* when the first and the last of them ended */
	uint64_t newest_job; /* counted last, so that each counts once */
	struct nt_names users;
};

struct nt_finding_stats {
	uint32_t codes; /* that count: bits, as nt_findings_parse() has them */
	uint64_t jobs; /* with a record */
	int64_t found; /* of these, with a finding */
	struct nt_names names;
	struct nt_finding_class *class;
};

void nt_finding_stats_init(struct nt_finding_stats *stats, uint32_t codes);
void nt_finding_stats_fini(struct nt_finding_stats *stats);

int nt_finding_stats_add(struct nt_finding_stats *stats, const struct nt_streamed_job *job,
			 struct nt_error *err);

/* Call it after the last job. The worst codes first, then those of most jobs. */
void nt_finding_stats_sort(struct nt_finding_stats *stats);

void nt_finding_stats_text(FILE *out, const struct nt_finding_stats *stats);
int nt_finding_stats_json(FILE *out, const struct nt_finding_stats *stats, struct nt_error *err);
/* The text that node_exporter's textfile collector reads. */
void nt_finding_stats_prometheus(FILE *out, const struct nt_finding_stats *stats);

#endif

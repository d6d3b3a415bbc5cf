/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-list.h - what findings are judged by, and the list of them
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 */
#ifndef NT_FINDINGS_LIST_H
#define NT_FINDINGS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/finding.h"
#include "record/rank.h"

#define NT_FINDINGS_RANKS 8192 /* whose facts are kept */
#define NT_FINDINGS_MAX 24 /* of a step */
#define NT_FINDINGS_SAME 6 /* of one code */

/* A process */
struct nt_facts_seen {
	struct nt_facts facts;
	int64_t rank; /* in its largest communicator */
	int64_t ranks; /* of that */
	int64_t nodes; /* the most of one of its communicators; 0: not known */
	int64_t local; /* processes of that on its node; nt_findings_judge() sets it */
	int64_t task;
	char comm[40]; /* the largest communicator */
	char node[64], fabric[8], driver[24];
	char library[NT_LIBRARY_MAX];
	char variables[1024], inside[1024];
};

struct nt_findings {
	struct nt_finding item[NT_FINDINGS_MAX]; /* the worst first */
	size_t count;
};

/* Adds a copy, unless there are many. */
void nt_findings_add(struct nt_findings *findings, const struct nt_finding *finding);

#define NT_FINDINGS_ON 112

/* "n1 and 3 more nodes". Returns out. */
const char *nt_findings_on(const char *node, size_t nodes, char out[NT_FINDINGS_ON]);
/* "A rank", "3 ranks". Returns out. */
const char *nt_findings_ranks(size_t ranks, char out[32]);

/* One of "NAME=VALUE NAME=VALUE", in the text */
struct nt_findings_pair {
	const char *name, *value;
	int name_bytes, value_bytes;
};

/* The next one; *text moves behind it. What has no '=' is passed over. False: there is none. */
bool nt_findings_next(const char **text, struct nt_findings_pair *pair);
/* The value of NAME; -1: it is not there. */
int nt_findings_value(const char *text, const char *name, char *out, size_t out_bytes);
/* In place, for an argument of a finding: no colons. Returns text. */
char *nt_findings_argument(char *text);

/* Is this variable the site's, for all jobs? */
bool nt_findings_is_site(const struct nt_facts_seen *seen, const char *name);
/* Sockets, which may be encrypted */
bool nt_findings_by_sockets(const struct nt_facts_seen *seen);
bool nt_findings_by_rdma(const struct nt_facts_seen *seen);

/* The end of the processes of the node of the first. */
size_t nt_findings_node_end(const struct nt_facts_seen *seen, size_t count, size_t first);

#define NT_FINDINGS_NODES 1024 /* compared */

/* A node's first process, which sees what all of its see */
struct nt_findings_nodes {
	const struct nt_facts_seen *node[NT_FINDINGS_NODES];
	size_t count;
};

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-summary.h - the data of a job's steps, without limits of size
 *
 * Filled from a job's short form, the text in AdminComment or another sink (step.h), by
 * nt_summary_parse(); or from the rank records of all nodes, by nt_sum_add_record() and
 * nt_summary_add_sum() (sum.h).
 *
 *	steps ── families ── rows ── arms
 *	      └─ comms ── places (ranks on nodes), volumes
 *
 * A family is communicators that do the same: they have one name, except for numbers in it, and one
 * shape (ranks, nodes). A row is a key of a family: calls, costs and savings are sums, the rest is
 * from the communicator with the firmest decision and the most calls.
 *
 * Unknown members are skipped. Errors in ours become remarks of kind NT_REMARK_DAMAGE; what is
 * valid is kept, and must be shown as partial.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_summary_init first; nt_summary_fini frees all. Texts are copies, printable ASCII.
 * Errors:   -1 only without memory; what was read before is kept.
 * Units:    in the names; NAN and -1 mean unknown.
 */
#ifndef NT_JOB_SUMMARY_H
#define NT_JOB_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/finding.h"
#include "lib/error.h"
#include "record/lateness.h"
#include "record/parallelism.h"
#include "record/rank.h"
#include "record/stacks.h"
#include "record/step.h"

enum nt_remark_kind { NT_REMARK_WHY, NT_REMARK_DAMAGE };

struct nt_remark {
	enum nt_remark_kind kind;
	char step[NT_STEP_NAME_MAX]; /* "": the whole record */
	char text[240]; /* of NT_REMARK_DAMAGE */
	/* Of NT_REMARK_WHY: */
	struct nt_reason why;
	uint32_t ranks, nodes; /* of the communicators; 0: of the step */
	int64_t comms; /* of that shape; 0: of the step */
};

struct nt_family {
	size_t step;
	uint32_t ranks, nodes;
	char name[NT_COMM_NAME]; /* the framework's, with '#' for numbers; "" unknown */
	int64_t comms; /* -1 unknown */
	enum nt_parallel parallel; /* a guess */
};

/* From rank records alone, as is struct nt_comm_seen (rank.h): */

struct nt_node_seen {
	size_t step;
	char name[64];
	int64_t records; /* 0: only other nodes name it */
};

struct nt_place_seen {
	int64_t rank, task; /* task -1: unknown */
	size_t node; /* index into nodes */
};

/* Calls that a rank has begun; known if a process did not end by itself or ranks differ
 * (calls-record.h). */
struct nt_begun_seen {
	int64_t rank, begun;
	int64_t ended; /* -1: not known */
	int64_t seen_s; /* when its process was last seen alive, since 1970 */
};

/* The volume of a collective on a communicator. bytes: as the calls name them; inside and between:
 * what all ranks send to ranks of their own node and of others if each sends what it sends in a
 * ring, since NCCL does not report what it sends. Of sends and receives: what was sent, and
 * nt_p2p_volume(). */
struct nt_volume {
	int coll;
	int64_t calls;
	double bytes, inside_bytes, between_bytes;
};

/* What NCCL found on a node (topology.h), in figures. */
struct nt_topology_seen {
	size_t step;
	char node[64], id[40];
	uint32_t ranks, nodes; /* of the communicator */
	struct nt_links {
		int64_t channels; /* 0: unknown */
		double intra_gbs, inter_gbs; /* of a channel */
		char intra[8], inter[8];
	} ring, tree;
	int64_t gpus, nics; /* -1: unknown, as below */
	int64_t nvlinks, gpu_lanes; /* of the GPU with the fewest */
	double gpu_gts; /* of the slowest lane */
	int64_t nic_mbps; /* of the slowest NIC */
	int64_t nics_mbps; /* of all of them */
	char trouble[120]; /* what could not be read */
};

struct nt_finding_seen {
	size_t step;
	struct nt_finding finding;
};

/* What processes dropped for lack of room or by a failure. */
struct nt_dropped {
	size_t step;
	char what[40]; /* as in rank records */
	int64_t count;
};

/* Slurm's data on the job; "" and 0: unknown. */
struct nt_job_seen {
	char cluster[64], user[64], partition[64];
	int64_t elapsed_s;
};

struct nt_summary {
	struct nt_job_seen job;
	struct nt_step *steps;
	struct nt_key *rows;
	struct nt_remark *remarks;
	struct nt_family *families;
	size_t step_count, row_count, remark_count, family_count;
	int64_t more_steps; /* that had no room */

	struct nt_comm_seen *comms;
	struct nt_node_seen *nodes;
	struct nt_explored_arm *arms; /* of a row's key, AUTO first */
	struct nt_dropped *dropped;
	struct nt_topology_seen *topologies;
	struct nt_finding_seen *findings; /* of a step, the worst first */
	struct nt_stacks *stacks;
	size_t comm_count, node_count, arm_count, dropped_count, topology_count, finding_count,
		stacks_count;
	bool no_memory; /* something had no room, and is missing */
};

#define NT_SUMMARY_MAX 1000000 /* of one kind; no honest record comes near */

/* Adds an item to a list, all zero. NULL: no room, and no_memory is set. */
#define NT_SUMMARY_ADD(summary, list, count) \
	nt_summary_add((summary), &(summary)->list, &(summary)->count, sizeof(*(summary)->list))
void *nt_summary_add(struct nt_summary *summary, void *items, size_t *count, size_t item_bytes);

enum nt_holding {
	NT_HOLDS_NOTHING,
	NT_HOLDS_OTHER, /* another program's text */
	NT_HOLDS_RECORD, /* ours, perhaps damaged */
};

void nt_summary_init(struct nt_summary *summary);
void nt_summary_fini(struct nt_summary *summary);

/* What text holds, by a quick look. */
enum nt_holding nt_summary_holding(const char *text, size_t text_bytes);

/* Adds the steps of text that summary does not have, sorted as by nt_summary_sort. only_step: the
 * only step to add, or NULL. */
int nt_summary_parse(struct nt_summary *summary, const char *text, size_t text_bytes,
		     const char *only_step, struct nt_error *err);

/* The same of some runs of the job, bits 1 << run. Of one run alone, nothing but its steps. */
#define NT_RUNS_ALL UINT64_MAX
#define NT_RUN_BIT(run) (UINT64_C(1) << ((run) < 63 ? (run) : 63))
int nt_summary_parse_runs(struct nt_summary *summary, const char *text, size_t text_bytes,
			  const char *only_step, uint64_t runs, struct nt_error *err);

/* NULL if there is none. */
const struct nt_step *nt_summary_step(const struct nt_summary *summary, const char *name);

/* Whether the job runs, and how often it was requeued, as Slurm says: steps of that run without a
 * final record are then running. */
void nt_summary_mark_running(struct nt_summary *summary, bool job_runs, unsigned run);

/* Drops findings of other codes, bits 1 << enum nt_finding_id. */
void nt_summary_keep_findings(struct nt_summary *summary, uint32_t codes);

bool nt_summary_damaged(const struct nt_summary *summary);

/* By step, family, collective and size. */
void nt_summary_sort(struct nt_summary *summary);

/* The step's communicator whose ranks waited longest; NULL if unknown. */
const struct nt_comm_seen *nt_summary_latest(const struct nt_summary *summary, size_t step);

/* For code that fills a summary: what follows from the rows of its families, from this one on. */
void nt_summary_guess(struct nt_summary *summary, size_t first_family);

#endif

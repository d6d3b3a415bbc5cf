/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-summary.h - the data of a job's steps, in memory and without limits
 *
 * It is filled from two sources: from a job's short form, which is the text in AdminComment or
 * another sink (step.h has its form), by nt_summary_parse(); and from the rank records of all nodes
 * in the long form, by nt_sum_add_record() for each and nt_summary_add_sum() for the step (sum.h).
 * The short form has rows, the step's own members and reasons; members that only rank records have
 * are marked below.
 *
 *	steps ── families ── rows ── arms
 *	      └─ comms ── places (ranks on nodes), volumes
 *
 * A family consists of communicators that do the same, usually at the same time: they have one
 * name, except for numbers in it, and one shape (ranks, nodes). A row is a key of a family: calls,
 * costs and savings are added up, the rest is from the communicator with the firmest decision and
 * the most calls; comms and same count communicators.
 *
 * Members of other programs and of a later version are skipped. Errors in our members become
 * remarks of kind NT_REMARK_DAMAGE that say where; the valid parts are kept. A summary with such a
 * remark is partial, and must be shown as such.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_summary_init first; nt_summary_fini frees all. Texts are copies, printable ASCII.
 * Errors:   -1 only when memory runs out; rows read so far are kept.
 * Units:    in the names; NAN and -1 stand for what the record leaves out.
 */
#ifndef NT_JOB_SUMMARY_H
#define NT_JOB_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/lateness.h"
#include "record/parallelism.h"
#include "record/rank.h"
#include "record/step.h"

enum nt_remark_kind { NT_REMARK_WHY, NT_REMARK_DAMAGE };

struct nt_remark {
	enum nt_remark_kind kind;
	char step[NT_STEP_NAME_MAX]; /* "" where it is about the whole record */
	char text[240]; /* of NT_REMARK_DAMAGE: where, and what is wrong */
	/* Of NT_REMARK_WHY: */
	struct nt_reason why;
	uint32_t ranks, nodes; /* of the communicators; 0: it is about the step */
	int64_t comms; /* how many of that shape; 0: it is about the step */
};

struct nt_family {
	size_t step;
	uint32_t ranks, nodes;
	char name[NT_COMM_NAME]; /* the framework's, '#' for numbers in it; "": none is known */
	int64_t comms; /* -1 unknown */
	enum nt_parallel parallel; /* a guess */
};

/* From here on: from rank records alone, as is struct nt_comm_seen (rank.h). */

struct nt_node_seen {
	size_t step;
	char name[64];
	int64_t records; /* that it left; 0: it is known by other nodes' words alone */
};

/* Where a rank of a communicator is. */
struct nt_place_seen {
	int64_t rank, task; /* task -1: unknown */
	size_t node; /* index into nodes */
};

/* How many calls a rank of a communicator has begun, if a process did not end by itself or ranks
 * differ (calls.h). */
struct nt_begun_seen {
	int64_t rank, begun;
	int64_t ended; /* -1: not known */
	int64_t seen_s; /* when its process was last known to live, since 1970 */
};

/* The volume of one collective on a communicator. bytes are those that the calls name; inside and
 * between are what all ranks together send to ranks of their own node and of others if each sends
 * what it sends in a ring: NCCL does not report what it really sends. For sends and receives, bytes
 * are what all ranks have sent, and inside and between are from nt_p2p_volume(). */
struct nt_volume {
	int coll;
	int64_t calls;
	double bytes, inside_bytes, between_bytes;
};

/* What NCCL found on a node when a communicator was created, in figures (topology.h). */
struct nt_topology_seen {
	size_t step;
	char node[64], id[40];
	uint32_t ranks, nodes; /* of the communicator */
	struct nt_links {
		int64_t channels; /* 0: none, or not known */
		double intra_gbs, inter_gbs; /* of a channel */
		char intra[8], inter[8];
	} ring, tree;
	int64_t gpus, nics; /* -1: not known; so with all below */
	int64_t nvlinks, gpu_lanes; /* of the GPU with the fewest */
	double gpu_gts; /* of the slowest lane */
	int64_t nic_mbps; /* of the slowest NIC */
	int64_t nics_mbps; /* of all of them */
	char trouble[120]; /* what could not be read; "": nothing */
};

/* What a step's processes dropped for lack of room or by a failure. */
struct nt_dropped {
	size_t step;
	char what[40]; /* as in a rank's record */
	int64_t count;
};

/* Slurm's data on the job, filled in by whoever asked Slurm; "" and 0: not known. */
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
	int64_t more_steps; /* that had no room in the record */

	struct nt_comm_seen *comms;
	struct nt_node_seen *nodes;
	struct nt_explored_arm *arms; /* of a row's key, AUTO first */
	struct nt_dropped *dropped;
	struct nt_topology_seen *topologies;
	size_t comm_count, node_count, arm_count, dropped_count, topology_count;
	bool no_memory; /* something has no room, and is missing */
};

#define NT_SUMMARY_MAX 1000000 /* of one kind (lib/array.h); no honest record comes near */

/* One more item of a list, all zero. NULL: there is no room for it, as no_memory then says. */
#define NT_SUMMARY_ADD(summary, list, count) \
	nt_summary_add((summary), &(summary)->list, &(summary)->count, sizeof(*(summary)->list))
void *nt_summary_add(struct nt_summary *summary, void *items, size_t *count, size_t item_bytes);

enum nt_holding {
	NT_HOLDS_NOTHING, /* no text at all */
	NT_HOLDS_OTHER, /* somebody else's text */
	NT_HOLDS_RECORD, /* ours, whole or damaged */
};

void nt_summary_init(struct nt_summary *summary);
void nt_summary_fini(struct nt_summary *summary);

/* What text_bytes of text hold, judged without reading them in full. */
enum nt_holding nt_summary_holding(const char *text, size_t text_bytes);

/* Add the contents of text, sorted by step, communicator, collective and size. only_step names the
 * only step to add, or is NULL. */
int nt_summary_parse(struct nt_summary *summary, const char *text, size_t text_bytes,
		     const char *only_step, struct nt_error *err);

/* The step of that name; NULL: there is none. */
const struct nt_step *nt_summary_step(const struct nt_summary *summary, const char *name);

/* Slurm's answer whether the job runs, and how often it had been requeued: the steps of that run
 * without a final record are running, too. */
void nt_summary_mark_running(struct nt_summary *summary, bool job_runs, unsigned run);

bool nt_summary_damaged(const struct nt_summary *summary);

/* Rows in the order in which they are shown: by step, family, collective and size. */
void nt_summary_sort(struct nt_summary *summary);

/* The step's communicator whose ranks waited longest; NULL: not known. */
const struct nt_comm_seen *nt_summary_latest(const struct nt_summary *summary, size_t step);

/* For code that fills a summary: computes members of its families, from this one on, from their
 * rows. */
void nt_summary_guess(struct nt_summary *summary, size_t first_family);

#endif

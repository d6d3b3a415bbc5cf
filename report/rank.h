/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - the record of one NCCL process, read from JSON into structs
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_rank_fini frees all, also after a failure; a fresh struct is all zero.
 * Errors:   -1 and *err says what is wrong and where; what was read before it stays and may be
 *           shown as partial.
 * Units:    in the names; NAN and -1 stand for what the record leaves out.
 */
#ifndef NT_RANK_H
#define NT_RANK_H

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "contract/names.h"

struct nt_rank_key {
	int coll;
	int64_t bytes;
	char state[16];
	char why[64]; /* AUTO was kept; "" where it is left out */
	int auto_arm, arm; /* -1 where left out */
	double auto_us, arm_us, auto_p25_us, arm_p25_us, p;
	double predicted_auto_us, predicted_arm_us;
	double spent_ms, saved_ms;
	int64_t samples, calls, spent_calls, forced, differed;
	int64_t rechecks, rollbacks, changes;
	json_object *trial; /* borrowed, as it is; NULL where there is none */
};

struct nt_rank_comm {
	char id[40];
	int64_t rank, ranks, nodes;
	char state[16];
	char why[240];
	json_object *key_array; /* borrowed from the record's root */
	struct nt_rank_key *keys;
	size_t key_count;
};

struct nt_rank {
	int64_t version, job, step, task, pid, nccl, flags;
	char node[64];
	char mode[16];
	char policy[NT_POLICY_MAX];
	bool end;
	json_object *plugins; /* behind ours: profiler, tuner; NULL: none */
	json_object *agreement; /* as it is; NULL where another process speaks for the node */
	json_object *explored; /* as it is (report/explored.h); NULL where nothing was decided */
	json_object *counts; /* name to number, checked; NULL where there is none */
	json_object *comm_array;
	struct nt_rank_comm *comms;
	size_t comm_count;
	json_object *root;
};

int nt_rank_parse(struct nt_rank *rank, const char *text, size_t text_bytes, struct nt_error *err);
void nt_rank_fini(struct nt_rank *rank);

#endif

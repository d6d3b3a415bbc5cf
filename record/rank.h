/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - the record of one NCCL process: its fields, its parts, its file
 *
 * rank.<task>.<pid>.json in the step's runtime directory, JSON on one line, at most
 * NT_RANK_RECORD_MAX bytes; nccl-tune-record(5) says what the members mean:
 *
 *	{ NT_RANK_FIELDS, "plugins":{...}, "warm":{ NT_RANK_WARM_FIELDS },
 *	  "marker":{ NT_RANK_MARKER_FIELDS }, "agreement":{...}, "explored":[...],
 *	  "comms":[{ NT_RANK_COMM_FIELDS, "keys":[{ NT_RANK_KEY_FIELDS, "trial":{...} }, ...] }, ...],
 *	  "counts":{"<what was dropped>":7, ...} }
 *
 * A field is one line in its list (field.h), and is then written and read. Who writes fills the
 * structs below and calls the functions below; rankread.h reads.
 *
 * Threads:  any; structs belong to their caller.
 * Memory:   nothing is allocated.
 * Errors:   put->full (put.h); nt_rank_save: -1, and the file is the one before, or none.
 * Units:    in the names.
 */
#ifndef NT_RANK_H
#define NT_RANK_H

#include "contract/coll.h"
#include "contract/names.h"
#include "record/field.h"

#define NT_KEYSTATE_COUNTED "counted" /* never tried */
#define NT_KEYSTATE_EXPLORING "exploring"
#define NT_KEYSTATE_COMMITTED "committed" /* arm is not AUTO */
#define NT_KEYSTATE_KEPT "kept" /* AUTO stays; arm is the best other one */
#define NT_KEYSTATE_OBSERVED "observed" /* mode observe */

/* why of a counted key that takes too little of the time to be explored */
#define NT_KEYWHY_UNWORTHY "not worth it"

#define NT_KEYROUND_SCREEN "screen" /* all promising arms */
#define NT_KEYROUND_CONFIRM "confirm" /* AUTO and the best of them */
#define NT_KEYROUND_RECHECK "recheck" /* AUTO and the arm in force */

#define NT_KEYFROM_WARM "warm" /* remembered, and found again here; or known not to be better */
#define NT_KEYFROM_POLICY "policy" /* remembered, and taken as it is */

#define NT_COMMSTATE_JOINING "joining"
#define NT_COMMSTATE_AGREED "agreed"
#define NT_COMMSTATE_REJECTED "rejected"

/* clang-format off */
#define NT_RANK_FIELDS(X) \
	X(COUNT, "v", version, 0, NT_MUST) \
	X(COUNT, "job", job, 0, NT_MUST) \
	X(COUNT, "step", step, 0, NT_MUST) \
	X(COUNT, "task", task, 0, NT_MAY) \
	X(COUNT, "pid", pid, 0, NT_MAY) \
	X(TEXT, "node", node, 64, NT_MUST) \
	X(TEXT, "mode", mode, 16, NT_MAY) \
	X(TEXT, "policy", policy, NT_POLICY_MAX, NT_EMPTY) \
	X(COUNT, "nccl", nccl, 0, NT_MAY) \
	X(TALLY, "flags", flags, 0, NT_EMPTY) /* NT_PLACE_* */ \
	X(TEXT, "driver", driver, 24, NT_MAY) /* the GPU driver's version */ \
	X(TEXT, "fabric", fabric, 8, NT_MAY) /* a guess: "socket", "ib" or "any" */ \
	X(TEXT, "launch", launch, 33, NT_MAY) /* the launch profile in force */ \
	X(BOOL, "end", end, 0, NT_MAY) /* written at the end of the process */ \
	X(OBJECT, NT_RANK_PLUGINS, plugins, 0, NT_MAY) /* behind ours: profiler, tuner */ \
	X(OBJECT, NT_RANK_WARM, warm, 0, NT_MAY) /* remembered arms that the process was given */ \
	X(OBJECT, NT_RANK_MARKER, marker_object, 0, NT_MAY) \
	X(OBJECT, NT_RANK_AGREEMENT, agreement, 0, NT_MAY) /* of a process that speaks for its node */ \
	X(ARRAY, NT_RANK_EXPLORED, explored, 0, NT_MAY) /* of a process that decided */ \
	X(ARRAY, NT_RANK_COMMS, comm_array, 0, NT_MUST) \
	X(OBJECT, NT_RANK_COUNTS, counts, 0, NT_MAY) /* what was dropped, by name */

/* The step marker (engine/marker.h); its periods in time order. */
#define NT_RANK_MARKER_FIELDS(X) \
	X(COLL, "coll", coll, 0, NT_MUST) \
	X(COUNT, "bytes", bytes, 0, NT_MUST) /* the floor of the size band */ \
	X(COUNT, "ranks", ranks, 0, NT_MUST) /* of its communicator */ \
	X(COUNT, "calls", calls, 0, NT_MUST) \
	X(ARRAY, NT_RANK_PERIODS, period_array, 0, NT_MAY)

#define NT_RANK_COMM_FIELDS(X) \
	X(TEXT, "id", id, 40, NT_MUST) \
	X(COUNT, "rank", rank, 0, NT_MUST) \
	X(COUNT, "ranks", ranks, 0, NT_MUST) /* 0, and nodes 0: NCCL told too little */ \
	X(COUNT, "nodes", nodes, 0, NT_MAY) \
	X(TEXT, "state", state, 16, NT_MUST) /* NT_COMMSTATE_* */ \
	X(TEXT, "why", why, 240, NT_EMPTY) /* who differs and in what, or why nothing was tried */ \
	X(BOOL, "alike", alike, 0, NT_MAY) /* its ranks' cards were compared and are the same */ \
	X(TEXT, "name", name, NT_COMM_NAME, NT_MAY) /* the framework's */ \
	X(ARRAY, NT_RANK_KEYS, key_array, 0, NT_MAY)

#define NT_RANK_KEY_FIELDS(X) \
	X(COLL, "coll", coll, 0, NT_MUST) \
	X(COUNT, "bytes", bytes, 0, NT_MUST) /* the floor of the size band */ \
	X(TEXT, "state", state, 16, NT_MUST) /* NT_KEYSTATE_* */ \
	X(ARM, "auto", auto_arm, 0, NT_MAY) \
	X(ARM, "arm", arm, 0, NT_MAY) \
	X(TIME, "auto_us", auto_us, 2, NT_MAY) \
	X(TIME, "arm_us", arm_us, 2, NT_MAY) \
	X(TIME, "auto_p25_us", auto_p25_us, 2, NT_MAY) \
	X(TIME, "arm_p25_us", arm_p25_us, 2, NT_MAY) \
	X(TIME, "auto_p75_us", auto_p75_us, 2, NT_MAY) \
	X(TIME, "arm_p75_us", arm_p75_us, 2, NT_MAY) \
	X(TIMES, "own_us", own_us, 2, NT_MAY) /* a call's own, slowest rank's start to end */ \
	X(TIMES, "period_us", period_us, 2, NT_MAY) /* from one call of the key to the next */ \
	X(COUNT, "samples", samples, 0, NT_MAY) \
	X(SHARE, "p", p, 6, NT_MAY) \
	X(TEXT, "why", why, 64, NT_MAY) /* AUTO was kept, or is still in force */ \
	X(TEXT, "from", from, 8, NT_MAY) /* NT_KEYFROM_*: the decision is a remembered one */ \
	X(TEXT, "round", round, 8, NT_MAY) /* NT_KEYROUND_*: the newest, while the key is open */ \
	X(COUNT, "round_arms", round_arms, 0, NT_MAY) /* that it measures, AUTO included */ \
	X(COUNT, "round_calls", round_calls, 0, NT_MAY) /* that it takes */ \
	X(COUNT, "round_done", round_done, 0, NT_MAY) /* and that have gone by */ \
	X(COUNT, "decided", decided, 0, NT_MAY) /* calls when it was decided last */ \
	X(COUNT, "spent_calls", spent_calls, 0, NT_MAY) \
	X(TIME, "spent_ms", spent_ms, 3, NT_MAY) \
	X(NUMBER, "saved_ms", saved_ms, 3, NT_MAY) \
	X(COUNT, "rechecks", rechecks, 0, NT_MAY) /* windows that measured a committed arm again */ \
	X(COUNT, "rollbacks", rollbacks, 0, NT_MAY) /* returns to AUTO after one */ \
	X(COUNT, "changes", changes, 0, NT_MAY) /* other arms instead */ \
	X(TIME, "predicted_auto_us", predicted_auto_us, 2, NT_MAY) /* by NCCL */ \
	X(TIME, "predicted_arm_us", predicted_arm_us, 2, NT_MAY) \
	X(COUNT, "calls", calls, 0, NT_MAY) \
	X(COUNT, "forced", forced, 0, NT_MAY) /* ran the forced arm, as NCCL's events say */ \
	X(COUNT, "differed", differed, 0, NT_MAY) /* did not */ \
	X(OBJECT, NT_RANK_TRIAL, trial, 0, NT_MAY) /* struct nt_rank_trial */

/* Remembered arms: keys that were offered, those of them that this process follows, and why none is
 * used. */
#define NT_RANK_WARM_FIELDS(X) \
	X(COUNT, "offered", offered, 0, NT_MUST) \
	X(COUNT, "used", used, 0, NT_MUST) \
	X(TEXT, "refused", refused, 160, NT_MAY)

/* Every arm of a key with NCCL's prediction and the newest times. */
#define NT_EXPLORED_FIELDS(X) \
	X(TEXT, "id", id, 40, NT_MUST) \
	X(COUNT, "ranks", ranks, 0, NT_MUST) \
	X(COUNT, "nodes", nodes, 0, NT_MUST) \
	X(COLL, "coll", coll, 0, NT_MUST) \
	X(COUNT, "bytes", bytes, 0, NT_MUST) \
	X(ARM, "auto", auto_arm, 0, NT_MUST) \
	X(ARM, "arm", arm, 0, NT_MUST) \
	X(ARRAY, NT_EXPLORED_ARMS, arm_array, 0, NT_MUST)

#define NT_EXPLORED_ARM_FIELDS(X) \
	X(ARM, "arm", arm, 0, NT_MUST) \
	X(TIME, "predicted_us", predicted_us, 2, NT_MAY) \
	X(TIME, "us", us, 2, NT_MUST) \
	X(TIME, "p25_us", p25_us, 2, NT_MUST) \
	X(COUNT, "samples", samples, 0, NT_MUST) \
	X(TIME, "p75_us", p75_us, 2, NT_MAY) \
	X(TIME, "min_us", min_us, 2, NT_MAY) \
	X(TIME, "max_us", max_us, 2, NT_MAY)

/* What it took to agree with other nodes: reads of their logs, appends to one's own and their
 * bytes, outcomes, keys that were opened for a recheck and the reads meant for them. */
#define NT_AGREEMENT_FIELDS(X) \
	X(COUNT, "nodes", nodes, 0, NT_MAY) \
	X(COUNT, "fetches", fetches, 0, NT_MAY) \
	X(COUNT, "appends", appends, 0, NT_MAY) \
	X(COUNT, "bytes", bytes, 0, NT_MAY) \
	X(COUNT, "spent_kib", spent_kib, 0, NT_MAY) \
	X(COUNT, "commits", commits, 0, NT_MAY) \
	X(COUNT, "aborts", aborts, 0, NT_MAY) \
	X(COUNT, "rejects", rejects, 0, NT_MAY) \
	X(COUNT, "refusals", refusals, 0, NT_MAY) \
	X(COUNT, "sessions", rechecks, 0, NT_MAY) \
	X(COUNT, "looks", looks, 0, NT_MAY)

/* What a round with channel caps and chunk sizes was derived from. */
#define NT_TRIAL_CHANNELS_FIELDS(X) \
	X(COUNT, "ranks", ranks, 0, NT_MAY) \
	X(COUNT, "most", most, 0, NT_MAY) \
	X(BOOL, "chunks", chunks, 0, NT_MAY) \
	X(OBJECT, NT_IN_TRIAL_OWN, own, 0, NT_MUST)
/* clang-format on */

#define NT_RANK_PLUGINS "plugins"
#define NT_RANK_WARM "warm"
#define NT_RANK_MARKER "marker"
#define NT_RANK_PERIODS "periods_us"
#define NT_RANK_AGREEMENT "agreement"
#define NT_RANK_EXPLORED "explored"
#define NT_RANK_COMMS "comms"
#define NT_RANK_COUNTS "counts"
#define NT_RANK_KEYS "keys"
#define NT_RANK_TRIAL "trial"
#define NT_EXPLORED_ARMS "arms"
#define NT_IN_TRIAL_ARMS "arms"
#define NT_IN_TRIAL_COST "cost"
#define NT_IN_TRIAL_REMEMBERED "remembered"
#define NT_IN_TRIAL_REMEMBERED_COST "remembered_cost"
#define NT_IN_TRIAL_CHANNELS "channels"
#define NT_IN_TRIAL_OWN "own"
#define NT_IN_TRIAL_ROUNDS "rounds"
#define NT_IN_TRIAL_PLANS "plans"
#define NT_IN_PLAN_BLOCKS "blocks"
#define NT_IN_PLAN_ARMS "arms"

struct nt_rank_key {
	NT_RANK_KEY_FIELDS(NT_FIELD_MEMBER)
};

struct nt_rank_comm {
	NT_RANK_COMM_FIELDS(NT_FIELD_MEMBER)
	struct nt_rank_key *keys; /* where it was read */
	size_t key_count;
};

#define NT_RANK_PERIODS_MAX 64

struct nt_rank_marker {
	NT_RANK_MARKER_FIELDS(NT_FIELD_MEMBER)
	size_t periods;
	double period_us[NT_RANK_PERIODS_MAX];
};

struct nt_rank {
	NT_RANK_FIELDS(NT_FIELD_MEMBER)
	struct nt_rank_marker marker; /* where it was read; coll -1: there is none */
	struct nt_rank_comm *comms; /* where it was read */
	size_t comm_count;
	struct json_object *root;
};

struct nt_rank_warm {
	NT_RANK_WARM_FIELDS(NT_FIELD_MEMBER)
};

struct nt_explored {
	NT_EXPLORED_FIELDS(NT_FIELD_MEMBER)
};

struct nt_explored_arm {
	NT_EXPLORED_ARM_FIELDS(NT_FIELD_MEMBER)
};

struct nt_agreement {
	NT_AGREEMENT_FIELDS(NT_FIELD_MEMBER)
};

struct nt_trial_channels {
	NT_TRIAL_CHANNELS_FIELDS(NT_FIELD_MEMBER)
};

extern const struct nt_fields nt_rank_fields, nt_rank_comm_fields, nt_rank_key_fields,
	nt_rank_warm_fields, nt_rank_marker_fields, nt_explored_fields, nt_explored_arm_fields,
	nt_agreement_fields, nt_trial_channels_fields;

/* A trial: what a key's first decision was made from, so that it can be repeated. */
#define NT_RANK_TRIAL_ARMS NT_PAIRS /* screened beside AUTO */
#define NT_RANK_TRIAL_ROUNDS 16
#define NT_RANK_ROUND_ARMS 12
#define NT_RANK_TRIAL_BYTES 2072 /* of one round's times */

struct nt_rank_trial {
	unsigned arms;
	int arm[NT_RANK_TRIAL_ARMS];
	double cost_us[NT_RANK_TRIAL_ARMS]; /* NCCL's; < 0: none */
	bool remembers; /* the first round was of AUTO and a remembered arm */
	int remembered;
	double remembered_cost_us; /* NCCL's, of its pair; < 0: none */
	bool has_channels;
	uint32_t ranks, most; /* channels: of the communicator, given at most */
	bool chunks;
	uint8_t own[NT_PAIRS]; /* channels of each pair as NCCL gives it; 0: not seen */
	unsigned rounds;
	struct {
		const uint16_t *sample; /* to be written */
		unsigned samples;
		const uint8_t *data; /* as it was read: two bytes each, low byte first */
		size_t bytes;
		unsigned blocks, arms; /* 0: the record does not say */
		int arm[NT_RANK_ROUND_ARMS];
	} round[NT_RANK_TRIAL_ROUNDS];
};

/* The member "marker". */
void nt_rank_put_marker(struct nt_put *put, const struct nt_rank_marker *marker);

/* The member "trial" of a key. */
void nt_rank_put_trial(struct nt_put *put, const struct nt_rank_trial *trial);

/* The member "agreement"; how long the newest commits took. */
void nt_rank_put_agreement(struct nt_put *put, const struct nt_agreement *agreement,
			   const uint16_t *commit_ms, size_t commits);

/* Write text as the file of a process in directory, which appears whole or not at all. */
int nt_rank_save(const char *directory, uint32_t task, int pid, const char *text, size_t bytes);

/* Is this the name of such a file? */
bool nt_rank_file_is(const char *name);

#endif

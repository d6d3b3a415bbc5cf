/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - the record of one NCCL process
 *
 * A text in the process's tray (tray.h): one line of JSON, at most NT_RANK_RECORD_MAX bytes.
 * nccl-tune-record(5) describes the members, record.def lists them:
 *
 *	{ NT_RANK_FIELDS, "plugins":{...}, "warm":{ NT_RANK_WARM_FIELDS },
 *	  "marker":{ NT_RANK_MARKER_FIELDS }, "agreement":{...}, "explored":[...],
 *	  "comms":[{ NT_RANK_COMM_FIELDS, "keys":[{ NT_KEY_FIELDS, "trial":{...} }, ...] }, ...],
 *	  "facts":{ NT_FACTS_FIELDS }, "counts":{"<what was dropped>":7, ...} }
 *
 * rankread.h reads it.
 *
 * Threads:  any; structs belong to their caller.
 * Memory:   nothing is allocated.
 * Errors:   put->full (json-writer.h).
 * Units:    in the names.
 */
#ifndef NT_RANK_H
#define NT_RANK_H

#include "contract/coll.h"
#include "contract/names.h"
#include "record/key.h"

#define NT_KEYROUND_SCREEN "screen" /* all promising arms */
#define NT_KEYROUND_CONFIRM "confirm" /* AUTO and the best of them */
#define NT_KEYROUND_RECHECK "recheck" /* AUTO and the arm in force */

#define NT_KEYFROM_WARM "warm" /* remembered, and found again here; or known not to be better */
#define NT_KEYFROM_POLICY "policy" /* remembered, and taken as it is */

#define NT_RANK_PLUGINS "plugins"
#define NT_RANK_WARM "warm"
#define NT_RANK_MARKER "marker"
#define NT_RANK_PERIODS "periods_us"
#define NT_RANK_FACTS "facts"
#define NT_RANK_AGREEMENT "agreement"
#define NT_RANK_EXPLORED "explored"
#define NT_RANK_COMMS "comms"
#define NT_RANK_COUNTS "counts"
#define NT_RANK_KEYS "keys"
#define NT_RANK_SAMPLED "sampled"
#define NT_SAMPLED_CALLS "calls"
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

/* A call's own time on this rank. */
struct nt_sampled_call {
	int coll;
	bool ring;
	int64_t turn;
	double us, s; /* s: when, since the first one */
};

#define NT_SAMPLED_MAX 256 /* of a communicator */

/* A communicator: as one rank records it, of all ranks in a sum (sum.h), in a summary (job-
 * summary.h). */
struct nt_comm_seen {
	NT_RANK_COMM_FIELDS(NT_FIELD_MEMBER) /* rank: in a sum, the rank that gave `why` */
	/* Of a rank, and in a sum: */
	struct nt_key *keys;
	size_t key_count;
	/* Of a rank: */
	struct nt_sampled_call *sampled;
	size_t sampled_count;
	/* In a sum: */
	struct nt_late_sample *samples; /* of all ranks (lateness.h) */
	size_t sample_count;
	/* In a sum and a summary: */
	struct nt_place_seen *places; /* one for each rank with a record */
	size_t place_count;
	/* In a summary: */
	size_t step, family;
	struct nt_volume *volumes; /* by collective */
	size_t volume_count;
	struct nt_begun_seen *begun; /* by rank */
	size_t begun_count;
	struct nt_lateness *lateness; /* NULL: too few calls were measured */
};

#define NT_RANK_PERIODS_MAX 64

struct nt_rank_marker {
	NT_RANK_MARKER_FIELDS(NT_FIELD_MEMBER)
	size_t periods;
	double period_us[NT_RANK_PERIODS_MAX];
};

/* The set-up of a process, as itself sees it */
struct nt_facts {
	NT_FACTS_FIELDS(NT_FIELD_MEMBER)
};

struct nt_rank {
	NT_RANK_FIELDS(NT_FIELD_MEMBER)
	struct nt_rank_marker marker; /* where it was read; coll -1: there is none */
	struct nt_facts facts; /* where it was read; cleared: there are none */
	struct nt_comm_seen *comms; /* where it was read */
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

struct nt_sampled {
	NT_SAMPLED_FIELDS(NT_FIELD_MEMBER)
};

struct nt_agreement {
	NT_AGREEMENT_FIELDS(NT_FIELD_MEMBER)
};

struct nt_trial_channels {
	NT_TRIAL_CHANNELS_FIELDS(NT_FIELD_MEMBER)
};

extern const struct nt_fields nt_rank_fields, nt_rank_comm_fields, nt_rank_warm_fields,
	nt_rank_marker_fields, nt_facts_fields, nt_explored_fields, nt_explored_arm_fields,
	nt_agreement_fields, nt_trial_channels_fields, nt_sampled_fields;

/* The data of a key's first decision, with which it can be repeated. */
#define NT_RANK_TRIAL_ARMS NT_PAIRS /* screened besides AUTO */
#define NT_RANK_TRIAL_ROUNDS 16
#define NT_RANK_ROUND_ARMS 12
#define NT_RANK_TRIAL_BYTES 3098 /* of one round's times */

struct nt_rank_trial {
	unsigned arms;
	int arm[NT_RANK_TRIAL_ARMS];
	double cost_us[NT_RANK_TRIAL_ARMS]; /* NCCL's; < 0: none */
	bool remembers; /* the first round was of AUTO and a remembered arm */
	int remembered;
	double remembered_cost_us; /* NCCL's, of its pair; < 0: none */
	bool has_channels;
	uint32_t ranks, most; /* channels: of the communicator, given at most */
	uint8_t own[NT_PAIRS]; /* channels of each pair as NCCL gives it; 0: not seen */
	unsigned rounds;
	struct {
		const uint16_t *sample; /* to be written */
		unsigned samples;
		const uint8_t *data; /* as it was read: two bytes each, low byte first */
		size_t bytes;
		unsigned blocks; /* 0: the record does not say */
		unsigned arms; /* to be written, as arm */
		int arm[NT_RANK_ROUND_ARMS];
	} round[NT_RANK_TRIAL_ROUNDS];
};

/* Are both the same key? */
bool nt_explored_same(const struct nt_explored *a, const struct nt_explored *b);

/* The member "marker". */
void nt_rank_put_marker(struct nt_json_writer *put, const struct nt_rank_marker *marker);

/* The member "sampled" of a communicator, if there are any calls; in any order. */
void nt_rank_put_sampled(struct nt_json_writer *put, const struct nt_sampled_call *calls,
			 size_t count);

/* The member "trial" of a key. */
void nt_rank_put_trial(struct nt_json_writer *put, const struct nt_rank_trial *trial);

/* The member "agreement"; commit_ms: durations of the newest commits. */
void nt_rank_put_agreement(struct nt_json_writer *put, const struct nt_agreement *agreement,
			   const uint16_t *commit_ms, size_t commits);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key.h - the data of a key: one collective and size band on one communicator
 *
 * One struct serves from the measuring process to the page; record.def lists its fields.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Units:    in the names; NAN, -1 and "" mean unknown.
 */
#ifndef NT_RECORD_KEY_H
#define NT_RECORD_KEY_H

#include "contract/names.h"
#include "record/field.h"
#include "record/record.def"

#define NT_RANK_TRIAL "trial"

#define NT_KEY_MEMBER(kind, name, member, size, need, merge, unit, meaning) \
	NT_MEMBER_##kind(member, size)

struct nt_key {
	NT_KEY_FIELDS(NT_KEY_MEMBER, NT_KEY_MEMBER, NT_KEY_MEMBER, NT_KEY_MEMBER)
	/* The rank it is from, in a sum (sum.h); of equals, the lowest. */
	int64_t rank;
	/* In a summary (job-summary.h), where a row is a key of a family: */
	size_t step, family; /* indexes */
	uint32_t ranks, nodes; /* of the communicator */
	size_t first_arm, arm_count; /* in the summary's arms */
};

/* Of a rank record, the short form, a report; all. */
extern const struct nt_fields nt_rank_key_fields, nt_short_key_fields, nt_report_key_fields,
	nt_key_fields;

void nt_key_clear(struct nt_key *key);

/* Sets gain_percent from the median times, unless AUTO's is too short to measure. */
void nt_key_compare(struct nt_key *key);

/* Forgets the times of the other arm. */
void nt_key_forget_arm(struct nt_key *key);

/* Merges another rank's key of the same communicator. */
void nt_key_merge_rank(struct nt_key *known, const struct nt_key *key);

/* Merges the key of another communicator of the family. firmer: its decision is the firmer one. */
void nt_key_merge_comm(struct nt_key *row, const struct nt_key *key, bool firmer);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key.h - the data of a key: one collective and size band on one communicator
 *
 * One struct is used from the process that measures to the page that shows it; record.def lists its
 * fields. Rank records, the short form and reports each have a table of their fields.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Units:    in the names; NAN, -1 and "" stand for what is not known.
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
	/* Which rank it is from, in a sum (sum.h); if two know the same, the lowest. */
	int64_t rank;
	/* For a row of a summary (job-summary.h): a key of a family of communicators. */
	size_t step, family; /* indexes */
	uint32_t ranks, nodes; /* of the communicator */
	size_t first_arm, arm_count; /* in the summary's arms; from rank records alone */
};

/* Those of a rank record, of the short form, of a report; all of them. */
extern const struct nt_fields nt_rank_key_fields, nt_short_key_fields, nt_report_key_fields,
	nt_key_fields;

/* Nothing is known. */
void nt_key_clear(struct nt_key *key);

/* The arm whose times are next to AUTO's: the one in use, or else the best other one. -1: none is
 * known. */
int nt_key_other_arm(const struct nt_key *key);

/* Set gain_percent from the median times; unchanged if AUTO took less than a clock can measure. */
void nt_key_compare(struct nt_key *key);

/* Nothing is known of that arm's times. */
void nt_key_forget_arm(struct nt_key *key);

/* Add what another rank of the same communicator says of the key. */
void nt_key_merge_rank(struct nt_key *known, const struct nt_key *key);

/* Add the key of another communicator of the family. firmer: its decision is the firmer one. */
void nt_key_merge_comm(struct nt_key *row, const struct nt_key *key, bool firmer);

#endif

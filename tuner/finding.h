/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h - of each arm that was explored: what NCCL predicted and what was measured, kept for
 * the
 *             record of the process that decided
 *
 * Threads:  the helper thread.
 * Memory:   a list on the heap, until nt_findings_clear(); at most NT_FINDINGS, the oldest go.
 * Errors:   without memory nothing is kept.
 * Units:    microseconds.
 */
#ifndef NT_FINDING_H
#define NT_FINDING_H

#include "tuner/decide.h"

#define NT_FINDINGS 256
#define NT_FINDING_ARMS 32 /* AUTO, all pairs, and those refined */
#define NT_FINDING_TEXT (240 + NT_FINDING_ARMS * 140) /* bytes of one as text */

struct nt_found {
	uint16_t arm, samples;
	float predicted_us; /* NCCL's; < 0: none, as of all arms with caps or chunk sizes */
	float us, p25_us; /* median and lower quartile of the newest round and those like it */
};

struct nt_finding {
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes;
	uint16_t auto_arm, chosen_arm;
	unsigned arms;
	/* in the order in which they were tried, AUTO first */
	struct nt_found arm[NT_FINDING_ARMS];
	float cost_us[NT_PAIRS];
};

struct nt_findings {
	struct nt_findings_entry *first;
	unsigned count;
};

void nt_finding_begin(struct nt_finding *finding, const struct nt_board_comm *comm,
		      const struct nt_board_key *key);
void nt_finding_note(struct nt_finding *finding, unsigned arm, const struct nt_figures *figures);

/* In place of an older one of the same key. */
void nt_findings_keep(struct nt_findings *findings, const struct nt_finding *finding,
		      const struct nt_outcome *outcome);
void nt_findings_clear(struct nt_findings *findings);

/* The number-th, the newest first; NULL: no more. */
const struct nt_finding *nt_findings_at(const struct nt_findings *findings, unsigned number);

/* JSON, as contract/record.h has it. Returns its bytes; 0 where it does not fit. */
size_t nt_finding_text(const struct nt_finding *finding, char *out, size_t out_bytes);

#endif

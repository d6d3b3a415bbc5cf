/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* verdict-maker.h - shared by the parts of a verdict (verdict*.c)
 *
 * Threads:  as verdict.h.
 * Errors:   maker->no_memory.
 */
#ifndef NT_VERDICT_MAKER_H
#define NT_VERDICT_MAKER_H

#include <stdbool.h>
#include "report/model/job-figures.h"
#include "report/text/sentence.h"

#define NT_TOLD_MAX 3 /* sentences of one kind */
#define NT_NAMED_MAX 4 /* steps in one sentence */
#define NT_NOTHING_MS 0.05 /* less is printed as 0.0 */

struct nt_maker {
	struct nt_verdict_text *verdict;
	const struct nt_summary *summary;
	struct nt_job_figures figures;
	bool no_memory;
};

/* Add a sentence. type: advice, or "". */
void nt_maker_say(struct nt_maker *maker, enum nt_sentence_kind kind, const char *type,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "Step 2: ", where there are several; else "". Returns out. */
#define NT_STEP_PREFIX (NT_STEP_NAME_MAX + 8)
const char *nt_maker_prefix(const struct nt_summary *summary, size_t step,
			    char out[NT_STEP_PREFIX]);

/* The job's gain: as in accounting, its source, the net, the largest of a collective. */
void nt_maker_job(struct nt_maker *maker);
/* Rows that were not tuned, by reason. */
void nt_maker_open(struct nt_maker *maker);
/* Communicators and steps that were not tuned. */
void nt_maker_untuned(struct nt_maker *maker);
/* Ranks that others wait for. */
void nt_maker_late(struct nt_maker *maker);
/* What to do, from what the other sentences say. */
void nt_maker_next(struct nt_maker *maker);
/* Nodes that have fewer channels or slower links than others. */
void nt_maker_topology(struct nt_maker *maker);
/* How near calls come to what the links can. */
void nt_maker_links(struct nt_maker *maker);
/* What a record lacks. */
void nt_maker_partial(struct nt_maker *maker);

#endif

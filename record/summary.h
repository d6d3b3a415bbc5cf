/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - a job's record, from the text in its accounting field to rows
 *
 * The text is what AdminComment holds, or the same from another sink; step.h has its form. Members
 * of other programs are not looked at. Whatever is wrong in ours becomes a remark of kind
 * NT_REMARK_DAMAGE that says where; what is right around it is kept. A summary with such a remark
 * is partial, and whoever shows it says so.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_summary_init first; nt_summary_fini frees all. Texts are copies, printable ASCII.
 * Errors:   -1 only when memory runs out; rows read so far stay.
 * Units:    in the names; NAN and -1 stand for what the record leaves out.
 */
#ifndef NT_SUMMARY_H
#define NT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "record/step.h"

enum nt_remark_kind { NT_REMARK_WHY, NT_REMARK_DAMAGE };

struct nt_remark {
	enum nt_remark_kind kind;
	char step[NT_STEP_NAME_MAX]; /* "" where it is about the whole record */
	char text[240];
};

struct nt_summary {
	struct nt_step *steps;
	struct nt_row *rows;
	struct nt_remark *remarks;
	size_t step_count, row_count, remark_count;
	int64_t more_steps; /* that had no room in the record */
};

enum nt_holding {
	NT_HOLDS_NOTHING, /* no text at all */
	NT_HOLDS_OTHER, /* somebody else's text */
	NT_HOLDS_RECORD, /* ours, whole or damaged */
};

void nt_summary_init(struct nt_summary *summary);
void nt_summary_fini(struct nt_summary *summary);

/* What text_bytes of text hold, judged without reading them in full. */
enum nt_holding nt_summary_holding(const char *text, size_t text_bytes);

/* Add what text holds, sorted by step, communicator, collective and size. only_step names the
 * one step that is wanted, or is NULL. */
int nt_summary_parse(struct nt_summary *summary, const char *text, size_t text_bytes,
		     const char *only_step, struct nt_error *err);

bool nt_summary_damaged(const struct nt_summary *summary);

#endif

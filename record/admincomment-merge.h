/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* admincomment-merge.h - merge step records into the text of a job's AdminComment
 *
 * Other programs' members of a JSON object are kept byte for byte; other text is not touched. Steps
 * are in the order in which they were last written. If our record would exceed NT_JOB_RECORD_MAX,
 * the oldest steps are reduced to {"mode":...,"more":COUNT} and a few figures, then removed and
 * counted by the record's "more".
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller frees *out, which is NULL unless the result is NT_ADMINCOMMENT_MERGE_DONE.
 */
#ifndef NT_ADMINCOMMENT_MERGE_H
#define NT_ADMINCOMMENT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

enum nt_admincomment_merge {
	NT_ADMINCOMMENT_MERGE_DONE, /* *out is the new text */
	NT_ADMINCOMMENT_MERGE_UNCHANGED, /* the text has these records */
	NT_ADMINCOMMENT_MERGE_FOREIGN, /* another program's text, or another version */
	NT_ADMINCOMMENT_MERGE_NO_ROOM, /* longer than accounting keeps */
	NT_ADMINCOMMENT_MERGE_NO_MEMORY,
};

#define NT_COMMENT_MAX 65535 /* slurmdbd silently cuts longer text */

/* Does the text have this record of the step, perhaps reduced or removed? */
bool nt_admincomment_merge_holds(const char *comment, const char *step, const char *record);

/* Is the step there? The step that was written last always is. */
bool nt_admincomment_merge_shows(const char *comment, const char *step);

struct nt_admincomment_merge_step {
	const char *step; /* "0", "batch", ...; unique */
	const char *record; /* checked (nt_step_check) */
};

/* All of them, in this order; comment may be "". */
enum nt_admincomment_merge nt_admincomment_merge_steps(
	const char *comment, const struct nt_admincomment_merge_step *steps, size_t count,
	char **out);

/* One of them. */
enum nt_admincomment_merge nt_admincomment_merge_step(const char *comment, const char *step,
						      const char *record, char **out);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* admincomment-merge.h - merge a step's record into the text of a job's AdminComment
 *
 * Members that other programs keep in a JSON object there are not changed, byte for byte; other
 * text is not touched at all. Steps are in the order in which they were last written. If our record
 * would be longer than NT_JOB_RECORD_MAX, the oldest steps are reduced to
 * {"mode":...,"more":COUNT}, with the launch profile and its measured gain if they have them. If
 * that is not enough, they are removed, and the record's "more" counts them.
 *
 * Threads:  pure functions, any thread.
 * Memory:   *out is malloc'ed, the caller frees it.
 * Errors:   the result says what to do instead; *out is NULL unless it is
 *           NT_ADMINCOMMENT_MERGE_DONE.
 */
#ifndef NT_ADMINCOMMENT_MERGE_H
#define NT_ADMINCOMMENT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

enum nt_admincomment_merge {
	NT_ADMINCOMMENT_MERGE_DONE, /* *out is the new text */
	NT_ADMINCOMMENT_MERGE_UNCHANGED, /* the text holds exactly these records of the steps */
	NT_ADMINCOMMENT_MERGE_FOREIGN, /* another program's text, or a record of another version */
	NT_ADMINCOMMENT_MERGE_NO_ROOM, /* the new text would be longer than accounting keeps */
	NT_ADMINCOMMENT_MERGE_NO_MEMORY,
};

#define NT_COMMENT_MAX 65535 /* slurmdbd's column cuts longer text without a word */

/* Does the text have this record of the step, in full or as far as there was room? */
bool nt_admincomment_merge_holds(const char *comment, const char *step, const char *record);

/* Is the step there by its name? The step that was written last is: others are removed first. */
bool nt_admincomment_merge_shows(const char *comment, const char *step);

struct nt_admincomment_merge_step {
	const char *step; /* "0", "batch", ...; no two alike */
	const char *record; /* has been checked (nt_step_check) */
};

/* All of them, in this order; comment may be "". */
enum nt_admincomment_merge nt_admincomment_merge_steps(
	const char *comment, const struct nt_admincomment_merge_step *steps, size_t count,
	char **out);

/* One of them. */
enum nt_admincomment_merge nt_admincomment_merge_step(const char *comment, const char *step,
						      const char *record, char **out);

#endif

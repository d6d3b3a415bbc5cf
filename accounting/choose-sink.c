/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the sink of a job's records. */
#include "accounting/choose-sink.h"

#include <stdlib.h>

void nt_job_comment_fini(struct nt_job_comment *comment)
{
	free(comment->text);
	*comment = (struct nt_job_comment){ .text = NULL };
}

static enum nt_delivered merge(struct nt_job_comment *comment,
			       const struct nt_admincomment_merge_step *steps, size_t count,
			       struct nt_error *err)
{
	char *merged;

	switch (nt_admincomment_merge_steps(comment->text, steps, count, &merged)) {
	case NT_ADMINCOMMENT_MERGE_DONE:
		free(comment->text);
		comment->text = merged;
		comment->changed = true;
		return NT_DELIVERED_WRITTEN;
	case NT_ADMINCOMMENT_MERGE_UNCHANGED: return NT_DELIVERED_PRESENT;
	case NT_ADMINCOMMENT_MERGE_FOREIGN:
		nt_error_set(err, "its AdminComment contains another program's data");
		return NT_DELIVERED_NOWHERE;
	case NT_ADMINCOMMENT_MERGE_NO_ROOM:
		nt_error_set(err, "its AdminComment has no room for the record");
		return NT_DELIVERED_NOWHERE;
	default: nt_error_set(err, "no memory for the merged text"); return NT_DELIVERED_FAILED;
	}
}

enum nt_delivered nt_choose_sink(const struct nt_choose_sink *how,
				 const struct nt_admincomment_merge_step *steps, size_t count,
				 struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_NOWHERE;

	if (how->sinks->admincomment) {
		if (!how->comment->text) {
			result = how->read(how->argument, how->comment, err);
			if (result != NT_DELIVERED_PRESENT)
				return result;
		}
		result = merge(how->comment, steps, count, err);
	}
	if (result == NT_DELIVERED_NOWHERE && how->sinks->directory[0])
		result = how->write_file(how->argument, err) == 0 ? NT_DELIVERED_FILED
								  : NT_DELIVERED_FAILED;
	return result;
}

bool nt_job_comment_holds(const struct nt_job_comment *comment,
			  const struct nt_admincomment_merge_step *step, bool by_name)
{
	return comment->text &&
	       nt_admincomment_merge_holds(comment->text, step->step, step->record) &&
	       (!by_name || nt_admincomment_merge_shows(comment->text, step->step));
}

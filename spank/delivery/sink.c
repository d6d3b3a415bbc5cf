/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a job that can hold records. */
#include "spank/delivery/sink.h"

#include <stddef.h>
#include "spank/slurm_compat.h"

#define FIELD(name, users, shown, updated, changed)                                                \
	{                                                                                          \
		name, users, offsetof(slurm_job_info_t, shown), offsetof(job_desc_msg_t, updated), \
			offsetof(slurmdb_job_rec_t, changed)                                       \
	}

static const struct nt_sink_field fields[NT_SINK_KINDS] = {
	/* For administrators and their programs. */
	[NT_SINK_ADMINCOMMENT] = FIELD("AdminComment", false, admin_comment, admin_comment,
				       admin_comment),
#if NT_SLURM_HAS_EXTRA
	/* For any use of a site. slurmctld passes it to accounting at the job's end if
	 * AccountingStoreFlags has job_extra. */
	[NT_SINK_EXTRA] = FIELD("Extra", true, extra, extra, extra),
#endif
	/* For the user. slurmctld passes it to accounting, where it has an older name, at the job's
	 * end if AccountingStoreFlags has job_comment. */
	[NT_SINK_COMMENT] = FIELD("Comment", true, comment, comment, derived_es),
};

const struct nt_sink_field *nt_sink_field(enum nt_sink sink)
{
	return sink < NT_SINK_KINDS && fields[sink].name ? &fields[sink] : NULL;
}

static char **text_at(const void *job, size_t offset)
{
	return (char **)(void *)((char *)(uintptr_t)job + offset);
}

const char *nt_sink_shown(const struct nt_sink_field *field, const slurm_job_info_t *job)
{
	return *text_at(job, field->shown);
}

void nt_sink_update(const struct nt_sink_field *field, job_desc_msg_t *update, char *text)
{
	*text_at(update, field->updated) = text;
}

void nt_sink_change(const struct nt_sink_field *field, slurmdb_job_rec_t *change, char *text)
{
	*text_at(change, field->changed) = text;
}

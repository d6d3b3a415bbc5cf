/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-record.c - see step-record.h */
#include "spank/recordd/step-record.h"

#include "spank/recordd/collect.h"
#include "spank/recordd/step-entry.h"
#include "spank/recordd/sumtext.h"

void nt_step_record_read(const struct nt_recordd *recordd, struct nt_sum *sum)
{
	const struct nt_arguments *arguments = &recordd->arguments;

	nt_sum_init(sum);
	/* A directory that is gone holds nothing. */
	(void)nt_collect_directory(sum, arguments->dir, arguments->job, arguments->step, NULL);
}

size_t nt_step_record_format(const struct nt_recordd *recordd, struct nt_sum *sum,
			     const struct nt_step_memory *remembered,
			     char text[NT_STEP_RECORD_MAX + 2])
{
	const struct nt_arguments *arguments = &recordd->arguments;
	const bool bounded = arguments->record_bytes &&
			     arguments->record_bytes < NT_STEP_RECORD_MAX;
	const size_t most = bounded ? arguments->record_bytes : NT_STEP_RECORD_MAX;
	const size_t kept = nt_longform_room(arguments);
	const size_t room = kept < most / 4 ? most - kept : most;
	struct nt_ticket ticket;
	const bool launched = nt_ticket_parse(&ticket, arguments->ticket, NULL) == 0;
	struct nt_where where;
	const struct nt_sum_head head = {
		.mode = arguments->mode,
		.flags = arguments->flags,
		.tasks = arguments->tasks,
		.nodes = arguments->nodes,
		.final = recordd->final,
		.took_s = recordd->final ? (double)(recordd->ended_ms - recordd->started_ms) / 1e3
					 : 0,
		.run = arguments->run,
		.ticket = launched ? &ticket : NULL,
		.where = launched && nt_learn_where(sum, arguments, &ticket,
						    remembered && remembered->hosts_alike, &where)
				 ? &where
				 : NULL,
		.measured = remembered ? remembered->measured : 0,
		.remark = remembered ? remembered->remark : NULL,
	};

	/* Ranks of other nodes may be behind: then all parts are needed. */
	text[0] = nt_sum_decided(sum) || (!recordd->final && nt_sum_still(sum)) ? '1' : '0';
	return 1 + nt_sum_format(sum, &head, text + 1, room + 1);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the set-up of the whole step: at its end, a child with the user's rights
 * judges the parts of all nodes (parts.h), and the findings replace those of this node in the
 * record. */
#include <stdio.h>
#include <string.h>
#include "record/longset.h"
#include "recordd/parts.h"
#include "recordd/state.h"
#include "recordd/user-child.h"

#define STOP_MS 1000 /* after it has waited, to judge */

static void write_findings(const struct nt_summary *summary, int out_fd)
{
	dprintf(out_fd, "\n");
	for (size_t i = 0; i < summary->finding_count; i++)
		dprintf(out_fd, "%s\n", summary->findings[i].finding.text);
}

static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	struct nt_summary summary;
	struct nt_long_set set;

	if (nt_recordd_become_user(recordd, out_fd, 0) < 0)
		return 1;
	nt_long_set_init(&set);
	nt_summary_init(&summary);
	if (nt_parts_gather(&recordd->arguments, &set, recordd->ended_ms + NT_PARTS_LATE_MS) == 0 &&
	    nt_long_set_summary(&set, &summary, NULL, NULL, NULL) == 0 &&
	    !nt_summary_damaged(&summary))
		write_findings(&summary, out_fd);
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
	return 0;
}

/* An empty line, then a finding in each. */
static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;
	const char *at = result->out;

	if (nt_recordd_retry(recordd, NT_WORK_NODES, result))
		return;
	recordd->nodes.known = !result->why && result->status == 0 && at[0] == '\n';
	for (at += at[0] == '\n'; recordd->nodes.known && *at; at += *at == '\n') {
		const size_t bytes = strcspn(at, "\n");
		struct nt_finding finding;

		if (nt_finding_read(&finding, at, bytes) == 0 &&
		    recordd->arguments.findings >> finding.id & 1)
			nt_findings_add(&recordd->nodes.findings, &finding);
		at += bytes;
	}
}

const struct nt_work_kind nt_nodes_kind = { .run = run, .ended = ended };

void nt_nodes_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_work *work = &recordd->work[NT_WORK_NODES];

	(void)now_ms;
	if (recordd->final && recordd->arguments.first && !work->last && !nt_work_runs(work) &&
	    recordd->arguments.findings != 0 && nt_longform_of_nodes(&recordd->arguments))
		(void)nt_recordd_begin(recordd, NT_WORK_NODES,
				       recordd->ended_ms + NT_PARTS_LATE_MS + STOP_MS, NULL);
}

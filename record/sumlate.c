/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* For whom the ranks of a step's communicators wait. */
#include "record/sum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lib/array.h"

int nt_summary_add_lateness(struct nt_summary *summary, size_t comm_at,
			    const struct nt_sum_comm *comm, size_t first_node)
{
	struct nt_lateness lateness, *added;

	if (nt_lateness_find(&lateness, comm->samples, comm->sample_count, comm->ranks) < 0)
		return -1;
	if (lateness.calls == 0)
		return 0;
	added = nt_array_add(&summary->latenesses, &summary->lateness_count, NT_SUMMARY_MAX,
			     sizeof(*added));
	if (!added)
		return -1;
	*added = lateness;
	if (added->node >= 0)
		added->node += (int64_t)first_node;
	for (size_t i = 0; i < added->row_count; i++)
		added->row[i].node += (uint32_t)first_node;
	summary->comms[comm_at].lateness = summary->lateness_count;
	return 0;
}

static bool is_worse(const struct nt_lateness *a, const struct nt_lateness *b)
{
	if (!b || (a->kind == NT_LATE_NONE) != (b->kind == NT_LATE_NONE))
		return !b || b->kind == NT_LATE_NONE;
	return a->lost_us > b->lost_us;
}

const struct nt_comm_seen *nt_summary_latest(const struct nt_summary *summary, size_t step)
{
	const struct nt_comm_seen *worst = NULL;

	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];

		if (comm->step == step && comm->lateness > 0 &&
		    is_worse(nt_comm_lateness(summary, comm),
			     worst ? nt_comm_lateness(summary, worst) : NULL))
			worst = comm;
	}
	return worst;
}

void nt_summary_note_late(struct nt_summary *summary, size_t step_at)
{
	const struct nt_comm_seen *comm = nt_summary_latest(summary, step_at);
	struct nt_step *step = &summary->steps[step_at];
	const struct nt_lateness *late = comm ? nt_comm_lateness(summary, comm) : NULL;

	step->waiting = step->late_calls = step->late_us = NAN;
	step->late_rank = -1;
	step->late[0] = step->late_node[0] = '\0';
	if (!late)
		return;
	step->waiting = late->waiting;
	snprintf(step->late, sizeof(step->late), "%s", nt_late_name(late->kind));
	if (late->node < 0)
		return;
	step->late_rank = late->rank;
	snprintf(step->late_node, sizeof(step->late_node), "%s", summary->nodes[late->node].name);
	step->late_calls = (double)late->late_calls / (double)late->calls;
	step->late_us = late->late_us;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Lateness of a step's communicators. */
#include "record/sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The program's time for each call of the communicator; 0: not known. */
static double step_us(const struct nt_step *step, const struct nt_comm_seen *comm)
{
	double calls = 0;

	for (size_t i = 0; i < comm->key_count; i++) {
		if (nt_kind_tunable(comm->keys[i].coll) && comm->keys[i].calls > 0)
			calls += (double)comm->keys[i].calls;
	}
	return calls > 0 && step->steps > 0 && step->step_us[1] > 0
		       ? step->step_us[1] * (double)step->steps / calls
		       : 0;
}

int nt_sum_put_lateness(const struct nt_step *step, struct nt_comm_seen *comm)
{
	struct nt_lateness *late = malloc(sizeof(*late));
	const int rc = late ? nt_lateness_find(late, comm->samples, comm->sample_count, comm->ranks,
					       step_us(step, comm))
			    : -1;

	if (rc == 0 && late->calls > 0)
		comm->lateness = late;
	else
		free(late);
	return rc;
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

		if (comm->step == step && comm->lateness &&
		    is_worse(comm->lateness, worst ? worst->lateness : NULL))
			worst = comm;
	}
	return worst;
}

void nt_summary_note_late(struct nt_summary *summary, size_t step_at)
{
	const struct nt_comm_seen *comm = nt_summary_latest(summary, step_at);
	struct nt_step *step = &summary->steps[step_at];
	const struct nt_lateness *late = comm ? comm->lateness : NULL;

	step->waiting = step->late_calls = step->late_us = step->late_cost = NAN;
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
	step->late_cost = late->cost;
}

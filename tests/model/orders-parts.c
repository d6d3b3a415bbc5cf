/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-parts.c - what tests/model/orders.c calls that is not in a header
 *
 * Nothing else of these files is called, so what they need is not linked.
 */
#include "tests/model/orders-parts.h"

#include "pmix-sync/join.c"
#include "tuner/apply-plan.c"
#include "tuner/event.c"

void model_keep_time(struct nt_process *process, const struct nt_sample *to, uint32_t time)
{
	keep_time(process, to, time);
	count_done(process, to);
}

void model_reject(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_reason *why)
{
	set_rejected(a, comm, why);
}

void model_agree(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t risks)
{
	set_agreed(a, comm, risks);
}

bool model_any_plan(const struct nt_comm *c)
{
	return any_plan(c);
}

void model_leave_stalled(struct nt_comm *c, struct nt_local_key *key, uint64_t turn)
{
	leave_stalled_key(c, key, turn);
}

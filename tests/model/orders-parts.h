/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-parts.h - static functions of pmix-sync/join.c, tuner/event.c and tuner/apply-plan.c */
#ifndef NT_MODEL_ORDERS_PARTS_H
#define NT_MODEL_ORDERS_PARTS_H

#include "pmix-sync/agree-state.h"
#include "tuner/comm.h"

/* A sample's time, and that it is done. */
void model_keep_time(struct nt_process *process, const struct nt_sample *to, uint32_t time);
void model_reject(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_reason *why);
void model_agree(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t risks);
bool model_any_plan(const struct nt_comm *c);
void model_leave_stalled(struct nt_comm *c, struct nt_local_key *key, uint64_t turn);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-name.h - the name of a step in its job's record
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_STEP_NAME_H
#define NT_STEP_NAME_H

#include <stdint.h>
#include "contract/names.h"

#define NT_STEP_BATCH 0xfffffffbu /* Slurm's SLURM_BATCH_SCRIPT, the only step with a name */
#define NT_STEP_WHOLE UINT32_MAX /* the component of a step that has none */

/* "0", "17", "0+1", "batch". Components of a heterogeneous step have separate names: if they are of
 * one job, each has its own first node. */
void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX]);

/* Which component of job.step this slurmstepd runs, from its own title, the bytes of
 * /proc/self/cmdline ("slurmstepd: [12.0+1]"; spank.h has no item for it). Components of a
 * heterogeneous job have separate job ids and no such number. */
uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step);

#endif

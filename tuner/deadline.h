/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.h - when the job's time is over, as Slurm says it to tasks
 *
 * SLURM_JOB_END_TIME is seconds of the wall clock; from some release on Slurm sets it. What is
 * changed later (scontrol update) is not seen.
 *
 * Threads:  pure.
 * Units:    in the names.
 */
#ifndef NT_DEADLINE_H
#define NT_DEADLINE_H

#include <stdint.h>

#define NT_DEADLINE_ENV "SLURM_JOB_END_TIME"

/* By the clock of now_us, which goes on as the wall clock does from wall_s on. 0: not known; the
 * text may be NULL. */
uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.h - the end of the job's time limit, as Slurm tells its tasks
 *
 * SLURM_JOB_END_TIME is in seconds of the wall clock. Only newer releases of Slurm set it, and
 * later changes (scontrol update) are not seen.
 *
 * Threads:  pure.
 * Units:    in the names.
 */
#ifndef NT_DEADLINE_H
#define NT_DEADLINE_H

#include <stdint.h>

#define NT_DEADLINE_ENV "SLURM_JOB_END_TIME"

/* On the clock of now_us, which is the same moment as wall_s. 0: unknown. text may be NULL. */
uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us);

#endif

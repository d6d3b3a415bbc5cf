/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.h - the end of the job's time limit, as Slurm passes it to tasks
 *
 * SLURM_JOB_END_TIME is in seconds of the wall clock; newer releases of Slurm set it. Later changes
 * (scontrol update) are not seen.
 *
 * Threads:  pure.
 * Units:    in the names.
 */
#ifndef NT_DEADLINE_H
#define NT_DEADLINE_H

#include <stdint.h>

#define NT_DEADLINE_ENV "SLURM_JOB_END_TIME"

/* On the clock of now_us, where now_us corresponds to wall_s. 0: unknown; text may be NULL. */
uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us);

#endif

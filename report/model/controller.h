/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* controller.h - the text in a job's AdminComment, as slurmctld has it
 *
 * Threads:  any.
 * Errors:   -1 and *err says what could not be asked, and why. A job that is not known is no
 *           error: nothing is added.
 * Host:     libslurm, after slurm_init.
 */
#ifndef NT_CONTROLLER_H
#define NT_CONTROLLER_H

#include "report/model/jobtext.h"

int nt_controller_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_compat.h - calls and members that differ between releases of Slurm, 22.05 to 26.05
 *
 * The only file that checks Slurm's version. A new release of Slurm breaks plugins and users of
 * libslurm anyway, so the version of the headers is the version that runs. Needs only Slurm's
 * headers, so report/ includes it, too.
 *
 * Errors:   those of the call, in errno; where Slurm still has slurm_get_errno(), it returns errno.
 */
#ifndef NT_SLURM_COMPAT_H
#define NT_SLURM_COMPAT_H

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdint.h>

/* 26.05 takes the id of a step; that of a job has no step. */
static inline int nt_slurm_load_job(job_info_msg_t **jobs, uint32_t job, uint16_t flags)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

	id.job_id = job;
	return slurm_load_job(jobs, id, flags);
#else
	return slurm_load_job(jobs, job, flags);
#endif
}

/* The job's steps that run. */
static inline int nt_slurm_load_steps(job_step_info_response_msg_t **steps, uint32_t job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

	id.job_id = job;
	return slurm_get_job_steps(&id, steps, SHOW_ALL);
#else
	return slurm_get_job_steps(0, job, NO_VAL, steps, SHOW_ALL);
#endif
}

/* A list of hosts: until 23.02 the pointer is hidden in its type. */
typedef __typeof__(slurm_hostlist_create("")) nt_slurm_hostlist;

/* An empty update of the job. */
static inline void nt_slurm_init_update(job_desc_msg_t *update, uint32_t job)
{
	slurm_init_job_desc_msg(update);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	update->step_id.job_id = job;
#else
	update->job_id = job;
#endif
}

/* srun can hang after a heterogeneous step with PMIx (docs/hosts.md). */
#define NT_SLURM_HET_PMIX_HANGS (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 4))

/* An empty change of a job in accounting. Members that must not change have to be marked: the
 * protocol cannot leave a member out. */
static inline void nt_slurm_init_change(slurmdb_job_rec_t *change)
{
	*change = (slurmdb_job_rec_t){
		.array_task_id = NO_VAL,
		.het_job_offset = NO_VAL,
		.derived_ec = NO_VAL,
		.state = NO_VAL,
		.requid = (uint32_t)-1,
	};
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)
	change->lft = NO_VAL;
#endif
}

#endif

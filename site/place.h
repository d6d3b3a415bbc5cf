/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - partition, account and QOS of a job, as Slurm told this node's prolog before the job's
 * first step
 *
 * A step's environment is the user's, and SPANK provides none of the three. But slurmd gives the
 * job's prolog a partition and an account from the credential that slurmctld has signed (22.05 and
 * newer, a QOS from 26.05 on; _build_env() in src/plugins/prep/script/prep_script_slurmd.c). So
 * spank_nccl_tune_job.so stores them in a file of root, which the job's steps read.
 *
 * Threads:  one at a time.
 * Memory:   values.
 * Errors:   -1 and *err.
 * Host:     slurmstepd, as root, with rundir open (spank/step-dir.h).
 */
#ifndef NT_PLACE_H
#define NT_PLACE_H

#include <stdint.h>
#include "lib/error.h"
#include "site/rules.h"

#define NT_PLACE_TEXT 256

struct nt_job_place {
	char partition[NT_PLACE_TEXT], account[NT_PLACE_TEXT], qos[NT_PLACE_TEXT];
	struct nt_step_where where; /* points to these; NULL where it is not known */
};

/* Read what is stored for the job; members of where that are not stored are NULL. errno is ENOENT
 * if nothing is stored. */
int nt_place_read(struct nt_job_place *place, int rundir_fd, const char *node, uint32_t job,
		  struct nt_error *err);
int nt_place_write(const struct nt_step_where *where, int rundir_fd, const char *node, uint32_t job,
		   struct nt_error *err);
void nt_place_forget(int rundir_fd, const char *node, uint32_t job);

#endif

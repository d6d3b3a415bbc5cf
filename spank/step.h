/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the runtime directory of a step on one node
 *
 * <rundir>/<node>.<job>.<step>, the user's, mode 0700, for as long as the step lives. rundir
 * belongs to the daemon (root) and nobody else may write it, so that nobody else can put anything
 * in the way. The directory stays open from before the first task is started: whatever the user
 * mounts or links there later is never walked into.
 *
 * Threads:  one at a time.
 * Memory:   the caller's; two file descriptors until nt_step_remove.
 * Errors:   -1 and *err; nothing is left behind.
 */
#ifndef NT_STEP_H
#define NT_STEP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "contract/error.h"
#include "contract/names.h"

#define NT_STEP_BATCH 0xfffffffbu /* Slurm's SLURM_BATCH_SCRIPT, the one step that has a name */

#define NT_STEP_WHOLE UINT32_MAX /* the component of a step that has none */

/* "0", "17", "0+1", "batch": a step as the job's record names it. Components of a heterogeneous
 * step have a name each: where they are of one job, each has a first node of its own. */
void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX]);

/* Which component of job.step this slurmstepd runs, by what it calls itself, the bytes of
 * /proc/self/cmdline ("slurmstepd: [12.0+1]"; no item of spank.h tells it). Components of a
 * heterogeneous job have a job id each and no such number. */
uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step);

struct nt_step_dir {
	char path[NT_PATH_MAX];
	const char *name; /* in path */
	int parent_fd, fd; /* -1: there is none */
};

/* Make rundir if its parent exists, and open it; fails unless it is the daemon's alone. */
int nt_rundir_open(const char *rundir, struct nt_error *err);

void nt_step_dir_init(struct nt_step_dir *dir);

/* Make the directory; one that was left behind under this name is emptied and taken away first. */
int nt_step_make(struct nt_step_dir *dir, const char *rundir, const char *node, uint32_t job,
		 uint32_t step, struct nt_error *err);
/* Hand it to the user. */
int nt_step_give(struct nt_step_dir *dir, uid_t uid, gid_t gid, struct nt_error *err);

/* Take it away with the files in it, and empty directories; -1 and *err where something had to
 * stay. */
int nt_step_remove(struct nt_step_dir *dir, struct nt_error *err);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - leave the cgroups of a job, and join those of its tasks
 *
 * slurmstepd removes its step's cgroups at the end, except those in which a process remains.
 * Therefore nt-recordd, which outlives the step, leaves them before it is executed (spawn.h). Its
 * children that work for the user join the cgroups of the step's tasks: they are charged to the
 * job, and Slurm ends them as it ends every process that a task has left.
 *
 * Version 1: <mount>/slurm/uid_U/job_J[/step_S[/task_T]]; slurmstepd itself is in a job's cgroup of
 * the freezer (22.05). Version 2: slurmstepd is in <mount>/<scope>/job_J/step_S/slurm, a task in
 * step_S/user/task_T.
 *
 * Threads:  no state; nt_cgroup_leave is safe between fork and exec.
 * Memory:   the caller's.
 */
#ifndef NT_CGROUP_H
#define NT_CGROUP_H

#include <sys/types.h>
#include "lib/error.h"

#define NT_CGROUP_MAX 8 /* hierarchies; Slurm uses 5 controllers */
#define NT_CGROUP_PATH 384
#define NT_CGROUP_TEXT 1536 /* what nt_cgroup_tasks writes, with its NUL */

/* One hierarchy, as directories. */
struct nt_cgroup {
	char now[NT_CGROUP_PATH]; /* the job's cgroup that the process is in */
	char outside[NT_CGROUP_PATH]; /* a cgroup of Slurm's outside of all jobs */
	char root[NT_CGROUP_PATH]; /* if outside accepts no process */
};

struct nt_cgroups {
	struct nt_cgroup cgroup[NT_CGROUP_MAX];
	unsigned count;
};

/* The cgroups of jobs that a process is in. proc is its directory in /proc, mounts a file like
 * /proc/self/mountinfo. A cgroup in a hierarchy that is not mounted is left out. -1 and *err: there
 * may be cgroups that are not in *cgroups. */
int nt_cgroup_find(const char *proc, const char *mounts, struct nt_cgroups *cgroups,
		   struct nt_error *err);

/* Take a process out of all of them; pid 0 is this one. -1: it is still in one. */
int nt_cgroup_leave(const struct nt_cgroups *cgroups, pid_t pid);

/* The cgroups to join for the user's work, as text; "-" if slurmstepd is in all of the task's
 * cgroups: it would not end processes there. */
void nt_cgroup_tasks(const struct nt_cgroups *task, const struct nt_cgroups *stepd,
		     char out[NT_CGROUP_TEXT]);

/* Move a process into them; cgroups that are gone are skipped. */
void nt_cgroup_join(const char *text, pid_t pid);

#endif

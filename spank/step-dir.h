/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-dir.h - the runtime directory of a step on one node
 *
 *   <rundir>/<node>.<job>.<step>           root's; locked by slurmstepd while it lives
 *   <rundir>/<node>.<job>.<step>/fs        root's; a file system of the step's own (stepfs.h)
 *   <rundir>/<node>.<job>.<step>/fs/step   the user's, mode 0700: what tasks are told of
 *   <rundir>/.left.*                       what could not be removed at once: cleanup.h removes it
 *   <rundir>/.stuck.*                      what cleanup.h could not remove either
 *
 * rundir belongs to the daemon (root) and nobody else may write it. All that users own is below
 * directories of root's, which they can neither rename nor mount anything on; so taking away what
 * is mounted on fs takes all away that they have put or mounted there, and nothing of it is looked
 * at. Where the site wants no such file system, or the daemon is not root, fs is a plain directory.
 *
 * Threads:  one at a time.
 * Memory:   the caller's; four file descriptors until nt_step_remove.
 * Errors:   -1 and *err; nothing is left behind.
 * Units:    making takes a few system calls, removing NT_STEP_CLEAR_MS more at most: what is left
 *           of other steps is not looked at.
 */
#ifndef NT_STEP_DIR_H
#define NT_STEP_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_STEP_BATCH 0xfffffffbu /* Slurm's SLURM_BATCH_SCRIPT, the one step that has a name */
#define NT_STEP_FS "fs"
#define NT_STEP_USERS "step"
#define NT_STEP_LEFT ".left."
#define NT_STEP_STUCK ".stuck."
#define NT_STEP_HOLDER_MAX 160 /* the name of a directory in rundir, with its NUL */
#define NT_STEP_CLEAR_MS 200 /* what the end of a step may spend on a user's files */

#define NT_STEP_WHOLE UINT32_MAX /* the component of a step that has none */

/* "0", "17", "0+1", "batch": a step as the job's record names it. Components of a heterogeneous
 * step have a name each: where they are of one job, each has a first node of its own. */
void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX]);

/* Which component of job.step this slurmstepd runs, by what it calls itself, the bytes of
 * /proc/self/cmdline ("slurmstepd: [12.0+1]"; no item of spank.h tells it). Components of a
 * heterogeneous job have a job id each and no such number. */
uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step);

struct nt_step_dir {
	char path[NT_PATH_MAX]; /* the user's directory */
	char holder[NT_STEP_HOLDER_MAX]; /* in rundir */
	int parent_fd, holder_fd; /* rundir, and holder; -1: there is none */
	int fd; /* the user's directory, whatever is mounted over it later */
	int clone_fd; /* its file system, for a mount namespace of the job's; -1: there is none */
	bool mounted;
};

/* What the site says of all steps. */
struct nt_step_site {
	const char *rundir;
	int64_t bytes, files; /* of a step's file system; bytes 0: none */
};

void nt_step_dir_init(struct nt_step_dir *dir);

/* Make the directory; one that was left behind under this name is renamed. Fails where a file
 * system of its own is wanted and cannot be had. */
int nt_step_make(struct nt_step_dir *dir, const struct nt_step_site *site, const char *node,
		 uint32_t job, uint32_t step, struct nt_error *err);
/* Hand it to the user. */
int nt_step_give(struct nt_step_dir *dir, uid_t uid, gid_t gid, struct nt_error *err);

/* In a task, as root: see to it that the task sees the directory under its path, also in a mount
 * namespace that the job got before (job_container/tmpfs). There the kernel takes the file system
 * away when the directory that it is mounted on is removed. */
int nt_step_show(const struct nt_step_dir *dir, struct nt_error *err);

/* Detach its file system and empty it, so that a descriptor that somebody has of it holds no
 * memory; where nt-recordd reads what is there, that does so in its own time. The number of entries
 * that had to stay, as directories that are not empty do: they are in dir->fd. Of a plain
 * directory: nothing, and 0. */
size_t nt_step_clear(struct nt_step_dir *dir);

/* Take it away with all that is in it. -1 and *err where something had to stay, which a plain
 * directory may have: it is then called .left.*. */
int nt_step_remove(struct nt_step_dir *dir, struct nt_error *err);

/* Rename a directory of rundir: prefix (NT_STEP_LEFT, NT_STEP_STUCK) takes the place of any that it
 * has. The new name in out. */
int nt_step_rename(int rundir_fd, const char *name, const char *prefix,
		   char out[NT_STEP_HOLDER_MAX]);

#endif

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
 * rundir belongs to the daemon (root) and nobody else may write to it. Everything that users own is
 * below directories of root, which users can neither rename nor mount on. So detaching the file
 * system from fs also removes everything that they have stored or mounted there, without looking at
 * it. If the site disables this file system, or the daemon is not root, fs is a plain directory.
 *
 * Threads:  one at a time.
 * Memory:   the caller's; four file descriptors until nt_step_remove.
 * Errors:   -1 and *err; nothing remains.
 * Units:    creating takes a few system calls, removing at most NT_STEP_CLEAR_MS more: leftovers of
 *           other steps are not touched.
 */
#ifndef NT_STEP_DIR_H
#define NT_STEP_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_STEP_BATCH 0xfffffffbu /* Slurm's SLURM_BATCH_SCRIPT, the only step with a name */
#define NT_STEP_FS "fs"
#define NT_STEP_USERS "step"
#define NT_STEP_LEFT ".left."
#define NT_STEP_STUCK ".stuck."
#define NT_STEP_HOLDER_MAX 160 /* the name of a directory in rundir, with its NUL */
#define NT_STEP_CLEAR_MS 200 /* for a user's files at the end of a step */

#define NT_STEP_WHOLE UINT32_MAX /* the component of a step that has none */

/* "0", "17", "0+1", "batch": a step's name in the job's record. Components of a heterogeneous step
 * have separate names: if they are of one job, each has its own first node. */
void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX]);

/* Which component of job.step this slurmstepd runs, from its own title, the bytes of
 * /proc/self/cmdline ("slurmstepd: [12.0+1]"; spank.h has no item for it). Components of a
 * heterogeneous job have separate job ids and no such number. */
uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step);

struct nt_step_dir {
	char path[NT_PATH_MAX]; /* the user's directory */
	char holder[NT_STEP_HOLDER_MAX]; /* in rundir */
	int parent_fd, holder_fd; /* rundir, and holder; -1: there is none */
	int fd; /* the user's directory, whatever is mounted over it later */
	int clone_fd; /* its file system, for a mount namespace of the job; -1: none */
	bool mounted;
};

struct nt_step_site {
	const char *rundir;
	int64_t bytes, files; /* of a step's file system; bytes 0: none */
};

void nt_step_dir_init(struct nt_step_dir *dir);

/* Create the directory; a leftover of this name is renamed. Fails if the site wants a separate file
 * system and it cannot be mounted. */
int nt_step_make(struct nt_step_dir *dir, const struct nt_step_site *site, const char *node,
		 uint32_t job, uint32_t step, struct nt_error *err);
/* Hand it to the user. */
int nt_step_give(struct nt_step_dir *dir, uid_t uid, gid_t gid, struct nt_error *err);

/* In a task, as root: make the directory visible under its path, even in a mount namespace that the
 * job got earlier (job_container/tmpfs). There the kernel detaches the file system when the
 * directory below it is removed. */
int nt_step_show(const struct nt_step_dir *dir, struct nt_error *err);

/* Detach its file system and empty it, so that an open descriptor of it uses no memory; if
 * nt-recordd reads the files, it empties it later. Returns the number of entries that remain, such
 * as directories that are not empty: they are in dir->fd. For a plain directory: does nothing and
 * returns 0. */
size_t nt_step_clear(struct nt_step_dir *dir);

/* Remove it with everything in it. -1 and *err if something remains, which only happens in a plain
 * directory: it is then renamed to .left.*. */
int nt_step_remove(struct nt_step_dir *dir, struct nt_error *err);

/* Rename a directory of rundir: prefix (NT_STEP_LEFT, NT_STEP_STUCK) replaces the prefix that it
 * has. The new name is in out. */
int nt_step_rename(int rundir_fd, const char *name, const char *prefix,
		   char out[NT_STEP_HOLDER_MAX]);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h - start nt-recordd from slurmstepd and slurmd
 *
 * Threads:  the hooks of one process, one at a time.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 * Units:    every wait is bounded: NT_HELPER_FINGERPRINT_MS, NT_HOLD_STEP_MS.
 */
#ifndef NT_HELPER_H
#define NT_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "spank/arguments.h"

#define NT_HELPER_FINGERPRINT_MS 700 /* the longest wait of the first step after a boot */

/* The node's fingerprint, from the cache in rundir, otherwise from the helper, which reads the
 * hardware. 0 if the helper takes too long; it fills the cache in any case. */
int nt_helper_fingerprint(const char *program, const char *rundir, int rundir_fd, uint64_t *value,
			  struct nt_error *err);

/* Fill the fingerprint cache before a step needs it; does not wait. */
int nt_helper_prepare(const char *program, const char *rundir, struct nt_error *err);

/* Start the helper of a step, which gets a descriptor of the node's memory; returns the socket to
 * it. conf is the path of slurm.conf; NULL: libslurm searches for it. */
int nt_helper_start(const char *program, const struct nt_arguments *arguments, int shm_fd,
		    const char *conf, struct nt_error *err);

/* Tell the helper how the step's tasks ended and wait until the step may end; false: timed out. say
 * gets each line for slurmd's log and its kind (NT_ARGUMENTS_INFO or NT_ARGUMENTS_ERROR). */
bool nt_helper_hold(int socket, enum nt_ended ended, void (*say)(char kind, const char *text));

#endif

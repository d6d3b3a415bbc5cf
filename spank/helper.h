/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h - slurmstepd's and slurmd's side of nt-recordd
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
#include "contract/error.h"
#include "spank/errand.h"

#define NT_HELPER_FINGERPRINT_MS 700 /* how long the first step after a boot waits for it */

/* The node's fingerprint: what is kept in rundir, or else what the helper reads from the
 * hardware. It is 0 where the helper takes too long; what it finds is kept in any case. */
int nt_helper_fingerprint(const char *program, const char *rundir, int rundir_fd, uint64_t *value,
			  struct nt_error *err);

/* Have the fingerprint kept before a step wants it, without waiting. */
int nt_helper_prepare(const char *program, const char *rundir, struct nt_error *err);

/* Have the run directory tidied up (tidy.h), without waiting. again: also what could not be removed
 * before. */
int nt_helper_tidy(const char *program, const char *rundir, bool again, struct nt_error *err);

/* Start the helper of a step: the socket to it. conf is the path of slurm.conf; NULL: libslurm
 * looks for it. */
int nt_helper_start(const char *program, const struct nt_errand *errand, const char *conf,
		    struct nt_error *err);

/* Say that the step's tasks have ended, and wait until the step may go; false: it was not waited
 * for any longer. say gets each line for slurmd's log and what kind it is (NT_ERRAND_INFO,
 * _ERROR). */
bool nt_helper_hold(int socket, void (*say)(char kind, const char *text));

#endif

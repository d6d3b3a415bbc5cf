/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-run.h - the steps of a calibration, and what they leave in the user's memory
 *
 * A run is an srun of its own in this job, with the plugin and a profile; its step's record comes
 * into the user's memory before srun returns, and is read from there. So what is candidate is what
 * later steps will find.
 *
 * Threads:  single-threaded programs only (steprun.h).
 * Memory:   nt_calrun_fini() frees what was read.
 * Errors:   -1 and *err: the calibration cannot go on. A run that fails is noted and is none.
 */
#ifndef NT_CALRUN_H
#define NT_CALRUN_H

#include <signal.h>
#include <stdint.h>
#include "contract/names.h"
#include "profiles/memory.h"
#include "profiles/profile.h"
#include "cli/allocation.h"
#include "profiles/measure/calibration.h"
#include "profiles/measure/trial-calls.h"

#define NT_CALRUN_LEFT_OUT 1024
#define NT_CALRUN_WRONG 3 /* exit status of a program that has found wrong results */

struct nt_calrun {
	/* What is asked for; set by the caller. */
	struct nt_allocation allocation;
	const struct nt_profiles *profiles; /* candidates */
	bool named; /* by the user: what lost with another patch release is tried, too */
	const struct nt_memory *site; /* what the site remembers */
	const char *directory; /* the user's memory */
	const char *mpi;
	const char *nodelist; /* where steps run; NULL: on any nodes of the job */
	bool overlap; /* steps share what another step of the job holds */
	bool quiet; /* no progress */
	double time_s;
	struct nt_trial_calls calls;
	const struct nt_mix *mix; /* what is candidate; NULL: all sizes alike */
	char *const *program; /* in place of nccl-tune-bench, with its arguments; or NULL */
	const volatile sig_atomic_t *stop;
	/* What became of it. */
	struct nt_calibration calibration;
	enum nt_calibration_end end;
	struct nt_memory before, found; /* the memory at the start; what the runs have added */
	double spent_s;
	bool silent; /* a step ended well, and nothing of it was remembered */
	char failure[NT_CALIBRATION_MAX][200]; /* why a profile's step failed; "" */
	char left_out[NT_CALRUN_LEFT_OUT]; /* profiles that were not tried, and why; "" */
};

/* 0 also where it was stopped or nothing was left to run: the fields say it. */
int nt_calrun(struct nt_calrun *run, struct nt_error *err);
void nt_calrun_fini(struct nt_calrun *run);

/* Where the runs were: from the default's newest entry. NULL: it left none. */
const struct nt_where *nt_calrun_where(const struct nt_calrun *run);

#endif

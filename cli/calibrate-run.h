/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate-run.h - the steps of a calibration, and the entries that they add to the user's memory
 *
 * A run is an srun within this job, with the plugin and a profile. Its step's record is in the
 * user's memory before srun returns and is read from there, so a calibration weighs the same
 * entries as later steps will.
 *
 * Threads:  single-threaded programs only (run-step.h).
 * Memory:   nt_calrun_fini() frees what was read.
 * Errors:   -1 and *err: the calibration cannot continue. A failed run is only noted in failure.
 */
#ifndef NT_CALRUN_H
#define NT_CALRUN_H

#include <signal.h>
#include <stdint.h>
#include "contract/names.h"
#include "lib/argv.h"
#include "profiles/memory.h"
#include "profiles/profile.h"
#include "cli/allocation.h"
#include "profiles/measure/calibration.h"
#include "profiles/measure/trial-calls.h"

#define NT_CALRUN_LEFT_OUT 1024
#define NT_CALRUN_WRONG 3 /* exit status of a program that has found wrong results */

struct nt_calrun {
	/* Set by the caller: */
	struct nt_allocation allocation;
	const struct nt_profiles *profiles; /* candidates */
	bool named; /* by the user: also try what lost with another patch release */
	const struct nt_memory *site; /* what the site remembers */
	const char *directory; /* the user's memory */
	const char *mpi;
	const char *nodelist; /* where steps run; NULL: on any nodes of the job */
	bool overlap; /* steps share what another step of the job holds */
	bool quiet; /* no progress */
	double time_s;
	struct nt_trial_calls calls;
	const struct nt_mix *mix; /* to weigh by; NULL: all sizes alike */
	char *const *program; /* in place of nccl-tune-bench, with its arguments; or NULL */
	const volatile sig_atomic_t *stop;
	/* Results: */
	struct nt_calibration calibration;
	enum nt_calibration_end end;
	struct nt_memory before, found; /* the memory at the start; what the runs have added */
	double spent_s;
	bool silent; /* a step succeeded, but left no entry */
	char failure[NT_CALIBRATION_MAX][200]; /* why a profile's step failed; "" */
	char left_out[NT_CALRUN_LEFT_OUT]; /* profiles that were not tried, and why; "" */
};

/* Returns 0 also if it was stopped, or had nothing to run. */
int nt_calrun(struct nt_calrun *run, struct nt_error *err);
void nt_calrun_fini(struct nt_calrun *run);

/* The beginning of a step's command line: srun, and where it runs. */
void nt_calrun_srun(struct nt_argv *words, const struct nt_calrun *run, const char *name,
		    double limit_s);

/* The place of the runs, from the default's newest entry; NULL if there is none. */
const struct nt_where *nt_calrun_where(const struct nt_calrun *run);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-figures.h - a job in a few figures
 *
 * Threads:  pure functions, any thread.
 * Units:    in the names; NAN, -1: not known.
 */
#ifndef NT_JOB_FIGURES_H
#define NT_JOB_FIGURES_H

#include "record/summary.h"

struct nt_job_figures {
	int64_t nodes; /* the most of a step */
	/* Of the program's own step, in the last step that was measured: with nccl-tune, and with
	 * NCCL's own settings, which is only known of a launch profile (record/says.h). */
	double step_us, before_us;
	double net_ms; /* what was saved less what exploring and calibrating cost, of all steps */
};

void nt_job_figures_make(struct nt_job_figures *figures, const struct nt_summary *summary);

#endif

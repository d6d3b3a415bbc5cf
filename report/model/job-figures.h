/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-figures.h - a job in a few figures, the same in every form of the report
 *
 * Threads:  pure functions, any thread.
 * Units:    in the names; NAN, -1, and 0 of times in nt_says_gain: not known.
 */
#ifndef NT_JOB_FIGURES_H
#define NT_JOB_FIGURES_H

#include "record/job-summary.h"
#include "record/says.h"

#define NT_SHARE_LEAST 0.01 /* of the time: less is not worth a sentence */

struct nt_job_figures {
	char says[NT_SAYS_MAX]; /* of all its steps (record/says.h) */
	struct nt_says_gain gain;
	int64_t nodes; /* the most of a step */
	size_t main; /* the newest step of the gain's program; none: the number of steps */
	double pays_s; /* of such a step, until it has saved what was spent */
	double pays_steps; /* the program's own steps in that time */
};

void nt_job_figures_make(struct nt_job_figures *figures, const struct nt_summary *summary);

/* Milliseconds that the step's launch profile has saved, by what the job's gain says of steps
 * without it; NAN: not known. */
double nt_step_launched_ms(const struct nt_says_gain *gain, const struct nt_step *step);

/* Does the step only measure for others? */
bool nt_step_is_calibration(const struct nt_step *step);
/* Does it have nothing to tell, such as a step of helpers without NCCL? */
bool nt_step_is_empty(const struct nt_summary *summary, size_t step);

/* A rank's time in the step, as far as it is known, in microseconds: of the program's own steps, or
 * else in calls. 0: not known. */
double nt_step_all_us(const struct nt_summary *summary, size_t step);
/* The part of it in the row's calls; NAN: not known. */
double nt_row_part(const struct nt_summary *summary, const struct nt_key *row);
/* And the part that its choice saves. */
double nt_row_saved_part(const struct nt_summary *summary, const struct nt_key *row);

/* Milliseconds that a step's calls saved, and that exploring them cost: by the step's own sums,
 * which count what had no room in its record, too, else by its rows. 0: nothing known. */
double nt_step_saved_ms(const struct nt_summary *summary, size_t step);
double nt_step_spent_ms(const struct nt_summary *summary, size_t step);

#endif

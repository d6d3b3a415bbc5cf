/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-figures.c - see job-line.h */
#include "report/model/job-figures.h"

#include <math.h>
#include "report/model/row-time.h"

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* A step's own sums count what had no room in the record, too. */
static double net_ms_of(const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];
	double saved_ms = 0, spent_ms = 0;

	if (step->calibration > 0)
		return -nt_step_calibration_ms(step);
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != at)
			continue;
		saved_ms += known(row->saved_ms);
		spent_ms += known(row->spent_ms);
	}
	return known(nt_step_launch_ms(step)) +
	       (isnan(step->saved_ms) ? saved_ms : step->saved_ms) -
	       (isnan(step->spent_ms) ? spent_ms : step->spent_ms);
}

void nt_job_figures_make(struct nt_job_figures *figures, const struct nt_summary *summary)
{
	*figures = (struct nt_job_figures){ .nodes = -1, .step_us = NAN, .before_us = NAN };
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		figures->net_ms += net_ms_of(summary, i);
		if (step->nodes > figures->nodes)
			figures->nodes = step->nodes;
		if (step->calibration > 0 || !(step->step_us[1] > 0))
			continue;
		figures->step_us = step->step_us[1];
		figures->before_us = step->measured > 0 ? step->step_us[1] * step->measured : NAN;
	}
}

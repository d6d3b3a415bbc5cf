/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/job-figures.h"

#include <math.h>
#include "report/model/row-time.h"

static double net_ms_of(const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];

	return nt_or_zero(nt_step_launch_ms(step)) + nt_step_saved_ms(summary, at) -
	       nt_step_spent_ms(summary, at) - nt_step_calibration_ms(step);
}

void nt_job_figures_make(struct nt_job_figures *figures, const struct nt_summary *summary)
{
	*figures = (struct nt_job_figures){ .nodes = -1, .step_us = NAN, .before_us = NAN };
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		figures->net_ms += net_ms_of(summary, i);
		if (step->nodes > figures->nodes)
			figures->nodes = step->nodes;
		if (!(step->step_us[1] > 0))
			continue;
		figures->step_us = step->step_us[1];
		figures->before_us = step->measured > 0 ? step->step_us[1] * step->measured : NAN;
	}
}

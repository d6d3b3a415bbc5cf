/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slowdown.h"

#include <math.h>
#include <string.h>
#include "engine/quantiles.h"

/* Both ends of a window are uncertain: its error is at most 1/16. */
#define DOUBT_PART 8u
#define LEAST_DEVIATION 0.05
#define MOST_DEVIATIONS 3.0
#define ALLOWED 0.75 /* deviations */
#define LIMIT 15.0 /* of the first alarm: at least seven windows */
#define MOST_DOUBLINGS 16u
#define FOLLOW 0.03 /* per window, of the usual period */
#define FOLLOW_DEVIATION 0.01 /* of itself */

void nt_slowdown_end(struct nt_slowdown *s)
{
	s->stride = 0;
}

void nt_slowdown_begin(struct nt_slowdown *s, double period_us)
{
	s->stride = 1;
	while ((double)s->stride * period_us < NT_SLOWDOWN_WINDOW_US)
		s->stride *= 2;
	s->from = (struct nt_marker_step){ .steps = 0 };
	s->learnt = 0;
	s->sum = 0;
}

static void learn_period(struct nt_slowdown *s, double log_us)
{
	float away[NT_SLOWDOWN_LEARN];

	s->first[s->learnt++] = (float)log_us;
	if (s->learnt < NT_SLOWDOWN_LEARN)
		return;
	s->usual = nt_sample_quantile(s->first, NT_SLOWDOWN_LEARN, 0.5);
	/* Not 0, which is a missing sample. */
	for (unsigned i = 0; i < NT_SLOWDOWN_LEARN; i++)
		away[i] = (float)fmax(fabs(s->first[i] - s->usual), LEAST_DEVIATION / 1.5);
	s->deviation = 1.5 * nt_sample_quantile(away, NT_SLOWDOWN_LEARN, 0.5);
}

static bool judge_period(struct nt_slowdown *s, double log_us)
{
	const double off = fmin((log_us - s->usual) / s->deviation, MOST_DEVIATIONS);

	s->sum = fmax(0, s->sum + fmax(off, -MOST_DEVIATIONS) - ALLOWED);
	s->usual += (off > 0 ? FOLLOW : -FOLLOW) * s->deviation;
	/* Two thirds of a deviation: half of all windows are farther off. */
	s->deviation *= fabs(off) > 2. / 3 ? 1 + FOLLOW_DEVIATION : 1 - FOLLOW_DEVIATION;
	s->deviation = fmax(s->deviation, LEAST_DEVIATION);
	return s->sum >= ldexp(LIMIT, (int)s->alarms);
}

/* Does this step end the open window? If not, it is too early, or its time too uncertain. The first
 * window may begin anywhere. */
static bool ends_window(const struct nt_slowdown *s, const struct nt_marker_step *step)
{
	return step->steps / s->stride > s->from.steps / s->stride &&
	       (s->first_window ||
		(step->us > s->from.us &&
		 step->us - s->from.us >= DOUBT_PART * (s->from.doubt_us + step->doubt_us)));
}

bool nt_slowdown_see(struct nt_slowdown *s, const struct nt_marker_step *newest)
{
	const struct nt_marker_step from = s->from;
	const bool first = s->first_window;
	double log_us;

	if (s->stride == 0 || (from.steps != 0 && !ends_window(s, newest)))
		return false;
	s->from = *newest;
	s->first_window = from.steps == 0;
	if (s->first_window || first)
		return false;
	log_us = log((double)(newest->us - from.us) / (double)(newest->steps - from.steps));
	if (s->learnt < NT_SLOWDOWN_LEARN) {
		learn_period(s, log_us);
		return false;
	}
	if (!judge_period(s, log_us))
		return false;
	nt_slowdown_end(s);
	if (s->alarms < MOST_DOUBLINGS)
		s->alarms++;
	return true;
}

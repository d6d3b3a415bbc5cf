/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* says.c - see says.h */
#include "record/says.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/table.h"

#define NOTHING_MS 0.05 /* what is less reads 0.0 */
#define AS_FAST 0.005 /* what is less reads 1.00 x */
#define BELIEVED_MAX 1e12 /* of any unit */

/* A number, or that one of an array; 0: there is none, or none that can be true. */
static double number_in(struct nt_text value, unsigned index)
{
	char text[96], *at = text;
	double number = 0;

	if (value.bytes >= sizeof(text))
		return 0;
	memcpy(text, value.at, value.bytes);
	text[value.bytes] = '\0';
	at += text[0] == '[';
	for (; index > 0 && at; index--)
		at = (at = strchr(at, ',')) ? at + 1 : NULL;
	if (at)
		number = strtod(at, NULL);
	return fabs(number) <= BELIEVED_MAX ? number : 0;
}

void nt_says_add(struct nt_says *says, struct nt_text step)
{
	double step_us = 0, speed = 0, saved_ms = 0;
	bool calibration = false, saves = false, observed = false;
	struct nt_json_member member;
	struct nt_json_scanner scan;

	nt_json_scan_begin(&scan, step);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (nt_text_is(member.name, "calibration")) {
			calibration = true;
		} else if (nt_text_is(member.name, "mode")) {
			observed = nt_text_is(member.value, "\"observe\"");
		} else if (nt_text_is(member.name, "step_us")) {
			step_us = number_in(member.value, 1);
		} else if (nt_text_is(member.name, "measured")) {
			speed = number_in(member.value, 0);
		} else if (nt_text_is(member.name, "saved_ms")) {
			saved_ms = number_in(member.value, 0);
			saves = true;
		}
	}
	if (calibration)
		return;
	if (step_us > 0) {
		says->step_us = step_us;
		says->speed = speed;
	}
	says->observed |= observed;
	says->saves |= saves;
	says->saved_ms += saved_ms;
}

static bool is_gain_known(const struct nt_says *says)
{
	return says->step_us > 0 && says->speed > 0 && fabs(says->speed - 1) >= AS_FAST;
}

const char *nt_says_text(const struct nt_says *says, char out[NT_SAYS_MAX])
{
	char step[64] = "", calls[48] = "", now[16], before[16];

	if (is_gain_known(says))
		snprintf(step, sizeof(step), "step %s, was %s (%.2f x)",
			 nt_time_text(says->step_us, now, sizeof(now)),
			 nt_time_text(says->step_us * says->speed, before, sizeof(before)),
			 says->speed);
	else if (says->step_us > 0)
		snprintf(step, sizeof(step), "step %s",
			 nt_time_text(says->step_us, now, sizeof(now)));
	if (fabs(says->saved_ms) >= NOTHING_MS)
		snprintf(calls, sizeof(calls), "%s %s", says->saved_ms > 0 ? "saved" : "lost",
			 nt_duration_text(fabs(says->saved_ms), now, sizeof(now)));
	else if (says->observed)
		snprintf(calls, sizeof(calls), "only measured");
	else if (says->saves && !is_gain_known(says))
		snprintf(calls, sizeof(calls), "nothing saved");
	snprintf(out, NT_SAYS_MAX, "%s%s%s", step, step[0] && calls[0] ? "; " : "", calls);
	return out;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/line.h"

#include <string.h>

bool nt_line_fit(const uint64_t *bytes, const double *us, unsigned count, struct nt_line *out)
{
	double n = 0, x = 0, xx = 0, y = 0, xy = 0, scale;

	memset(out, 0, sizeof(*out));
	if (count == 0)
		return false;
	for (unsigned i = 0; i < count; i++) {
		double weight = 1 / (us[i] * us[i]), size = (double)bytes[i];

		n += weight;
		x += weight * size;
		xx += weight * size * size;
		y += weight * us[i];
		xy += weight * size * us[i];
	}
	scale = n * xx - x * x;
	if (count == 1 || scale <= 1e-12 * n * xx) {
		out->us_per_byte = us[0] / (double)(bytes[0] > 0 ? bytes[0] : 1);
		out->flat_bytes = bytes[0];
		return true;
	}
	out->us_per_byte = (n * xy - x * y) / scale;
	out->latency_us = (y - out->us_per_byte * x) / n;
	if (out->us_per_byte < 0) {
		out->us_per_byte = 0;
		out->latency_us = y / n;
	} else if (out->latency_us < 0) {
		out->latency_us = 0;
		out->us_per_byte = xy / xx;
	}
	return true;
}

double nt_line_us(const struct nt_line *line, uint64_t bytes)
{
	uint64_t size = bytes > line->flat_bytes ? bytes : line->flat_bytes;

	return line->latency_us + line->us_per_byte * (double)(size > 0 ? size : 1);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/seconds.h"

#include "lib/number.h"

int nt_seconds_parse(const char *text, unsigned least_s, unsigned most_s, double *out,
		     struct nt_error *err)
{
	uint64_t value, unit = 1;
	const char *end = nt_number_read(text, most_s, &value);

	if (end && *end == 'm')
		unit = 60;
	else if (end && *end == 'h')
		unit = 3600;
	if (!end || (*end != '\0' && end[1] != '\0') ||
	    (*end != '\0' && *end != 's' && unit == 1) || value * unit < least_s ||
	    value * unit > most_s)
		return nt_error_set(err,
				    "bad time '%.20s' (want %u to %u seconds, as in 30, 30s or 2m)",
				    text, least_s, most_s);
	*out = (double)(value * unit);
	return 0;
}

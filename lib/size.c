/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/size.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/number.h"

static const char units[] = "KMGT";

int nt_size_parse(const char *text, uint64_t *bytes)
{
	uint64_t whole, halves;
	const char *unit;
	unsigned shift;
	bool half;
	const char *end = nt_number_read(text, UINT64_MAX / 4, &whole);

	if (!end)
		return -1;
	half = strncmp(end, ".5", 2) == 0;
	if (half)
		end += 2;
	if (*end == '\0' && !half)
		*bytes = whole;
	if (*end == '\0')
		return half ? -1 : 0;
	unit = strchr(units, *end);
	if (!unit || end[1] != '\0')
		return -1;
	shift = 10 * (unsigned)(unit - units) + 9;
	halves = 2 * whole + half;
	if (halves << shift >> shift != halves)
		return -1;
	*bytes = halves << shift;
	return 0;
}

int nt_sizes_parse(const char *list, uint64_t *bytes, unsigned most)
{
	char part[NT_SIZE_TEXT];
	unsigned count = 0;
	size_t length;

	for (;; list += length + 1) {
		length = strcspn(list, ",");
		if (count == most || length >= sizeof(part))
			return -1;
		memcpy(part, list, length);
		part[length] = '\0';
		if (nt_size_parse(part, &bytes[count++]) < 0)
			return -1;
		if (list[length] == '\0')
			return (int)count;
	}
}

const char *nt_size_text(uint64_t bytes, char *out, size_t out_bytes)
{
	int unit = -1;

	while (unit < 3 && bytes >= 1024 && (bytes * 2) % 1024 == 0 && bytes / 1024 > 0) {
		uint64_t half = bytes * 2 / 1024;

		unit++;
		if (half % 2) {
			snprintf(out, out_bytes, "%" PRIu64 ".5%c", half / 2, units[unit]);
			return out;
		}
		bytes = half / 2;
	}
	if (unit < 0)
		snprintf(out, out_bytes, "%" PRIu64, bytes);
	else
		snprintf(out, out_bytes, "%" PRIu64 "%c", bytes, units[unit]);
	return out;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number.h"

#include <stddef.h>

const char *nt_number_read(const char *text, uint64_t most, uint64_t *out)
{
	const char *at = text;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++) {
		const unsigned digit = (unsigned)(*at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return NULL;
		value = 10 * value + digit;
	}
	if (at == text || value > most)
		return NULL;
	*out = value;
	return at;
}

int nt_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	uint64_t value;
	const char *end = nt_number_read(text, most, &value);

	if (!end || *end != '\0' || value < least)
		return -1;
	*out = value;
	return 0;
}

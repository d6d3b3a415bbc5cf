/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int nt_append(char *out, size_t out_bytes, const char *format, ...)
{
	const size_t used = strlen(out);
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(out + used, out_bytes - used, format, args);
	va_end(args);
	return bytes >= 0 && (size_t)bytes < out_bytes - used ? 0 : -1;
}

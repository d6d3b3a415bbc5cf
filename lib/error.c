/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* An error text in a fixed buffer. */
#include "lib/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int nt_error_set(struct nt_error *err, const char *format, ...)
{
	const int saved_errno = errno;
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	errno = saved_errno;
	return -1;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/nccl-log.h"

#include <stdarg.h>
#include <stdio.h>
#include "lib/printable.h"

#define LINE_BYTES 2048 /* a policy may have 1024 */

void nt_log_line(nt_nccl_log log, int level, unsigned long subsystems, const char *function,
		 int line, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list args;

	if (!log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log(level, subsystems, function, line, "%s", nt_printable(text));
}

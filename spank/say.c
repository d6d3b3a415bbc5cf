/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#define NT_SAY_ITSELF
#include "spank/say.h"

#include <stdarg.h>
#include <stdio.h>
#include "lib/printable.h"

#define SAY(function)                                           \
	do {                                                    \
		char text_[NT_SAY_BYTES];                       \
		va_list args_;                                  \
                                                                \
		va_start(args_, format);                        \
		vsnprintf(text_, sizeof(text_), format, args_); \
		va_end(args_);                                  \
		function("nccl-tune: %s", nt_printable(text_)); \
	} while (0)

void nt_say_error(const char *format, ...)
{
	SAY(slurm_error);
}

void nt_say_info(const char *format, ...)
{
	SAY(slurm_info);
}

void nt_say_verbose(const char *format, ...)
{
	SAY(slurm_verbose);
}

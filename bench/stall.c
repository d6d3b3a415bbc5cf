/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/stall.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A signal handler may write but not format: the text is prepared outside of measured times. */
static char stall_text[192];
static volatile sig_atomic_t stall_status = 1;

static void on_stall(int number)
{
	(void)number;
	if (write(STDERR_FILENO, stall_text, strlen(stall_text)) < 0)
		_exit(2);
	_exit(stall_status);
}

void nt_stall_begin(void)
{
	const struct sigaction action = { .sa_handler = on_stall };

	sigaction(SIGALRM, &action, NULL);
}

void nt_stall_watch(const struct nt_bench_options *o, const char *format, ...)
{
	char where[128];
	va_list args;

	va_start(args, format);
	vsnprintf(where, sizeof(where), format, args);
	va_end(args);
	alarm(0);
	snprintf(stall_text, sizeof(stall_text), "nccl-tune-bench: rank %d: stalled %s\n", o->rank,
		 where);
	alarm((unsigned)o->stall_s);
}

void nt_stall_ends_with(int status)
{
	stall_status = status;
}

int nt_stall_status(void)
{
	return stall_status;
}

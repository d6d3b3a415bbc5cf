/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/recordd-log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include "lib/printable.h"

void nt_recordd_syslog_open(void)
{
	openlog("nccl-tune", LOG_PID, LOG_DAEMON);
}

void nt_recordd_say(char kind, const char *format, ...)
{
	char text[NT_ARGUMENTS_MESSAGE_MAX];
	va_list args;

	text[0] = kind;
	va_start(args, format);
	vsnprintf(text + 1, sizeof(text) - 1, format, args);
	va_end(args);
	nt_printable(text + 1);
	if (send(NT_ARGUMENTS_FD, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		syslog(kind == NT_ARGUMENTS_ERROR ? LOG_ERR : LOG_INFO, "%s", text + 1);
}

void nt_recordd_tell(const struct nt_recordd *recordd, char kind, const char *format, ...)
{
	char text[NT_ARGUMENTS_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	nt_recordd_say(kind, "job %" PRIu32 " step %s: %s", recordd->arguments.job, recordd->step,
		       text);
}

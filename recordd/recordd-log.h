/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recordd-log.h - nt-recordd's log lines, in slurmd's log, or in the system's log if slurmstepd has
 * ended
 *
 * Threads:  nt-recordd's one.
 * Errors:   none; a line may be lost.
 */
#ifndef NT_RECORDD_LOG_H
#define NT_RECORDD_LOG_H

#include "recordd/state.h"

void nt_recordd_syslog_open(void);

/* kind: NT_ARGUMENTS_INFO or _ERROR. */
void nt_recordd_say(char kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same; the line starts with the job and step. */
void nt_recordd_tell(const struct nt_recordd *recordd, char kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-log.h - log through NCCL's logger; never per collective
 *
 * Threads:  any that NCCL calls us on; not the helper thread.
 * Errors:   without a logger (profiler interfaces before v4) nothing is logged.
 */
#ifndef NT_NCCL_LOG_H
#define NT_NCCL_LOG_H

#include "tuner/abi.h"

#define NT_LOG_PREFIX "nccl-tune: "

/* One line of printable ASCII, whatever the arguments contain */
void nt_log_line(nt_nccl_log log, int level, unsigned long subsystems, const char *function,
		 int line, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define NT_LOG(log, level, subsystems, ...) \
	nt_log_line(log, level, subsystems, __func__, __LINE__, NT_LOG_PREFIX __VA_ARGS__)

#define NT_WARN(log, ...) NT_LOG(log, NT_NCCL_LOG_WARN, NT_NCCL_SUB_ALL, __VA_ARGS__)
#define NT_INFO(log, ...) \
	NT_LOG(log, NT_NCCL_LOG_INFO, NT_NCCL_SUB_INIT | NT_NCCL_SUB_TUNING, __VA_ARGS__)

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - say something through NCCL's own logger
 *
 * Never per collective.
 *
 * Threads:  any that NCCL calls us on; not the helper thread.
 * Errors:   without a logger (profiler interfaces before v4) nothing is said.
 */
#ifndef NT_LOG_H
#define NT_LOG_H

#include "tuner/abi.h"

#define NT_LOG_PREFIX "nccl-tune: "

/* Checks the format of a message at compile time; NCCL's function type cannot. */
static inline void nt_log_check(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void nt_log_check(const char *format, ...)
{
	(void)format;
}

#define NT_LOG(log, level, subsystems, ...)                                                     \
	do {                                                                                    \
		nt_nccl_log log_ = (log);                                                       \
		if (0)                                                                          \
			nt_log_check(NT_LOG_PREFIX __VA_ARGS__);                                \
		if (log_)                                                                       \
			log_(level, subsystems, __func__, __LINE__, NT_LOG_PREFIX __VA_ARGS__); \
	} while (0)

#define NT_WARN(log, ...) NT_LOG(log, NT_NCCL_LOG_WARN, NT_NCCL_SUB_ALL, __VA_ARGS__)
#define NT_INFO(log, ...) \
	NT_LOG(log, NT_NCCL_LOG_INFO, NT_NCCL_SUB_INIT | NT_NCCL_SUB_TUNING, __VA_ARGS__)

#endif

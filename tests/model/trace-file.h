/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-file.h - the file that the traced plugin writes and nt-trace-check reads, on one machine */
#ifndef NT_MODEL_TRACE_FILE_H
#define NT_MODEL_TRACE_FILE_H

#include <pthread.h>
#include "tests/model/trace.h"

#define TRACE_FILE_EVENTS (UINT64_C(1) << 22)

struct trace_file {
	struct trace_head head;
	pthread_mutex_t lock; /* robust, of all processes */
	struct trace_event event[];
};

#endif

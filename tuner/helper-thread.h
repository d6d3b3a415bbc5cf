/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* helper-thread.h - the process's helper thread: looks at all keys, runs the node leader, publishes
 * counters, writes the rank's record, and leaves all slots at the end
 *
 * Threads:  see struct nt_process_work (tuner/process.h).
 */
#ifndef NT_HELPER_THREAD_H
#define NT_HELPER_THREAD_H

#include "tuner/process.h"

extern const struct nt_process_work nt_helper_thread_work;

#endif

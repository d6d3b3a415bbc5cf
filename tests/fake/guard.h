/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - memory for the plugin that ends at an inaccessible page
 *
 * Threads:  each thread has its own.
 * Memory:   valid until the thread ends.
 */
#ifndef NT_FAKE_GUARD_H
#define NT_FAKE_GUARD_H

#include <stddef.h>

enum nt_guard { NT_GUARD_TABLE, NT_GUARD_EVENT, NT_GUARD_PLACES };

/* Memory of that many bytes before the inaccessible page, with a known pattern before it. */
void *nt_guard_take(enum nt_guard place, size_t bytes);

/* -1: the pattern was changed. */
int nt_guard_check(enum nt_guard place, size_t bytes);

#endif

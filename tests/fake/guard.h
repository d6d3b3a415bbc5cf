/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - what the plugin is handed lies against a page that cannot be touched
 *
 * Threads:  each thread has its own places.
 * Memory:   a place is the thread's until it ends.
 */
#ifndef NT_FAKE_GUARD_H
#define NT_FAKE_GUARD_H

#include <stddef.h>

enum nt_guard { NT_GUARD_TABLE, NT_GUARD_EVENT, NT_GUARD_PLACES };

/* bytes that end where the forbidden page begins; a known pattern lies before them. */
void *nt_guard_take(enum nt_guard place, size_t bytes);

/* -1: the pattern before the bytes was changed. */
int nt_guard_check(enum nt_guard place, size_t bytes);

#endif

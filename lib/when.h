/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* when.h - parse a point in time as sacct does: now-30days, today, 2026-11-01T12:00
 *
 * Threads:  any; the time zone is the process's.
 * Errors:   -1 and *err says what is accepted: fewer forms than sacct's.
 * Units:    seconds since 1970.
 */
#ifndef NT_WHEN_H
#define NT_WHEN_H

#include <stdint.h>
#include "lib/error.h"

int nt_when_parse(const char *text, int64_t now_s, int64_t *when_s, struct nt_error *err);

#endif

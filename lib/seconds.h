/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* seconds.h - parse a duration: 30, 30s, 2m, 1h
 *
 * Threads:  pure.
 * Errors:   -1 and *err says what is accepted.
 */
#ifndef NT_SECONDS_H
#define NT_SECONDS_H

#include "lib/error.h"

int nt_seconds_parse(const char *text, unsigned least_s, unsigned most_s, double *out,
		     struct nt_error *err);

#endif

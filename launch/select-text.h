/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-text.h - the selection as text
 *
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef NT_LAUNCH_WHY_H
#define NT_LAUNCH_WHY_H

#include <stddef.h>
#include "launch/select.h"

/* The source of a choice: "calibrated 2026-11-22 on 2 x 1", or the reason. Returns out. */
const char *nt_choice_from(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes);
/* One line without a newline: "launch profile sockets-wide (calibrated 2026-11-22 on 2 x 1: this
 * job's mix 2.8 x)". Returns out. */
const char *nt_choice_text(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes);
/* How many times as fast the chosen profile is expected to be; 0: unknown. */
double nt_choice_expected(const struct nt_launch_choice *choice);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - what a process does beside NCCL's calls: its helper thread looks at all keys, speaks
 *            for the node, publishes counters and writes the rank's record, round after round; at
 *            the end seats are left
 *
 * Threads:  as struct nt_work says (tuner/process.h).
 */
#ifndef NT_ROUNDS_H
#define NT_ROUNDS_H

#include "tuner/process.h"

extern const struct nt_work nt_rounds;

#endif

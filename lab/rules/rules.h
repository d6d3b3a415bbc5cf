/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - the decision rules that can be compared, by name
 *
 * Threads:  pure functions.
 * Memory:   constants.
 */
#ifndef NT_LAB_RULES_H
#define NT_LAB_RULES_H

#include "lab/replay/replay.h"

#define NT_LAB_RULES "nccl-tune, race, paper-online, paper-offline or ucb1"

/* NULL: no such rule. */
const struct nt_replay_rule *nt_lab_rule(const char *name);

#endif

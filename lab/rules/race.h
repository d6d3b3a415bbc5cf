/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* race.h - our rule with evidence that is valid at any time (lab/rules/martingale.h)
 *
 * The first rounds are evidence too; they end sooner where samples lie close together. Second
 * rounds are all of the same length.
 *
 * Threads:  pure functions.
 * Memory:   constants.
 * Errors:   none.
 */
#ifndef NT_LAB_RACE_H
#define NT_LAB_RACE_H

#include "engine/rule.h"

extern const struct nt_rule nt_race;

#endif

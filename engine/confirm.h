/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.h - the second round: is one of the arms that could win faster than AUTO?
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_CONFIRM_H
#define NT_CONFIRM_H

#include "engine/judge.h"

#define NT_CONFIRM_ARMS 2 /* of the second round, beside AUTO */
#define NT_CONFIRM_LOOKS 3 /* at most so many second rounds; the evidence is pooled */

nt_judge nt_confirm;

#endif

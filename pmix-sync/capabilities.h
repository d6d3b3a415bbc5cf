/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* capabilities.h - compare the capabilities of a communicator's ranks and describe differences
 *
 * Threads:  pure functions.
 */
#ifndef NT_SYNC_CAPABILITIES_H
#define NT_SYNC_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/reason.h"
#include "contract/shm-layout.h"

/* Equal, except for rank, task and risks? */
bool nt_capabilities_same(const struct nt_capabilities *x, const struct nt_capabilities *y);
/* The most common capabilities; ranks is at least one. */
const struct nt_capabilities *nt_capabilities_usual(const struct nt_capabilities *all_caps,
						    uint32_t ranks);
/* How the odd rank, on the node of that name, differs from the usual ones. */
void nt_capabilities_difference(const struct nt_capabilities *odd,
				const struct nt_capabilities *usual, uint32_t rank,
				const char *node, struct nt_reason *why);
/* Why a rank takes no plan: from enum nt_idle to enum nt_reason_id. */
int nt_capabilities_idle(uint32_t idle);
/* Was it rejected only because no rank takes plans? Then all are alike. */
bool nt_capabilities_all_idle(const struct nt_reason *rejected);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* card.h - do ranks match, and which one is odd, in words
 *
 * Threads:  pure functions.
 */
#ifndef NT_SYNC_CARD_H
#define NT_SYNC_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/board.h"

/* All but rank and task. */
bool nt_card_same(const struct nt_card *x, const struct nt_card *y);
/* The card that most ranks hold; at least one. */
const struct nt_card *nt_card_usual(const struct nt_card *cards, uint32_t ranks);
/* "NCCL 22705, others 22809" */
void nt_card_difference(const struct nt_card *odd, const struct nt_card *usual, char *out,
			size_t out_bytes);
/* Why a rank takes no plan (enum nt_idle). */
const char *nt_card_idle(uint32_t idle);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - arms and communicators as they are spoken of
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's; both return out.
 */
#ifndef NT_WORDS_H
#define NT_WORDS_H

#include "record/summary.h"

/* "Tree/Simple with 8 channels" */
const char *nt_arm_words(int arm, char *out, size_t out_bytes);

/* "the 8 ranks across 2 nodes (dp_group)" */
const char *nt_family_words(const struct nt_family *family, char *out, size_t out_bytes);
/* ", which look data parallel", behind those; "" where there is no guess */
const char *nt_family_looks(const struct nt_family *family, char *out, size_t out_bytes);

#endif

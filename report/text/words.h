/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - arms, communicators and times of day in words
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's; all return out.
 */
#ifndef NT_WORDS_H
#define NT_WORDS_H

#include "record/job-summary.h"

/* "Tree/Simple with 8 channels" */
const char *nt_arm_words(int arm, char *out, size_t out_bytes);

/* "the 8 ranks across 2 nodes (dp_group)" */
const char *nt_family_words(const struct nt_family *family, char *out, size_t out_bytes);
/* ", probably data parallel", after those words; "": no guess */
const char *nt_family_looks(const struct nt_family *family, char *out, size_t out_bytes);

/* "14:03:22", local time; "" of 0 */
#define NT_CLOCK_MAX 16
const char *nt_clock_words(double at_s, char out[NT_CLOCK_MAX]);

/* "5 % slower", "2.60 times as fast", "as fast", of a speedup */
const char *nt_speed_text(double ratio, char *out, size_t out_bytes);

/* Why a launch profile was chosen, in words, by the name that the record has, or by an older
 * record's words. */
const char *nt_launch_from(const char *from, char *out, size_t out_bytes);

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - parse and print sizes: "64K", "1.5M", "96"
 *
 * Digits, perhaps ".5", and K, M, G or T, powers of 1024. nt_size_parse() accepts what
 * nt_size_text() writes.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nothing is allocated, as this runs in the NCCL process.
 * Errors:   -1.
 * Units:    bytes.
 */
#ifndef NT_SIZE_H
#define NT_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define NT_SIZE_TEXT 24 /* holds any size */

/* *bytes is set on success only. */
int nt_size_parse(const char *text, uint64_t *bytes);

/* A comma-separated list of at most most sizes. Returns their number. */
int nt_sizes_parse(const char *list, uint64_t *bytes, unsigned most);

/* The shortest exact form. Returns out. */
const char *nt_size_text(uint64_t bytes, char *out, size_t out_bytes);

#endif

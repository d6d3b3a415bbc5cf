/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - an error as text, passed up to the entry point that decides what it means
 *
 * Threads:  any; an error belongs to its caller.
 * Memory:   the caller's; nothing is allocated. Long texts are cut.
 */
#ifndef NT_CONTRACT_ERROR_H
#define NT_CONTRACT_ERROR_H

struct nt_error {
	char text[256];
};

/* Returns -1, for `return nt_error_set(err, ...)`; keeps errno; err may be NULL. */
int nt_error_set(struct nt_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

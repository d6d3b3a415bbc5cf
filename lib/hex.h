/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hex.h - numbers of a fixed number of lower-case hexadecimal digits, such as fingerprints
 *
 * Threads:  pure functions, any thread.
 * Errors:   -1 or false: not exactly that many digits.
 */
#ifndef NT_HEX_H
#define NT_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NT_HEX_DIGITS "0123456789abcdef"
#define NT_HEX_U64 16 /* digits of a uint64_t */
#define NT_HEX_U32 8

static inline bool nt_hex_valid(const char *text, size_t digits)
{
	return strspn(text, NT_HEX_DIGITS) == digits && text[digits] == '\0';
}

/* digits: at most NT_HEX_U64. *value is set on success only. */
static inline int nt_hex_parse(const char *text, size_t digits, uint64_t *value)
{
	if (!nt_hex_valid(text, digits))
		return -1;
	*value = strtoull(text, NULL, 16);
	return 0;
}

#endif

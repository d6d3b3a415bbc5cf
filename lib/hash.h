/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - FNV-1a, of 32 and of 64 bits
 *
 * To compare texts and states; not safe against forgery. To hash several parts, pass the hash of
 * the parts before; NT_HASH32 or NT_HASH64 with the first.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_HASH_H
#define NT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NT_HASH32 UINT32_C(0x811c9dc5)
#define NT_HASH64 UINT64_C(0xcbf29ce484222325)

static inline uint32_t nt_hash32(uint32_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes-- > 0)
		hash = (hash ^ *at++) * UINT32_C(0x01000193);
	return hash;
}

static inline uint64_t nt_hash64(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes-- > 0)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

static inline uint32_t nt_hash32_text(const char *text)
{
	return nt_hash32(NT_HASH32, text, strlen(text));
}

static inline uint64_t nt_hash64_text(const char *text)
{
	return nt_hash64(NT_HASH64, text, strlen(text));
}

#endif

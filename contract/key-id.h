/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-id.h - the id of a key: the calls that are tuned together, as one number
 *
 * Threads:  pure functions, any thread.
 * Units:    bands as in contract/coll.h; mask: bit a * NT_PROTOS + p for each legal pair.
 */
#ifndef NT_KEY_ID_H
#define NT_KEY_ID_H

#include <stdint.h>

#define NT_RUN_POSITIONS 512 /* most calls in one window */

/* Collective, size band and mask of legal pairs. Never 0. */
static inline uint64_t nt_key_id(unsigned coll, unsigned band, uint32_t mask)
{
	return (UINT64_C(1) << 63) | ((uint64_t)coll << 40) | ((uint64_t)band << 32) | mask;
}

static inline unsigned nt_key_coll(uint64_t id)
{
	return (unsigned)(id >> 40) & 7;
}

static inline unsigned nt_key_band(uint64_t id)
{
	return (unsigned)(id >> 32) & 127;
}

static inline uint32_t nt_key_mask(uint64_t id)
{
	return (uint32_t)id;
}

#endif

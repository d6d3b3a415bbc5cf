/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* coll.h - collectives, algorithms, protocols, arms and size bands as small integers with names
 *
 * Threads:  pure functions, any thread.
 * Errors:   unknown names give -1, unknown numbers "?".
 * Units:    bytes.
 * Host:     NCCL's numbers for ncclFunc_t, NCCL_ALGO_* and NCCL_PROTO_*, stable from 2.19 to 2.30
 *           (src/include/plugin/nccl_tuner.h@v2.28.9-1).
 */
#ifndef NT_COLL_H
#define NT_COLL_H

#include <stddef.h>
#include <stdint.h>
#include "lib/size.h"

enum nt_coll {
	NT_BROADCAST = 0,
	NT_REDUCE = 1,
	NT_ALLGATHER = 2,
	NT_REDUCESCATTER = 3,
	NT_ALLREDUCE = 4,
	NT_COLLS = 5,
};

/* What NCCL asks no tuner about: what a group sends and receives on a communicator. Numbered after
 * the collectives. */
enum nt_p2p_kind {
	NT_P2P_SEND = NT_COLLS,
	NT_P2P_RECV,
	NT_P2P_SENDRECV, /* both */
	NT_P2P_ALLTOALL, /* to all ranks, and from all */
	NT_KINDS,
};

#define NT_ALGOS 7 /* TREE RING COLLNET_DIRECT COLLNET_CHAIN NVLS NVLS_TREE PAT */
#define NT_PROTOS 3 /* LL LL128 SIMPLE */
#define NT_PAIRS (NT_ALGOS * NT_PROTOS)
/* Bit masks of pairs: all, and those with LL, the first protocol, and LL128, the second */
#define NT_PAIRS_ALL ((UINT32_C(1) << NT_PAIRS) - 1)
#define NT_PAIRS_LL (NT_PAIRS_ALL / ((UINT32_C(1) << NT_PROTOS) - 1))
#define NT_PAIRS_LL128 (NT_PAIRS_LL << 1)

_Static_assert(NT_PAIRS < 32, "a mask of pairs has 32 bits");
_Static_assert(__builtin_popcount(NT_PAIRS_LL) == NT_ALGOS && (NT_PAIRS_LL & 1) &&
		       (NT_PAIRS_LL >> (NT_PAIRS - NT_PROTOS)) == 1,
	       "each algorithm has one pair with LL, its first");
_Static_assert((NT_PAIRS_LL & NT_PAIRS_LL128) == 0 && NT_PAIRS_LL128 < NT_PAIRS_ALL,
	       "and its next with LL128");

/* An arm is a 16-bit number: the pair in bits 0 to 7 (algorithm * NT_PROTOS + protocol), a class of
 * channel caps in bits 8 to 11. Class 0 is NCCL's own number. */
#define NT_ARM_BASELINE 255 /* NCCL's choice in everything */

_Static_assert(NT_PAIRS <= NT_ARM_BASELINE, "the baseline is no pair");

#define NT_ARM_CHANNELS_MAX 64
#define NT_ARM_TEXT 40 /* longest name, with its NUL */

const char *nt_coll_name(int coll); /* "AllReduce", as in NCCL's events; of all kinds */
int nt_coll_parse(const char *name); /* collectives only */
int nt_kind_parse(const char *name); /* all kinds */
int nt_coll_find(const char *name); /* case does not matter */
int nt_kind_find(const char *name); /* the same for all kinds */

/* Can a tuner choose how it runs? */
static inline int nt_kind_tunable(int kind)
{
	return kind >= 0 && kind < NT_COLLS;
}

/* busbw / algbw, as NVIDIA's nccl-tests define them; NAN for an unknown collective. */
double nt_coll_bus_factor(int coll, double ranks);
const char *nt_algo_name(int algo); /* "TREE", as in NCCL's events */
int nt_algo_parse(const char *name);
const char *nt_proto_name(int proto); /* "LL128" */
int nt_proto_parse(const char *name);

/* "AUTO", "TREE/SIMPLE", "RING/SIMPLE/8ch". A constant; with a cap, valid until the thread has asked
 * for eight more. */
const char *nt_arm_name(int arm);
int nt_arm_parse(const char *name); /* NT_ARM_BASELINE for "AUTO" */

static inline int nt_arm_pair(int arm) /* NT_ARM_BASELINE for the baseline */
{
	return arm & 255;
}

/* Can its channels be capped? (docs/decisions/arms.md) */
int nt_pair_takes_channels(int pair);

/* The arm of a pair with at most so many channels, rounded down to a class; 0: NCCL's number.
 * -1: the pair takes no cap. */
int nt_arm_make(int pair, unsigned channels);
unsigned nt_arm_channels(int arm); /* 0: NCCL's */
int nt_arm_valid(int arm); /* NT_ARM_BASELINE, or made by nt_arm_make() */

/* Bytes of an element of a datatype as in NCCL's events ("ncclFloat32"); 0 if unknown. */
size_t nt_datatype_bytes(const char *name);

/* The half-octave band of a size: 2k holds [2^k, 1.5 * 2^k), 2k+1 [1.5 * 2^k, 2^(k+1)); 0 also
 * 0. */
static inline unsigned nt_band(size_t bytes)
{
	unsigned k;

	if (bytes < 2)
		return 0;
	k = 63u - (unsigned)__builtin_clzll(bytes);
	return 2 * k + (unsigned)((bytes >> (k - 1)) & 1);
}

size_t nt_band_floor(unsigned band); /* the smallest size of a band */

#endif

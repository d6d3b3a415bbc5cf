/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* coll.h - collectives, algorithms, protocols, arms and size bands as small integers with names
 *
 * Threads:  pure functions, any thread.
 * Errors:   lookups by name return -1 where the name is unknown; lookups by number return "?".
 * Units:    sizes in bytes.
 * Host:     NCCL's numbers for ncclFunc_t, NCCL_ALGO_* and NCCL_PROTO_*, stable from 2.19 to 2.30
 *           (src/include/plugin/nccl_tuner.h@v2.28.9-1).
 */
#ifndef NT_COLL_H
#define NT_COLL_H

#include <stddef.h>
#include <stdint.h>

enum nt_coll {
	NT_BROADCAST = 0,
	NT_REDUCE = 1,
	NT_ALLGATHER = 2,
	NT_REDUCESCATTER = 3,
	NT_ALLREDUCE = 4,
	NT_COLLS = 5,
};

#define NT_ALGOS 7	/* TREE RING COLLNET_DIRECT COLLNET_CHAIN NVLS NVLS_TREE PAT */
#define NT_PROTOS 3	/* LL LL128 SIMPLE */
#define NT_PAIRS (NT_ALGOS * NT_PROTOS)
#define NT_ARM_AUTO 255	/* NCCL's own choice; every other arm is algorithm * NT_PROTOS + protocol */

const char *nt_coll_name(int coll);		/* "AllReduce", as NCCL's events spell it */
int nt_coll_parse(const char *name);
const char *nt_algo_name(int algo);		/* "TREE", as NCCL's events spell it */
int nt_algo_parse(const char *name);
const char *nt_proto_name(int proto);		/* "LL128" */
int nt_proto_parse(const char *name);

/* "TREE/SIMPLE" or "AUTO". Returns a constant. */
const char *nt_arm_name(int arm);
int nt_arm_parse(const char *name);		/* NT_ARM_AUTO for "AUTO" */

/* Bytes of one element of the datatype that NCCL's events name ("ncclFloat32"); 0 if unknown. */
size_t nt_datatype_bytes(const char *name);

/* Half-octave band of a size: 2k holds [2^k, 1.5 * 2^k), 2k+1 holds [1.5 * 2^k, 2^(k+1)); band 0 also holds 0. */
static inline unsigned nt_band(size_t bytes)
{
	unsigned k;

	if (bytes < 2)
		return 0;
	k = 63u - (unsigned)__builtin_clzll(bytes);
	return 2 * k + (unsigned)((bytes >> (k - 1)) & 1);
}

size_t nt_band_floor(unsigned band);		/* the smallest size of a band */

/* "64K", "1.5M", "96": the short form of a size, exact where a power of 1024 or half of one. */
const char *nt_size_text(size_t bytes, char *out, size_t out_bytes);

#endif

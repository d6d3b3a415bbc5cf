/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.h - remembered arms, as one text that srun passes to every rank
 *
 *	v=1 nccl=22809 fabric=socket fingerprint=00f3a0b1c2d3e4f5
 *	8r2n.AllGather.65536=AUTO 8r2n.AllReduce.262144=TREE/SIMPLE/4ch@284500
 *
 * What they were measured with, then a word per key: ranks and nodes of the communicator,
 * collective, lower bound of the size band, arm, and, if measured, by how many nanoseconds a call
 * is faster than with NCCL's choice. AUTO: nothing better is known. The format is strict: one line,
 * single spaces, keys in order, none twice.
 *
 * Threads:  pure functions, any thread.
 * Memory:   values; nothing is allocated.
 * Errors:   -1 and *err; the output is then unspecified.
 * Units:    bytes; nanoseconds.
 */
#ifndef NT_WARM_H
#define NT_WARM_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/fabric.h"
#include "contract/names.h"

#define NT_WARM_MAX 128
#define NT_WARM_GAIN_MAX UINT64_C(9999999999) /* ns */

struct nt_warm_key {
	uint32_t ranks, nodes; /* of the communicator; nodes >= 1, ranks >= nodes */
	int coll; /* enum nt_coll */
	uint64_t bytes; /* lower bound of the size band */
	int arm; /* NT_ARM_BASELINE: nothing better is known */
	uint64_t gain_ns; /* of a call; 0: unknown, or AUTO */
};

struct nt_warm {
	uint32_t nccl; /* NCCL's version code; never 0 */
	int fabric; /* enum nt_fabric; ANY: unknown, matches all */
	uint64_t fingerprint; /* of the nodes' hardware; 0: unknown, matches all */
	unsigned count;
	struct nt_warm_key key[NT_WARM_MAX]; /* sorted, see nt_warm_add() */
};

/* By ranks, nodes, coll, bytes; as strcmp. */
int nt_warm_order(const struct nt_warm_key *a, const struct nt_warm_key *b);

/* Inserts in order. Rejects invalid keys, size bands that another key has, and more than
 * NT_WARM_MAX. */
int nt_warm_add(struct nt_warm *warm, const struct nt_warm_key *key, struct nt_error *err);

int nt_warm_parse(struct nt_warm *warm, const char *text, struct nt_error *err);
/* Also fails if the text exceeds NT_WARM_TEXT_MAX bytes, as NT_WARM_MAX of the longest keys do:
 * then offer fewer. */
int nt_warm_print(const struct nt_warm *warm, char *out, size_t out_bytes, struct nt_error *err);

/* The arm of a key; -1: none. band as in coll.h. */
int nt_warm_find(const struct nt_warm *warm, uint32_t ranks, uint32_t nodes, int coll,
		 unsigned band);
/* gain_ns of a key, if that arm is remembered; else 0. */
uint64_t nt_warm_gain_ns(const struct nt_warm *warm, const struct nt_warm_key *want);

/* Equal if and only if the texts are (FNV-1a); 0 for NULL. */
uint32_t nt_warm_hash(const struct nt_warm *warm);

#endif

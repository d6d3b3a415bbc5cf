/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.h - remembered arms, as one text that crosses from srun into every rank
 *
 *     v=1 nccl=22809 fabric=socket fingerprint=00f3a0b1c2d3e4f5
 *     8r2n.AllGather.1048576=AUTO 8r2n.AllReduce.262144=TREE/SIMPLE/4ch
 *
 * First what they were measured with, then one word for each key: ranks and nodes of the
 * communicator, collective, floor of the size band, arm. AUTO as an arm means that nothing better
 * is known. The text is strict: one line, one space between words, keys in order and none twice.
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types; nothing is allocated.
 * Errors:   -1 and *err set; the output is then unspecified.
 * Units:    sizes in bytes.
 */
#ifndef NT_WARM_H
#define NT_WARM_H

#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "contract/names.h"

#define NT_WARM_MAX 128

enum nt_fabric { NT_FABRIC_ANY = 0, NT_FABRIC_SOCKET = 1, NT_FABRIC_IB = 2 };

struct nt_warm_key {
	uint32_t ranks, nodes; /* of the communicator; nodes >= 1, ranks >= nodes */
	int coll; /* enum nt_coll */
	uint64_t bytes; /* floor of the size band */
	int arm; /* NT_ARM_AUTO: nothing better is known */
};

struct nt_warm {
	uint32_t nccl; /* NCCL's version code; never 0 */
	int fabric; /* enum nt_fabric; ANY: was not known, fits all */
	uint64_t fingerprint; /* of the nodes' hardware; 0: was not known, fits all */
	unsigned count;
	struct nt_warm_key key[NT_WARM_MAX]; /* in order, see nt_warm_add() */
};

/* Put a key at its place in the order: ranks, nodes, coll, bytes. Refuses what is no key, what is
 * there already, and more than NT_WARM_MAX. */
int nt_warm_add(struct nt_warm *warm, const struct nt_warm_key *key, struct nt_error *err);

int nt_warm_parse(struct nt_warm *warm, const char *text, struct nt_error *err);
/* Fails, too, where NT_WARM_TEXT_MAX bytes would not do: as many of the longest keys as
 * NT_WARM_MAX do not fit. Then offer fewer. */
int nt_warm_print(const struct nt_warm *warm, char *out, size_t out_bytes, struct nt_error *err);

/* The arm of a key, or -1 where none is remembered. band as in coll.h. */
int nt_warm_find(const struct nt_warm *warm, uint32_t ranks, uint32_t nodes, int coll,
		 unsigned band);

/* Equal on two nodes exactly when the printed texts are equal (FNV-1a); 0 for NULL. */
uint32_t nt_warm_hash(const struct nt_warm *warm);

const char *nt_fabric_name(int fabric); /* "any", "socket", "ib" */
int nt_fabric_parse(const char *name); /* -1 where it is unknown */

#endif

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - remembered arms as text: canonical: what is read must be as it is written */
#include "contract/warm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/compare.h"
#include "lib/hash.h"

#define NCCL_MAX 9999999
#define RANKS_MAX 99999999
#define WORD_MAX 64 /* with the NUL */
#define HEADER "v=1 nccl=VERSION fabric=FABRIC fingerprint=HEX"

int nt_warm_order(const struct nt_warm_key *a, const struct nt_warm_key *b)
{
	NT_COMPARE(a->ranks, b->ranks);
	NT_COMPARE(a->nodes, b->nodes);
	NT_COMPARE(a->coll, b->coll);
	NT_COMPARE(a->bytes, b->bytes);
	return 0;
}

static int check_key(const struct nt_warm_key *key, struct nt_error *err)
{
	if (key->nodes < 1 || key->ranks < key->nodes || key->ranks > RANKS_MAX)
		return nt_error_set(err, "%" PRIu32 " ranks on %" PRIu32 " nodes", key->ranks,
				    key->nodes);
	if (key->coll < 0 || key->coll >= NT_COLLS)
		return nt_error_set(err, "unknown collective %d", key->coll);
	if (key->bytes > INT64_MAX || nt_band_floor(nt_band(key->bytes)) != key->bytes)
		return nt_error_set(err, "%" PRIu64 " bytes are not the lower end of a size band",
				    key->bytes);
	if (!nt_arm_valid(key->arm))
		return nt_error_set(err, "unknown arm %d", key->arm);
	if (key->gain_ns > (key->arm == NT_ARM_BASELINE ? 0 : NT_WARM_GAIN_MAX))
		return nt_error_set(err, "bad gain of %" PRIu64 " ns", key->gain_ns);
	return 0;
}

static int check_header(const struct nt_warm *warm, struct nt_error *err)
{
	if (warm->nccl == 0 || warm->nccl > NCCL_MAX)
		return nt_error_set(err, "bad NCCL version %" PRIu32, warm->nccl);
	if (warm->fabric < 0 || warm->fabric >= NT_FABRIC_COUNT)
		return nt_error_set(err, "unknown fabric %d", warm->fabric);
	return 0;
}

int nt_warm_add(struct nt_warm *warm, const struct nt_warm_key *key, struct nt_error *err)
{
	unsigned at = warm->count;

	if (check_key(key, err) < 0)
		return -1;
	if (warm->count >= NT_WARM_MAX)
		return nt_error_set(err, "more than %d remembered arms", NT_WARM_MAX);
	while (at > 0 && nt_warm_order(key, &warm->key[at - 1]) < 0)
		at--;
	if (at > 0 && nt_warm_order(key, &warm->key[at - 1]) == 0)
		return nt_error_set(err, "%s of %" PRIu64 " bytes is given twice",
				    nt_coll_name(key->coll), key->bytes);
	memmove(&warm->key[at + 1], &warm->key[at], (warm->count - at) * sizeof(warm->key[0]));
	warm->key[at] = *key;
	warm->count++;
	return 0;
}

/* 8r2n.AllReduce.262144=TREE/SIMPLE/4ch@284500, or without the gain */
static int take_key(struct nt_warm *warm, const char *word, struct nt_error *err)
{
	struct nt_warm_key key = { .gain_ns = 0 };
	char coll[24], arm[WORD_MAX];
	const int taken = sscanf(
		word, "%8" SCNu32 "r%8" SCNu32 "n.%23[^.].%19" SCNu64 "=%63[^@ ]@%10" SCNu64,
		&key.ranks, &key.nodes, coll, &key.bytes, arm, &key.gain_ns);

	key.coll = taken >= 5 ? nt_coll_parse(coll) : -1;
	key.arm = taken >= 5 ? nt_arm_parse(arm) : -1;
	if (key.coll < 0 || key.arm < 0)
		return nt_error_set(err, "'%.60s' is not RANKSrNODESn.COLLECTIVE.BYTES=ARM", word);
	return nt_warm_add(warm, &key, err);
}

/* It is read loosely: what is not written in the same way again is refused. */
int nt_warm_parse(struct nt_warm *warm, const char *text, struct nt_error *err)
{
	char fabric[WORD_MAX] = "", same[NT_WARM_TEXT_MAX];
	int head = 0;

	memset(warm, 0, sizeof(*warm));
	if (strnlen(text, NT_WARM_TEXT_MAX) >= NT_WARM_TEXT_MAX)
		return nt_error_set(err, "longer than %d bytes", NT_WARM_TEXT_MAX - 1);
	if (sscanf(text, "v=1 nccl=%7" SCNu32 " fabric=%63s fingerprint=%16" SCNx64 "%n",
		   &warm->nccl, fabric, &warm->fingerprint, &head) != 3)
		return nt_error_set(err, "'%.60s' does not begin with " HEADER, text);
	warm->fabric = nt_fabric_parse(fabric);
	for (const char *word = strchr(text + head, ' '); word; word = strchr(word, ' ')) {
		if (take_key(warm, ++word, err) < 0)
			return -1;
	}
	if (nt_warm_print(warm, same, sizeof(same), err) < 0)
		return -1;
	return strcmp(text, same) == 0 ? 0 : nt_error_set(err, "not as nccl-tune writes it");
}

int nt_warm_print(const struct nt_warm *warm, char *out, size_t out_bytes, struct nt_error *err)
{
	int rc;

	if (check_header(warm, err) < 0)
		return -1;
	out[0] = '\0';
	rc = nt_append(out, out_bytes, "v=1 nccl=%" PRIu32 " fabric=%s fingerprint=%016" PRIx64,
		       warm->nccl, nt_fabric_name(warm->fabric), warm->fingerprint);
	for (unsigned i = 0; i < warm->count && i < NT_WARM_MAX && rc == 0; i++) {
		const struct nt_warm_key *key = &warm->key[i];

		if (check_key(key, err) < 0)
			return -1;
		if (i > 0 && nt_warm_order(key - 1, key) >= 0)
			return nt_error_set(err, "remembered arms out of order");
		rc = nt_append(out, out_bytes, " %" PRIu32 "r%" PRIu32 "n.%s.%" PRIu64, key->ranks,
			       key->nodes, nt_coll_name(key->coll), key->bytes);
		if (rc == 0)
			rc = nt_append(out, out_bytes, "=%s", nt_arm_name(key->arm));
		if (rc == 0 && key->gain_ns > 0)
			rc = nt_append(out, out_bytes, "@%" PRIu64, key->gain_ns);
	}
	if (rc < 0 || strlen(out) >= NT_WARM_TEXT_MAX)
		return nt_error_set(err, "%u remembered arms are too long", warm->count);
	return 0;
}

/* The key that has want's size band; NULL: none. */
static const struct nt_warm_key *find_key(const struct nt_warm *warm,
					  const struct nt_warm_key *want)
{
	for (unsigned i = 0; i < warm->count; i++) {
		if (nt_warm_order(&warm->key[i], want) == 0)
			return &warm->key[i];
	}
	return NULL;
}

int nt_warm_find(const struct nt_warm *warm, uint32_t ranks, uint32_t nodes, int coll,
		 unsigned band)
{
	const struct nt_warm_key want = {
		.ranks = ranks, .nodes = nodes, .coll = coll, .bytes = nt_band_floor(band)
	};
	const struct nt_warm_key *key = find_key(warm, &want);

	return key ? key->arm : -1;
}

uint64_t nt_warm_gain_ns(const struct nt_warm *warm, const struct nt_warm_key *want)
{
	const struct nt_warm_key *key = find_key(warm, want);

	return key && key->arm == want->arm ? key->gain_ns : 0;
}

uint32_t nt_warm_hash(const struct nt_warm *warm)
{
	char text[NT_WARM_TEXT_MAX] = "";

	if (!warm)
		return 0;
	(void)nt_warm_print(warm, text, sizeof(text), NULL);
	return nt_hash32_text(text);
}

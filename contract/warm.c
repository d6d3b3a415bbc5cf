/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - remembered arms as text: strict parser, canonical output */
#include "contract/warm.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/compare.h"
#include "lib/hash.h"
#include "lib/hex.h"
#include "lib/number.h"

#define NCCL_MAX 9999999
#define RANKS_MAX 99999999
#define WORD_MAX 128

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

/* No leading zero; advances *text. */
static int take_number(const char **text, uint64_t max, uint64_t *value)
{
	const char *end = nt_number_read(*text, max, value);

	if (!end || (**text == '0' && end > *text + 1))
		return -1;
	*text = end;
	return 0;
}

static int take_char(const char **text, char c)
{
	if (**text != c)
		return -1;
	(*text)++;
	return 0;
}

/* Takes the text before c, and skips c. */
static int take_until(const char **text, char c, char *out, size_t out_bytes)
{
	const char *end = strchr(*text, c);
	size_t length = end ? (size_t)(end - *text) : 0;

	if (!end || length >= out_bytes)
		return -1;
	memcpy(out, *text, length);
	out[length] = '\0';
	*text = end + 1;
	return 0;
}

/* TREE/SIMPLE/4ch@284500, or without the gain */
static int take_arm(const char *word, struct nt_warm_key *key)
{
	const char *gain = strchr(word, '@');
	char arm[WORD_MAX];

	snprintf(arm, sizeof(arm), "%.*s", gain ? (int)(gain - word) : WORD_MAX - 1, word);
	key->arm = nt_arm_parse(arm);
	key->gain_ns = 0;
	if (!gain)
		return key->arm < 0 ? -1 : 0;
	gain++;
	if (key->arm < 0 || take_number(&gain, NT_WARM_GAIN_MAX, &key->gain_ns) < 0 || *gain)
		return -1;
	return key->gain_ns > 0 ? 0 : -1;
}

/* 8r2n.AllReduce.262144=ARM */
static int parse_key(const char *word, struct nt_warm_key *key)
{
	uint64_t ranks, nodes;
	char coll[24];

	if (take_number(&word, RANKS_MAX, &ranks) < 0 || take_char(&word, 'r') < 0 ||
	    take_number(&word, RANKS_MAX, &nodes) < 0 || take_char(&word, 'n') < 0 ||
	    take_char(&word, '.') < 0 || take_until(&word, '.', coll, sizeof(coll)) < 0 ||
	    take_number(&word, INT64_MAX, &key->bytes) < 0 || take_char(&word, '=') < 0)
		return -1;
	key->ranks = (uint32_t)ranks;
	key->nodes = (uint32_t)nodes;
	key->coll = nt_coll_parse(coll);
	return take_arm(word, key) < 0 || key->coll < 0 ? -1 : 0;
}

/* Sorted, so that equal arms are equal texts. */
static int take_key(struct nt_warm *warm, const char *word, struct nt_error *err)
{
	struct nt_warm_key key;

	if (parse_key(word, &key) < 0)
		return nt_error_set(err, "'%.60s' is not RANKSrNODESn.COLLECTIVE.BYTES=ARM", word);
	if (warm->count > 0 && nt_warm_order(&warm->key[warm->count - 1], &key) > 0)
		return nt_error_set(err, "'%.60s' is out of order", word);
	return nt_warm_add(warm, &key, err);
}

/* The first four words. */
static int parse_header(struct nt_warm *warm, unsigned place, const char *word,
			struct nt_error *err)
{
	static const char *const keys[] = { "v=", "nccl=", "fabric=", "fingerprint=" };
	const char *value = word + strlen(keys[place]);
	uint64_t number = 0;
	int rc = -1;

	if (strncmp(word, keys[place], strlen(keys[place])) != 0)
		return nt_error_set(err, "'%.60s' (want %s)", word, keys[place]);
	if (place == 0) {
		rc = strcmp(value, "1") == 0 ? 0 : -1;
	} else if (place == 1) {
		rc = take_number(&value, NCCL_MAX, &number) == 0 && !*value && number ? 0 : -1;
		warm->nccl = (uint32_t)number;
	} else if (place == 2) {
		warm->fabric = nt_fabric_parse(value);
		rc = warm->fabric;
	} else {
		rc = nt_hex_parse(value, NT_HEX_U64, &warm->fingerprint);
	}
	return rc < 0 ? nt_error_set(err, "bad value in '%.60s'", word) : 0;
}

int nt_warm_parse(struct nt_warm *warm, const char *text, struct nt_error *err)
{
	unsigned place = 0;

	memset(warm, 0, sizeof(*warm));
	if (strnlen(text, NT_WARM_TEXT_MAX) >= NT_WARM_TEXT_MAX)
		return nt_error_set(err, "longer than %d bytes", NT_WARM_TEXT_MAX - 1);
	for (;; place++) {
		size_t length = strcspn(text, " ");
		char word[WORD_MAX];
		int rc;

		if (length >= sizeof(word))
			return nt_error_set(err, "word too long: '%.60s'", text);
		memcpy(word, text, length);
		word[length] = '\0';
		rc = place < 4 ? parse_header(warm, place, word, err) : take_key(warm, word, err);
		if (rc < 0)
			return -1;
		if (!text[length])
			break;
		text += length + 1;
	}
	return place >= 3 ? 0 : nt_error_set(err, "incomplete");
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

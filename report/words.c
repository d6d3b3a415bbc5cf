/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - see words.h */
#include "report/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"

/* "COLLNET_DIRECT" to "CollNet Direct"; what is no word stays as it is. */
static size_t put_word(char *out, size_t out_bytes, const char *name, size_t bytes)
{
	static const struct {
		const char *name, *word;
	} words[] = {
		{ "TREE", "Tree" },
		{ "RING", "Ring" },
		{ "COLLNET_DIRECT", "CollNet Direct" },
		{ "NVLS_TREE", "NVLS Tree" },
		{ "SIMPLE", "Simple" },
		{ "COLLNET_CHAIN", "CollNet Chain" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == bytes && strncmp(words[i].name, name, bytes) == 0)
			return (size_t)snprintf(out, out_bytes, "%s", words[i].word);
	}
	return (size_t)snprintf(out, out_bytes, "%.*s", (int)bytes, name);
}

const char *nt_arm_words(int arm, char *out, size_t out_bytes)
{
	const char *name = nt_arm_name(arm), *and = " with ";
	size_t part = strcspn(name, "/");
	size_t used;

	if (arm == NT_ARM_AUTO) {
		snprintf(out, out_bytes, "NCCL's choice");
		return out;
	}
	used = put_word(out, out_bytes, name, part);
	for (int i = 0; name[part] == '/' && used < out_bytes; i++) {
		const char *at = name + part + 1;
		size_t bytes = strcspn(at, "/");

		part += 1 + bytes;
		if (i == 0) {
			used += (size_t)snprintf(out + used, out_bytes - used, "/");
			used += used < out_bytes ? put_word(out + used, out_bytes - used, at, bytes)
						 : 0;
		} else if (at[bytes - 1] == 'h') { /* "8ch" */
			used += (size_t)snprintf(out + used, out_bytes - used, "%s%.*s channels",
						 and, (int)bytes - 2, at);
			and = " and ";
		} else {
			used += (size_t)snprintf(out + used, out_bytes - used, "%schunks of %.*s",
						 and, (int)bytes, at);
		}
	}
	return out;
}

const char *nt_family_words(const struct nt_family *family, char *out, size_t out_bytes)
{
	char name[NT_COMM_NAME + 4] = "";

	if (family->name[0])
		snprintf(name, sizeof(name), " (%s)", family->name);
	if (family->nodes == 1)
		snprintf(out, out_bytes, "the %" PRIu32 " ranks of one node%s", family->ranks,
			 name);
	else if (family->nodes == family->ranks)
		snprintf(out, out_bytes,
			 "the %" PRIu32 " ranks, one on each of %" PRIu32 " nodes%s", family->ranks,
			 family->nodes, name);
	else
		snprintf(out, out_bytes, "the %" PRIu32 " ranks across %" PRIu32 " nodes%s",
			 family->ranks, family->nodes, name);
	return out;
}

const char *nt_family_looks(const struct nt_family *family, char *out, size_t out_bytes)
{
	const char *like = nt_parallel_name((int)family->parallel);

	out[0] = '\0';
	/* That it is of all ranks its shape says. */
	if (like[0] && family->parallel != NT_PARALLEL_WORLD)
		snprintf(out, out_bytes, ", which look %s parallel", like);
	return out;
}

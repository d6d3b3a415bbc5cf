/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/parallelism.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
#define NAME(id, name) name,
	NT_PARALLELS(NAME)
#undef NAME
};

const char *nt_parallel_name(int parallel)
{
	return parallel >= 0 && parallel < NT_PARALLEL_COUNT ? names[parallel] : "";
}

/* Words in names: whole words, or parts of words if they are long. */
static const struct {
	const char *word;
	enum nt_parallel parallel;
} words[] = {
	{ "tp", NT_PARALLEL_TENSOR },	      { "tensor", NT_PARALLEL_TENSOR },
	{ "dp", NT_PARALLEL_DATA },	      { "ddp", NT_PARALLEL_DATA },
	{ "fsdp", NT_PARALLEL_DATA },	      { "hsdp", NT_PARALLEL_DATA },
	{ "cdp", NT_PARALLEL_DATA },	      { "edp", NT_PARALLEL_DATA },
	{ "data", NT_PARALLEL_DATA },	      { "replicate", NT_PARALLEL_DATA },
	{ "shard", NT_PARALLEL_DATA },	      { "zero", NT_PARALLEL_DATA },
	{ "pp", NT_PARALLEL_PIPELINE },	      { "pipe", NT_PARALLEL_PIPELINE },
	{ "pipeline", NT_PARALLEL_PIPELINE }, { "ep", NT_PARALLEL_EXPERT },
	{ "expert", NT_PARALLEL_EXPERT },     { "moe", NT_PARALLEL_EXPERT },
	{ "world", NT_PARALLEL_WORLD },
};

#define LONG_WORD 5 /* letters: may be a part of a word */

static bool holds(const char *name, const char *word)
{
	const size_t bytes = strlen(word);

	for (const char *at = name; *at; at++) {
		bool begins = at == name || !isalpha((unsigned char)at[-1]);
		bool ends;

		if (strncasecmp(at, word, bytes) != 0)
			continue;
		ends = !isalpha((unsigned char)at[bytes]);
		if ((begins && ends) || bytes >= LONG_WORD)
			return true;
	}
	return false;
}

static enum nt_parallel by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (holds(name, words[i].word))
			return words[i].parallel;
	}
	return NT_PARALLEL_UNKNOWN;
}

#define LAYER_CALLS 8 /* calls per step: tensor parallelism makes some for each layer */
#define MANY_CALLS 1000 /* the same if the number of steps is unknown */
#define BUCKET_BYTES 65536 /* mean size; smaller calls carry no gradients or weights */

static bool is_often_called(const struct nt_parallelism *known, int64_t calls)
{
	return known->steps > 0 ? calls / known->steps >= LAYER_CALLS : calls >= MANY_CALLS;
}

enum nt_parallel nt_parallelism_parallel(const struct nt_parallelism *known)
{
	enum nt_parallel named = by_name(known->name);
	bool all = known->ranks >= known->step_ranks;
	const int64_t calls = known->calls;

	if (named != NT_PARALLEL_UNKNOWN)
		return named;
	if (calls == 0 && known->alltoall > 0)
		return NT_PARALLEL_EXPERT;
	if (calls == 0)
		return known->p2p > 0 ? NT_PARALLEL_PIPELINE : NT_PARALLEL_UNKNOWN;
	if (known->nodes == 1 && !all && is_often_called(known, calls))
		return NT_PARALLEL_TENSOR;
	if ((known->nodes > 1 || all) && known->bytes / (double)calls >= BUCKET_BYTES)
		return NT_PARALLEL_DATA;
	return all ? NT_PARALLEL_WORLD : NT_PARALLEL_UNKNOWN;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT64_MAX

static const struct {
	const char *word;
	enum nt_split_kind kind;
} words[] = {
	{ "world", NT_SPLIT_WORLD }, { "node", NT_SPLIT_NODE },	  { "tp", NT_SPLIT_BLOCK },
	{ "block", NT_SPLIT_BLOCK }, { "rev", NT_SPLIT_REVERSE }, { "roll", NT_SPLIT_ROLL },
	{ "dp", NT_SPLIT_STRIDE },   { "pp", NT_SPLIT_STAGES },	  { "split", NT_SPLIT_COLORS },
};

static const char *colors_of(const struct nt_split *s)
{
	return strchr(s->name, ':') + 1;
}

/* SIZE[@FROM] */
static int parse_size(struct nt_split *s, const char *text)
{
	char *end;

	s->size = (unsigned)strtoul(text, &end, 10);
	if (*end == '@')
		s->from = (unsigned)strtoul(end + 1, &end, 10);
	return end == text || *end || !s->size || s->size > NT_MAX_RANKS || s->from >= NT_MAX_RANKS
		       ? -1
		       : 0;
}

int nt_split_parse(struct nt_split *s, const char *text, struct nt_error *err)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	size_t i = 0;
	int rc = -1;

	*s = (struct nt_split){ .size = 1 };
	while (i < sizeof(words) / sizeof(words[0]) &&
	       (strlen(words[i].word) != n || strncmp(words[i].word, text, n) != 0))
		i++;
	if (i < sizeof(words) / sizeof(words[0]) && strlen(text) < sizeof(s->name)) {
		s->kind = words[i].kind;
		snprintf(s->name, sizeof(s->name), "%s", text);
		if (s->kind == NT_SPLIT_WORLD || s->kind == NT_SPLIT_NODE)
			rc = colon ? -1 : 0;
		else if (colon && s->kind == NT_SPLIT_COLORS)
			rc = colon[1] ? 0 : -1;
		else if (colon)
			rc = parse_size(s, colon + 1);
	}
	if (rc < 0)
		return nt_error_set(err,
				    "communicators '%s' (want world, node, tp:K, block:K[@FROM], "
				    "rev:K, roll:K, dp:K, pp:K or split:COLORS)",
				    text);
	return 0;
}

static unsigned rolled(const struct nt_split *s, unsigned ranks, unsigned rank, unsigned generation)
{
	return s->kind == NT_SPLIT_ROLL ? (rank + generation) % ranks : rank;
}

static uint64_t color_of(const struct nt_split *s, unsigned ranks, unsigned rank,
			 nt_split_node node, const void *arg)
{
	const char *letters;
	unsigned first = 0;

	switch (s->kind) {
	case NT_SPLIT_WORLD: return 0;
	case NT_SPLIT_NODE:
		while (strcmp(node(arg, first), node(arg, rank)) != 0)
			first++;
		return first;
	case NT_SPLIT_STRIDE: return rank % s->size;
	case NT_SPLIT_STAGES: return rank % (ranks > s->size ? ranks / s->size : 1);
	case NT_SPLIT_COLORS:
		letters = colors_of(s);
		letters += rank % strlen(letters);
		return *letters == '-' ? NONE : (unsigned char)*letters;
	default: return rank < s->from ? NONE : (rank - s->from) / s->size;
	}
}

unsigned nt_split_members(const struct nt_split *s, unsigned ranks, unsigned rank,
			  unsigned generation, nt_split_node node, const void *arg,
			  unsigned *member, uint64_t *color)
{
	unsigned n = 0;

	*color = color_of(s, ranks, rolled(s, ranks, rank, generation), node, arg);
	if (*color == NONE)
		return 0;
	for (unsigned i = 0; i < ranks; i++) {
		/* In the order of the split, which for a roll is not that of the job. */
		unsigned r = s->kind == NT_SPLIT_ROLL ? (i + ranks - generation % ranks) % ranks
						      : i;

		if (color_of(s, ranks, i, node, arg) == *color)
			member[n++] = r;
	}
	for (unsigned i = 0; s->kind == NT_SPLIT_REVERSE && i < n / 2; i++) {
		unsigned swapped = member[i];

		member[i] = member[n - 1 - i];
		member[n - 1 - i] = swapped;
	}
	return n;
}

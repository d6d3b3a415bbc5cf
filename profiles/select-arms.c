/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-arms.c - the remembered arms of a place */
#include <stdlib.h>
#include <string.h>
#include "profiles/known-arms.h"
#include "profiles/select-input.h"

static int by_worth(const void *left, const void *right)
{
	const struct nt_known_arm *a = left, *b = right;

	return (a->worth < b->worth) - (a->worth > b->worth);
}

/* Too many for the text: those with the lowest worth are left out, an eighth at a time. */
static bool print_most(const struct nt_known_arms *arms, struct nt_warm *warm)
{
	unsigned most = arms->count < NT_WARM_MAX ? arms->count : NT_WARM_MAX;

	for (; most > 0; most -= most / 8 + 1) {
		char text[NT_WARM_TEXT_MAX];

		warm->count = 0;
		for (unsigned i = 0; i < most; i++)
			(void)nt_warm_add(warm, &arms->arm[i].key, NULL);
		if (warm->count > 0 && nt_warm_print(warm, text, sizeof(text), NULL) == 0)
			return true;
	}
	return false;
}

bool nt_selection_warm(const struct nt_selection *selection, struct nt_warm *warm)
{
	const struct nt_where *where = &selection->launch.where;
	struct nt_known_arms *arms;
	bool any = false;

	memset(warm, 0, sizeof(*warm));
	if (where->fingerprint == 0 || where->nccl == 0)
		return false;
	warm->nccl = where->nccl;
	warm->fabric = (int)where->fabric;
	warm->fingerprint = where->fingerprint;
	arms = calloc(1, sizeof(*arms));
	if (arms == NULL)
		return false;
	/* The site's memory counts for keys that the user's does not have. */
	nt_known_arms_add(arms, &selection->memory[NT_LEVEL_USER], where,
			  selection->choice.profile);
	if (arms->count == 0)
		nt_known_arms_add(arms, &selection->memory[NT_LEVEL_SITE], where,
				  selection->choice.profile);
	nt_known_arms_join(arms);
	qsort(arms->arm, arms->count, sizeof(arms->arm[0]), by_worth);
	any = print_most(arms, warm);
	free(arms);
	return any;
}

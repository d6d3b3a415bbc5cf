/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Take turns between users. */
#include "spank/delivery/round-robin.h"

#include <stdlib.h>
#include "lib/compare.h"

struct portion {
	struct nt_round_robin item;
	size_t round; /* the number of its user's portion */
	size_t rank; /* of its user */
	size_t index; /* in the input */
};

static int by_user(const void *left, const void *right)
{
	const struct portion *a = left;
	const struct portion *b = right;

	NT_COMPARE(a->item.uid, b->item.uid);
	NT_COMPARE(a->index, b->index);
	return 0;
}

static int by_turn(const void *left, const void *right)
{
	const struct portion *a = left;
	const struct portion *b = right;

	NT_COMPARE(a->round, b->round);
	NT_COMPARE(a->rank, b->rank);
	NT_COMPARE(a->index, b->index);
	return 0;
}

/* Users by number, starting with first_uid. */
static void give_ranks(struct portion *places, size_t count, uint32_t first_uid, size_t portion)
{
	size_t user = 0, position = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && places[i].item.uid != places[i - 1].item.uid) {
			user++;
			position = 0;
		}
		places[i].round = position++ / portion;
		places[i].rank = user + (places[i].item.uid < first_uid ? count : 0);
	}
}

int nt_round_robin_order(struct nt_round_robin *items, size_t count, size_t portion, size_t first)
{
	struct portion *places = calloc(count + 1, sizeof(places[0]));

	if (!places)
		return -1;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct portion){ .item = items[i], .index = i };
	if (count > 0) {
		qsort(places, count, sizeof(places[0]), by_user);
		give_ranks(places, count, items[first % count].uid, portion);
		qsort(places, count, sizeof(places[0]), by_turn);
	}
	for (size_t i = 0; i < count; i++)
		items[i] = places[i].item;
	free(places);
	return 0;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/retention.h"

#include <stdlib.h>
#include "lib/compare.h"

/* A user's files; those before next are marked. */
struct user_files {
	struct nt_kept_file *next, *end;
	size_t files;
	int64_t bytes;
};

struct all_files {
	struct user_files *owners;
	size_t owner_count;
	size_t files;
	int64_t bytes;
	int64_t dropped;
};

static int compare(const void *left, const void *right)
{
	const struct nt_kept_file *a = left;
	const struct nt_kept_file *b = right;

	NT_COMPARE(a->uid, b->uid);
	NT_COMPARE(a->time_s, b->time_s);
	return 0;
}

static void drop_oldest(struct all_files *stock, struct user_files *owner)
{
	owner->next->drop = true;
	owner->files--;
	owner->bytes -= owner->next->bytes;
	stock->files--;
	stock->bytes -= owner->next->bytes;
	stock->dropped++;
	owner->next++;
}

static void take_stock(struct all_files *stock, struct nt_kept_file *items, size_t count)
{
	struct user_files *owner = NULL;

	for (size_t i = 0; i < count; i++) {
		items[i].drop = false;
		if (i == 0 || items[i].uid != items[i - 1].uid) {
			owner = &stock->owners[stock->owner_count++];
			owner->next = &items[i];
		}
		owner->end = &items[i] + 1;
		owner->files++;
		owner->bytes += items[i].bytes;
		stock->files++;
		stock->bytes += items[i].bytes;
	}
}

static struct user_files *largest(const struct all_files *stock, bool by_bytes)
{
	struct user_files *most = &stock->owners[0];

	for (size_t i = 1; i < stock->owner_count; i++) {
		struct user_files *owner = &stock->owners[i];

		if (by_bytes ? owner->bytes > most->bytes : owner->files > most->files)
			most = owner;
	}
	return most;
}

int64_t nt_retention_choose(struct nt_kept_file *items, size_t count,
			    const struct nt_retention *keep, int64_t now_s)
{
	struct all_files stock = { .owners = calloc(count + 1, sizeof(stock.owners[0])) };

	if (!stock.owners)
		return -1;
	if (count > 0)
		qsort(items, count, sizeof(items[0]), compare);
	take_stock(&stock, items, count);
	for (size_t i = 0; i < stock.owner_count; i++) {
		struct user_files *owner = &stock.owners[i];

		while (owner->next < owner->end && now_s - owner->next->time_s > keep->age_s)
			drop_oldest(&stock, owner);
		while (owner->files > keep->user_files)
			drop_oldest(&stock, owner);
	}
	while (stock.files > keep->files)
		drop_oldest(&stock, largest(&stock, false));
	while (keep->bytes > 0 && stock.bytes > keep->bytes)
		drop_oldest(&stock, largest(&stock, true));
	free(stock.owners);
	return stock.dropped;
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/array.h"

#include <stdlib.h>
#include <string.h>

void *nt_array_add(void *items, size_t *count, size_t max, size_t item_bytes)
{
	void **array = items;
	char *item;

	if (*count >= max)
		return NULL;
	if ((*count & (*count - 1)) == 0) {
		void *grown = realloc(*array, (*count ? 2 * *count : 1) * item_bytes);

		if (!grown)
			return NULL;
		*array = grown;
	}
	item = (char *)*array + (*count)++ * item_bytes;
	return memset(item, 0, item_bytes);
}

bool nt_array_reserve(void *data, size_t *size, size_t bytes)
{
	size_t wanted = *size ? *size : 4096;
	void **buffer = data;
	void *grown;

	while (wanted < bytes)
		wanted *= 2;
	if (wanted == *size)
		return true;
	grown = realloc(*buffer, wanted);
	if (!grown)
		return false;
	*buffer = grown;
	*size = wanted;
	return true;
}

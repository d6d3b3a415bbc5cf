/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* remembered.c - see remembered.h */
#include "bench/remembered.h"

#include <stdio.h>
#include "profiles/memory-store.h"

bool nt_remembered_library(const char *directory, int64_t now_s, char out[NT_LIBRARY_MAX],
			   uint32_t *job)
{
	const struct nt_memory_entry *newest = NULL;
	struct nt_memory memory;

	out[0] = '\0';
	nt_memory_init(&memory);
	if (nt_store_read(directory, &memory, now_s, NULL) == 0) {
		for (size_t i = 0; i < memory.entries; i++) {
			const struct nt_memory_entry *entry = &memory.entry[i];

			if (entry->origin == NT_ORIGIN_JOB && entry->library[0] &&
			    (!newest || entry->when_s > newest->when_s))
				newest = entry;
		}
	}
	if (newest) {
		snprintf(out, NT_LIBRARY_MAX, "%s", newest->library);
		*job = newest->job;
	}
	nt_memory_fini(&memory);
	return out[0] != '\0';
}

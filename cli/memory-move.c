/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Export and import a memory's entries. */
#include "cli/memory-forms.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"
#include "launch/memory-store.h"

bool nt_remembered_takes(const struct nt_remembered_ask *ask, const struct nt_memory_entry *entry)
{
	return (entry->keys > 0 || entry->where.fingerprint != 0) &&
	       (ask->fingerprint == 0 || ask->fingerprint == entry->where.fingerprint) &&
	       (!ask->profile || strcmp(ask->profile, entry->profile) == 0);
}

/* Keeps what is requested, without paths of a user's programs. */
static void pick(const struct nt_remembered_ask *ask, struct nt_memory *memory)
{
	const size_t entries = memory->entries, hosts = memory->hosts;

	memory->entries = memory->hosts = 0;
	for (size_t i = 0; i < entries; i++) {
		struct nt_memory_entry *entry = &memory->entry[i];

		entry->library[0] = '\0';
		if (nt_remembered_takes(ask, entry))
			memory->entry[memory->entries++] = *entry;
		else
			nt_entry_fini(entry);
	}
	for (size_t i = 0; i < hosts; i++)
		if (ask->fingerprint == 0 || ask->fingerprint == memory->host[i].fingerprint)
			memory->host[memory->hosts++] = memory->host[i];
}

int nt_remembered_export(const struct nt_remembered_ask *ask, size_t *count, struct nt_error *err)
{
	struct nt_memory memory;
	int rc;

	nt_memory_init(&memory);
	rc = nt_store_read(ask->directory, &memory, ask->now_s, err);
	pick(ask, &memory);
	*count = memory.entries;
	if (rc == 0)
		rc = strcmp(ask->file, "-") == 0 ? nt_memory_print(&memory, stdout, err)
						 : nt_memory_write_file(&memory, ask->file, err);
	nt_memory_fini(&memory);
	return rc;
}

int nt_remembered_import(const struct nt_remembered_ask *ask, size_t *count, unsigned *skipped,
			 struct nt_error *err)
{
	const int64_t now_us = nt_store_now_us();
	struct nt_memory memory;
	char *text = NULL;
	size_t bytes = 0;
	int rc;

	nt_memory_init(&memory);
	rc = strcmp(ask->file, "-") == 0
		     ? nt_file_read("-", NT_MEMORY_BYTES, &text, &bytes, err)
		     : nt_file_read_at(AT_FDCWD, ask->file, 0, NT_MEMORY_BYTES, &text, &bytes, err);
	if (rc == 0 && nt_memory_read_text(&memory, text, bytes, err) < 0)
		rc = -1;
	for (size_t i = 0; i < memory.entries; i++)
		memory.entry[i].added_us = now_us;
	*count = memory.entries;
	*skipped = memory.skipped_lines;
	if (rc == 0 && memory.entries + memory.hosts == 0)
		rc = nt_error_set(err, "%.200s has no entries", ask->file);
	if (rc == 0)
		rc = nt_store_add(ask->directory, &memory, ask->now_s, err);
	nt_memory_fini(&memory);
	free(text);
	return rc;
}

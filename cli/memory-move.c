/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Export and import a memory's entries. */
#include "cli/memory-forms.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/atomic-output.h"
#include "lib/file.h"
#include "lib/printable.h"
#include "launch/memory-csv.h"
#include "launch/memory-store.h"

static bool to_stream(const char *file)
{
	return strcmp(file, "-") == 0;
}

bool nt_remembered_takes(const struct nt_remembered_ask *ask, const struct nt_memory_entry *entry)
{
	return (entry->keys > 0 || entry->where.fingerprint != 0) &&
	       (ask->fingerprint == 0 || ask->fingerprint == entry->where.fingerprint) &&
	       (ask->nodes == 0 || ask->nodes == entry->where.nodes) &&
	       (ask->per_node == 0 || ask->per_node == entry->where.per_node) &&
	       (!ask->profile || strcmp(ask->profile, entry->profile) == 0);
}

/* ---- out */

static int pick(const struct nt_remembered_ask *ask, const struct nt_memory *from,
		struct nt_memory *to, struct nt_error *err)
{
	for (size_t i = 0; i < from->entries; i++) {
		if (nt_remembered_takes(ask, &from->entry[i]) &&
		    nt_memory_add_copy(to, &from->entry[i], err) < 0)
			return -1;
	}
	/* Paths of a user's programs are private. */
	for (size_t i = 0; i < to->entries; i++)
		to->entry[i].library[0] = '\0';
	for (size_t i = 0; i < from->hosts; i++)
		if (ask->fingerprint == 0 || ask->fingerprint == from->host[i].fingerprint)
			if (nt_memory_add_host(to, from->host[i].name, from->host[i].fingerprint,
					       from->host[i].when_s, err) < 0)
				return -1;
	nt_memory_sort(to, ask->now_s);
	return 0;
}

/* All entries must be of one place, because NVIDIA's format has no place. */
static int only_place(const struct nt_memory *picked, struct nt_where *where, struct nt_error *err)
{
	if (picked->entries == 0)
		return nt_error_set(err, "nothing that matches is remembered");
	*where = picked->entry[picked->entries - 1].where;
	for (size_t i = 0; i < picked->entries; i++)
		if (!nt_where_same_place(&picked->entry[i].where, where))
			return nt_error_set(err, "several places match: use --fingerprint, "
						 "--nodes and --ntasks-per-node (nccl-tune memory "
						 "show)");
	return 0;
}

static int print_csv(const struct nt_remembered_ask *ask, const struct nt_memory *picked, FILE *out,
		     struct nt_error *err)
{
	const char *profile = ask->profile ? ask->profile : NT_PROFILE_DEFAULT;
	struct nt_shown shown;
	struct nt_where where;

	if (only_place(picked, &where, err) < 0)
		return -1;
	fprintf(out,
		"# %016" PRIx64 ", %" PRIu32 " x %" PRIu32
		", launch profile %s: these choices are valid with that profile only\n",
		where.fingerprint, where.nodes, where.per_node, nt_shown(&shown, profile));
	return nt_csv_print(picked, &where, profile, out, err);
}

static int write_csv(const struct nt_remembered_ask *ask, const struct nt_memory *picked,
		     struct nt_error *err)
{
	struct nt_atomic_output draft;

	if (nt_atomic_output_begin(&draft, err) < 0)
		return -1;
	return nt_atomic_output_end(&draft, print_csv(ask, picked, draft.out, err), ask->file, 0644,
				    err);
}

int nt_remembered_export(const struct nt_remembered_ask *ask, size_t *count, struct nt_error *err)
{
	struct nt_memory memory, picked;
	int rc = -1;

	nt_memory_init(&memory);
	nt_memory_init(&picked);
	if (nt_store_read(ask->directory, &memory, ask->now_s, err) < 0 ||
	    pick(ask, &memory, &picked, err) < 0)
		goto out;
	*count = picked.entries;
	if (ask->csv)
		rc = write_csv(ask, &picked, err);
	else
		rc = to_stream(ask->file) ? nt_memory_print(&picked, stdout, err)
					  : nt_memory_write_file(&picked, ask->file, err);
out:
	nt_memory_fini(&memory);
	nt_memory_fini(&picked);
	return rc;
}

/* ---- in */

/* Takes software and network from the newest entry on such nodes. */
static void like_newest(const struct nt_memory *memory, struct nt_where *where)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < memory->entries; i++)
		if (memory->entry[i].where.fingerprint == where->fingerprint &&
		    (!newest || memory->entry[i].when_s >= newest->when_s))
			newest = &memory->entry[i];
	if (!newest)
		return;
	where->nccl = newest->where.nccl;
	where->fabric = newest->where.fabric;
	memcpy(where->driver, newest->where.driver, sizeof(where->driver));
}

static int place_of(const struct nt_remembered_ask *ask, struct nt_where *where,
		    struct nt_error *err)
{
	struct nt_memory memory;
	int rc;

	*where = (struct nt_where){ .fingerprint = ask->fingerprint,
				    .nodes = ask->nodes,
				    .per_node = ask->per_node };
	if (where->fingerprint == 0 || where->nodes == 0 || where->per_node == 0)
		return nt_error_set(err, "no place (want --fingerprint, --nodes and "
					 "--ntasks-per-node)");
	nt_memory_init(&memory);
	rc = nt_store_read(ask->directory, &memory, ask->now_s, err);
	if (rc == 0)
		like_newest(&memory, where);
	nt_memory_fini(&memory);
	return rc;
}

static int take_lines(struct nt_memory *to, const char *text, size_t bytes, int64_t now_us,
		      struct nt_error *err)
{
	int skipped = nt_memory_read_text(to, text, bytes, err);

	if (skipped < 0)
		return -1;
	for (size_t i = 0; i < to->entries; i++)
		to->entry[i].added_us = now_us;
	if (to->entries == 0 && to->hosts == 0 && skipped > 0)
		return nt_error_set(err, "it has no entries: line %u is not one",
				    to->first_skipped);
	if (to->entries == 0 && to->hosts == 0)
		return nt_error_set(err, "it has no entries");
	return 0;
}

int nt_remembered_import(const struct nt_remembered_ask *ask, size_t *count, unsigned *skipped,
			 unsigned *first, struct nt_error *err)
{
	struct nt_memory memory;
	struct nt_where where;
	struct nt_shown shown;
	struct nt_error why;
	char *text = NULL;
	size_t bytes = 0;
	int rc;

	nt_memory_init(&memory);
	rc = to_stream(ask->file)
		     ? nt_file_read("-", NT_MEMORY_BYTES, &text, &bytes, err)
		     : nt_file_read_at(AT_FDCWD, ask->file, 0, NT_MEMORY_BYTES, &text, &bytes, err);
	if (rc == 0 && ask->csv)
		rc = place_of(ask, &where, err);
	if (rc == 0) {
		rc = ask->csv ? nt_csv_read(&memory, text, bytes, &where,
					    ask->profile ? ask->profile : NT_PROFILE_DEFAULT,
					    nt_store_now_us(), &why)
			      : take_lines(&memory, text, bytes, nt_store_now_us(), &why);
		if (rc < 0)
			nt_error_set(err, "%.80s: %.170s", nt_shown(&shown, ask->file), why.text);
	}
	if (rc == 0) {
		*skipped = memory.skipped_lines;
		*first = memory.first_skipped;
		nt_memory_sort(&memory, ask->now_s);
		*count = memory.entries;
		rc = nt_store_add(ask->directory, &memory, ask->now_s, err);
	}
	nt_memory_fini(&memory);
	free(text);
	return rc;
}

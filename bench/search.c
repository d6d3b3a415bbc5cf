/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/search.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/child.h"
#include "launch/memory-store.h"

#define PYTHON_MS 5000

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* NCCL's file in a directory, the first `bytes` of dir. */
static bool in_directory(const char *dir, size_t bytes, char out[NT_LIBRARY_MAX])
{
	int n = snprintf(out, NT_LIBRARY_MAX, "%.*s/" NT_SEARCH_SONAME, (int)bytes, dir);

	return bytes > 0 && bytes < NT_LIBRARY_MAX && n < NT_LIBRARY_MAX && is_file(out);
}

/* The loader separates names by spaces and colons. */
static bool in_preload(const char *list, char out[NT_LIBRARY_MAX])
{
	while (list && *list) {
		const size_t bytes = strcspn(list, " :");
		const char *name;

		if (bytes > 0 && bytes < NT_LIBRARY_MAX) {
			memcpy(out, list, bytes);
			out[bytes] = '\0';
			name = strrchr(out, '/');
			if (name && strncmp(name, "/libnccl.so", 11) == 0 && is_file(out))
				return true;
		}
		list += bytes + (list[bytes] != '\0');
	}
	return false;
}

static bool in_library_path(const char *list, char out[NT_LIBRARY_MAX])
{
	while (list && *list) {
		const size_t bytes = strcspn(list, ":;");

		if (in_directory(list, bytes, out))
			return true;
		list += bytes + (list[bytes] != '\0');
	}
	return false;
}

static bool in_python(const struct nt_search *search, char out[NT_LIBRARY_MAX])
{
	char dir[NT_LIBRARY_MAX], lib[NT_LIBRARY_MAX + 4];

	if (!search->ask_python || !search->ask_python(dir))
		return false;
	snprintf(lib, sizeof(lib), "%s/lib", dir);
	return in_directory(lib, strlen(lib), out);
}

static bool search_one(const struct nt_search *search, struct nt_found *found)
{
	static const char *const why[] = {
		[NT_SEARCH_NAMED] = "named by --nccl",	 [NT_SEARCH_RECORD] = "",
		[NT_SEARCH_PRELOAD] = "from LD_PRELOAD", [NT_SEARCH_PATH] = "from LD_LIBRARY_PATH",
		[NT_SEARCH_PYTHON] = "python3's",	 [NT_SEARCH_SYSTEM] = "the system's",
	};
	const char *exact = found->from == NT_SEARCH_NAMED    ? search->named
			    : found->from == NT_SEARCH_RECORD ? search->remembered
							      : NULL;

	snprintf(found->why, sizeof(found->why), "%s", why[found->from]);
	if (found->from == NT_SEARCH_RECORD)
		snprintf(found->why, sizeof(found->why), "named by job %u's record", search->job);
	if (exact && strlen(exact) < sizeof(found->path) && is_file(exact)) {
		snprintf(found->path, sizeof(found->path), "%s", exact);
		return true;
	}
	switch (found->from) {
	case NT_SEARCH_PRELOAD: return in_preload(search->preload, found->path);
	case NT_SEARCH_PATH: return in_library_path(search->library_path, found->path);
	case NT_SEARCH_PYTHON: return in_python(search, found->path);
	case NT_SEARCH_SYSTEM: snprintf(found->path, NT_LIBRARY_MAX, NT_SEARCH_SONAME); return true;
	default: return false;
	}
}

int nt_search_next(const struct nt_search *search, enum nt_search_from from, struct nt_found *found,
		   struct nt_error *err)
{
	for (found->from = from; found->from < NT_SEARCH_END; found->from++) {
		if (search_one(search, found))
			return 0;
		if (found->from == NT_SEARCH_NAMED && search->named)
			return nt_error_set(err, "--nccl %s: not a readable file", search->named);
	}
	found->path[0] = found->why[0] = '\0';
	return 0;
}

/* Run python3 itself: it knows its startup files, virtual environments and wrappers in PATH. */
bool nt_search_ask_python(char out[NT_LIBRARY_MAX])
{
	static char name[] = "python3", option[] = "-c";
	static char program[] =
		"import importlib.util as u; "
		"print(list(u.find_spec('nvidia.nccl').submodule_search_locations)[0])";
	char *const argv[] = { name, option, program, NULL };
	struct nt_child child;
	bool any = nt_child_run(&child, argv, NT_LIBRARY_MAX, PYTHON_MS, NULL) == 0 &&
		   child.status == 0 && child.out != NULL;

	if (any)
		snprintf(out, NT_LIBRARY_MAX, "%.*s", (int)strcspn(child.out, "\n"), child.out);
	nt_child_fini(&child);
	return any && out[0] == '/';
}

bool nt_search_remembered(const char *directory, int64_t now_s, char out[NT_LIBRARY_MAX],
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

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/dumps.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"

#define NAMED_MAX 64 /* a process's communicators with files of their own; later ones share names */

static bool is_writer(const char *variable, int rank)
{
	const char *text = getenv(variable);
	uint64_t writer;

	return text && nt_number_parse(text, 0, INT_MAX, &writer) == 0 && (int)writer == rank;
}

/* Directly in the step's directory */
static bool is_ours(const char *path, const struct nt_place *place, const char *prefix)
{
	size_t bytes = strlen(place->dir);

	return path && bytes > 0 && strncmp(path, place->dir, bytes) == 0 && path[bytes] == '/' &&
	       strncmp(path + bytes + 1, prefix, strlen(prefix)) == 0 &&
	       !strchr(path + bytes + 1, '/');
}

static void name_one(const struct nt_place *place, const struct nt_comm_identity *who,
		     const char *variable, const char *prefix)
{
	const char *path = getenv(variable);
	char name[NT_PATH_MAX + 128];

	if (!is_ours(path, place, prefix))
		return;
	snprintf(name, sizeof(name), "%s/%s%016" PRIx64 ".%d.%zu.%zu%s", place->dir, prefix,
		 who->id, who->rank, who->ranks, who->nodes, NT_DUMP_SUFFIX);
	(void)rename(path, name);
}

void nt_dumps_name(const struct nt_policy *policy, const struct nt_place *place,
		   const struct nt_comm_identity *who)
{
	static _Atomic unsigned named;
	bool graphs, system;

	if (policy->topology != NT_SWITCH_ON || who->id == 0 || who->rank < 0)
		return;
	graphs = is_writer(NT_ENV_GRAPH_RANK, who->rank);
	system = is_writer(NT_ENV_SYSTEM_RANK, who->rank);
	if ((!graphs && !system) || atomic_fetch_add(&named, 1) >= NAMED_MAX)
		return;
	if (graphs)
		name_one(place, who, NT_ENV_GRAPH_FILE, NT_GRAPHS_PREFIX);
	if (system)
		name_one(place, who, NT_ENV_SYSTEM_FILE, NT_SYSTEM_PREFIX);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-list.h"

#include <stdio.h>
#include <string.h>
#include "lib/plural.h"

size_t nt_findings_node_end(const struct nt_facts_seen *seen, size_t count, size_t first)
{
	size_t end = first;

	while (end < count && strcmp(seen[end].node, seen[first].node) == 0)
		end++;
	return end;
}

void nt_findings_add(struct nt_findings *findings, const struct nt_finding *finding)
{
	size_t same = 0;

	for (size_t i = 0; i < findings->count; i++)
		same += findings->item[i].id == finding->id;
	if (same < NT_FINDINGS_SAME && findings->count < NT_FINDINGS_MAX)
		findings->item[findings->count++] = *finding;
}

const char *nt_findings_on(const char *node, size_t nodes, char out[NT_FINDINGS_ON])
{
	if (nodes > 1)
		snprintf(out, NT_FINDINGS_ON, "%.60s and %zu more node%s", node, nodes - 1,
			 nt_plural(nodes - 1));
	else
		snprintf(out, NT_FINDINGS_ON, "%.60s", node);
	return out;
}

const char *nt_findings_ranks(size_t ranks, char out[32])
{
	snprintf(out, 32, ranks == 1 ? "A rank" : "%zu ranks", ranks);
	return out;
}

bool nt_findings_next(const char **text, struct nt_findings_pair *pair)
{
	while (**text) {
		const size_t length = strcspn(*text, " "), bytes = strcspn(*text, "=");
		const char *word = *text;

		*text += length;
		*text += **text == ' ';
		if (bytes >= length)
			continue;
		*pair = (struct nt_findings_pair){ word, word + bytes + 1, (int)bytes,
						   (int)(length - bytes - 1) };
		return true;
	}
	return false;
}

int nt_findings_value(const char *text, const char *name, char *out, size_t out_bytes)
{
	struct nt_findings_pair pair;

	while (nt_findings_next(&text, &pair)) {
		if (strlen(name) != (size_t)pair.name_bytes ||
		    memcmp(name, pair.name, strlen(name)) != 0)
			continue;
		snprintf(out, out_bytes, "%.*s", pair.value_bytes, pair.value);
		return 0;
	}
	return -1;
}

bool nt_findings_is_site(const struct nt_facts_seen *seen, const char *name)
{
	char site[80], value[80];

	return nt_findings_value(seen->facts.site, name, site, sizeof(site)) == 0 &&
	       (nt_findings_value(seen->variables, name, value, sizeof(value)) == 0 ||
		nt_findings_value(seen->inside, name, value, sizeof(value)) == 0) &&
	       strcmp(site, value) == 0;
}

bool nt_findings_by_sockets(const struct nt_facts_seen *seen)
{
	return strcmp(seen->fabric, "socket") == 0 || strcmp(seen->fabric, "tls") == 0;
}

bool nt_findings_by_rdma(const struct nt_facts_seen *seen)
{
	return strcmp(seen->fabric, "ib") == 0 || strcmp(seen->fabric, "efa") == 0;
}

char *nt_findings_argument(char *text)
{
	for (char *c = text; *c; c++)
		*c = *c == ':' ? ';' : *c;
	return text;
}

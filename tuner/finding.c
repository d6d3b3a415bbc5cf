/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - see finding.h */
#include "tuner/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nt_findings_entry {
	struct nt_findings_entry *next;
	struct nt_finding finding;
};

void nt_finding_begin(struct nt_finding *finding, const struct nt_board_comm *comm,
		      const struct nt_board_key *key)
{
	*finding = (struct nt_finding){
		.comm = atomic_load(&comm->id),
		.key = atomic_load(&key->id),
		.ranks = atomic_load(&comm->ranks),
		.nodes = atomic_load(&comm->nodes),
		.auto_arm = (uint16_t)key->auto_arm,
		.chosen_arm = NT_ARM_AUTO,
	};
	memcpy(finding->cost_us, key->cost_us, sizeof(finding->cost_us));
}

static float predicted(const struct nt_finding *finding, unsigned arm)
{
	unsigned pair = arm == NT_ARM_AUTO ? finding->auto_arm : arm;
	float us = pair < NT_PAIRS ? finding->cost_us[pair] : -1;

	return isfinite(us) ? us : -1;
}

void nt_finding_note(struct nt_finding *finding, unsigned arm, const struct nt_figures *figures)
{
	unsigned at = 0;

	while (at < finding->arms && finding->arm[at].arm != arm)
		at++;
	if (at == NT_FINDING_ARMS || figures->samples == 0)
		return;
	finding->arm[at] = (struct nt_found){
		.arm = (uint16_t)arm,
		.samples = (uint16_t)figures->samples,
		.predicted_us = predicted(finding, arm),
		.us = (float)figures->median_us,
		.p25_us = (float)figures->p25_us,
	};
	finding->arms += at == finding->arms;
}

static void drop(struct nt_findings *findings, struct nt_findings_entry **at)
{
	struct nt_findings_entry *entry = *at;

	*at = entry->next;
	findings->count--;
	free(entry);
}

void nt_findings_keep(struct nt_findings *findings, const struct nt_finding *finding,
		      const struct nt_outcome *outcome)
{
	struct nt_findings_entry *entry, **at = &findings->first;

	if (finding->arms == 0)
		return;
	while (*at) {
		const struct nt_finding *old = &(*at)->finding;

		if ((old->comm == finding->comm && old->key == finding->key) ||
		    (!(*at)->next && findings->count >= NT_FINDINGS))
			drop(findings, at);
		else
			at = &(*at)->next;
	}
	entry = malloc(sizeof(*entry));
	if (!entry)
		return;
	entry->finding = *finding;
	entry->finding.chosen_arm = outcome->chosen_arm;
	entry->next = findings->first;
	findings->first = entry;
	findings->count++;
}

void nt_findings_clear(struct nt_findings *findings)
{
	while (findings->first)
		drop(findings, &findings->first);
}

const struct nt_finding *nt_findings_at(const struct nt_findings *findings, unsigned number)
{
	const struct nt_findings_entry *entry = findings->first;

	while (entry && number-- > 0)
		entry = entry->next;
	return entry ? &entry->finding : NULL;
}

size_t nt_finding_text(const struct nt_finding *finding, char *out, size_t out_bytes)
{
	size_t used = 0;

	if (out_bytes < NT_FINDING_TEXT)
		return 0;
	used += (size_t)snprintf(
		out, out_bytes,
		"{\"id\":\"%016" PRIx64 "\",\"ranks\":%" PRIu32 ",\"nodes\":%" PRIu32
		",\"coll\":\"%s\",\"bytes\":%zu,\"auto\":\"%s\",\"arm\":\"%s\",\"arms\":[",
		finding->comm, finding->ranks, finding->nodes,
		nt_coll_name((int)nt_key_coll(finding->key)),
		nt_band_floor(nt_key_band(finding->key)), nt_arm_name(finding->auto_arm),
		nt_arm_name(finding->chosen_arm));
	for (unsigned i = 0; i < finding->arms; i++) {
		const struct nt_found *f = &finding->arm[i];

		used += (size_t)snprintf(out + used, out_bytes - used, "%s{\"arm\":\"%s\"",
					 i ? "," : "", nt_arm_name(f->arm));
		if (f->predicted_us >= 0)
			used += (size_t)snprintf(out + used, out_bytes - used,
						 ",\"predicted_us\":%.2f", (double)f->predicted_us);
		used += (size_t)snprintf(out + used, out_bytes - used,
					 ",\"us\":%.2f,\"p25_us\":%.2f,\"samples\":%u}",
					 (double)f->us, (double)f->p25_us, f->samples);
	}
	return used + (size_t)snprintf(out + used, out_bytes - used, "]}");
}

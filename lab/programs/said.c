/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/said.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/rankread.h"

#define TEXT_BYTES (1u << 20) /* more than a record may have */

static void take_key(struct nt_world *w, const struct nt_inst *inst, const struct nt_key *said)
{
	for (unsigned k = 0; k < w->p->keys; k++) {
		const struct nt_program_key *key = &w->p->key[k];
		struct nt_key_log *log = nt_world_key_log(w, inst, k);

		if (key->comm != inst->kind || key->coll != said->coll ||
		    nt_band(key->bytes) != nt_band((size_t)said->bytes))
			continue;
		snprintf(log->why, sizeof(log->why), "%s", nt_reason_code(said->reason));
		if (said->spent_ms > log->said_spent_ms)
			log->said_spent_ms = said->spent_ms;
	}
}

static void take_comm(struct nt_world *w, const struct nt_comm_seen *comm)
{
	uint64_t id = strtoull(comm->id, NULL, 16);

	for (unsigned i = 0; i < w->insts && comm->rank == 0; i++) {
		if (w->inst[i].id != id)
			continue;
		for (size_t k = 0; k < comm->key_count; k++)
			take_key(w, &w->inst[i], &comm->keys[k]);
	}
}

static void take_file(struct nt_world *w, const char *path, char *text)
{
	struct nt_rank rank = { 0 };
	FILE *file = fopen(path, "r");
	size_t n = 0;

	if (file) {
		n = fread(text, 1, TEXT_BYTES, file);
		fclose(file);
	}
	if (n && nt_rank_parse(&rank, text, n, NULL) == 0) {
		for (size_t i = 0; i < rank.comm_count; i++)
			take_comm(w, &rank.comms[i]);
	}
	nt_rank_fini(&rank);
}

void nt_said_read(struct nt_world *w, struct nt_run_log *log, const char *dir)
{
	char path[PATH_MAX], *text = malloc(TEXT_BYTES);

	w->log = log;
	for (unsigned n = 0; text && n < w->nodes; n++) {
		const struct dirent *entry;
		DIR *d;

		snprintf(path, sizeof(path), "%.3000s/n%u", dir, n);
		d = opendir(path);
		while (d && (entry = readdir(d)) != NULL) {
			if (!nt_rank_file_is(entry->d_name))
				continue;
			snprintf(path, sizeof(path), "%.3000s/n%u/%.200s", dir, n, entry->d_name);
			take_file(w, path, text);
		}
		if (d)
			closedir(d);
	}
	free(text);
}

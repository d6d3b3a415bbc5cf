/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* probe_rows.c - what the probe has seen, as rows of a csv file; probe.c says which */
#include "lab/gpu/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "contract/coll.h"

static float launch_us(const struct launch *l)
{
	float ms = -1e-3f;

	if (!l || !l->event[0] || !l->event[1])
		return -1;
	if (nt_probe.event_elapsed(&ms, l->event[0], l->event[1]) != 0)
		atomic_fetch_add(&nt_probe.cuda_errors, 1);
	return ms * 1000;
}

static void write_comm(FILE *f, const struct comm *c)
{
	fprintf(f, "comm,%016" PRIx64 ",%d,%d,%d,%lu,%lu,%lu,%lu\n", c->id, c->rank, c->ranks,
		c->nodes, c->late_tuner, c->late_profiler, c->captured, nt_probe.cuda_errors);
	for (unsigned i = 0; i < c->tables; i++) {
		const struct table *t = &c->table[i];

		fprintf(f, "table,%016" PRIx64 ",%s,%zu,%06x,%016" PRIx64 ",%u,%u\n", c->id,
			nt_coll_name(t->coll), t->bytes, t->legal, t->hash, t->calls, t->hashes);
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void write_rows(FILE *f)
{
	const unsigned decisions = least(nt_probe.decisions, DECISIONS);
	const unsigned colls = least(nt_probe.colls, COLLS);

	for (unsigned i = 0; i < decisions; i++) {
		const struct decision *d = &nt_probe.decision[i];

		fprintf(f, "decision,%016" PRIx64 ",%lu,%s,%zu,%s,%d,%" PRIu64 "\n", d->comm->id,
			d->index, nt_coll_name(d->coll), d->bytes, nt_arm_name(d->arm), d->mask,
			d->host_ns);
	}
	for (unsigned i = 0; i < colls; i++) {
		const struct coll *c = &nt_probe.coll[i];

		fprintf(f,
			"coll,%016" PRIx64 ",%" PRIu64 ",%s,%zu,%s,%s/%s,%u,%u,%u,%" PRIu64
			",%" PRIu64 ",%.2f\n",
			c->comm->id, c->seq, c->func, c->count, c->datatype, c->algo, c->proto,
			c->channels, c->starts, c->stops, c->first_start_ns, c->last_stop_ns,
			(double)launch_us(c->launch));
	}
	for (unsigned i = 0; i < least(nt_probe.comms, COMMS); i++)
		write_comm(f, &nt_probe.comm[i]);
}

void nt_probe_write(void)
{
	const char *dir = getenv("NT_PROBE_DIR");
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/probe.%d.%d.csv", dir ? dir : "/tmp",
		 nt_probe.comm[0].rank, (int)getpid());
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return;
	}
	write_rows(f);
	fclose(f);
}

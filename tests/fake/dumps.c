/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/dumps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 64
#define CHANNELS 16

/* A node in the dumps. */
struct machine {
	unsigned rank[GPUS_MAX]; /* of the communicator, on each GPU */
	unsigned gpus, nics, channels;
	unsigned mbps, nvlinks;
	double gbs; /* of a channel */
	bool several; /* nodes */
};

/* By NCCL's numbers. */
struct graph {
	int id, pattern;
};

static void look(struct machine *m, const struct nt_comm *c, const unsigned *members,
		 unsigned ranks)
{
	const struct nt_wire *wire = c->owner->job->wire;
	const char *number = getenv("SLURM_NODEID");
	bool poor = number &&
		    (unsigned)strtoul(number, NULL, 10) + 1 == c->owner->job->options->poor_node;

	*m = (struct machine){ .several = c->place.nodes > 1 };
	for (unsigned i = 0; i < ranks && m->gpus < GPUS_MAX; i++) {
		if (strcmp(nt_wire_node(wire, members[i]), c->owner->node) == 0)
			m->rank[m->gpus++] = i;
	}
	m->nics = poor ? (m->gpus + 1) / 2 : m->gpus;
	m->mbps = poor ? 200000 : 400000;
	m->nvlinks = poor ? 16 : 18;
	m->channels = poor ? CHANNELS / 2 : CHANNELS;
	m->gbs = poor ? 12 : 24;
}

static FILE *dump_file(const char *file_variable, const char *rank_variable, unsigned rank)
{
	const char *path = getenv(file_variable), *writer = getenv(rank_variable);
	FILE *file;

	if (!path || strtoul(writer ? writer : "0", NULL, 10) != rank)
		return NULL;
	file = fopen(path, "w");
	if (!file)
		nt_load_log(NT_NCCL_LOG_INFO, NT_NCCL_SUB_INIT, __func__, __LINE__,
			    "Unable to open %s, not dumping topology.", path);
	return file;
}

static void dump_channel(FILE *out, const struct machine *m, unsigned channel, bool first_only)
{
	unsigned nic = channel % m->nics;

	fprintf(out, "    <channel>\n");
	if (m->several)
		fprintf(out, "      <net dev=\"%#x\"/>\n", nic);
	for (unsigned i = 0; i < (first_only ? 1 : m->gpus); i++)
		fprintf(out, "      <gpu dev=\"%#x\"/>\n", (channel + m->gpus - i) % m->gpus);
	if (m->several)
		fprintf(out, "      <net dev=\"%#x\"/>\n", nic);
	fprintf(out, "    </channel>\n");
}

static void dump_graph(FILE *out, const struct machine *m, struct graph graph, unsigned channels)
{
	fprintf(out,
		"  <graph id=\"%d\" pattern=\"%d\" crossnic=\"0\" nchannels=\"%u\" speedintra=\"%g\" "
		"speedinter=\"%g\" latencyinter=\"0\" typeintra=\"%s\" typeinter=\"PIX\" "
		"samechannels=\"0\"%s>\n",
		graph.id, graph.pattern, channels, channels ? m->gbs : 0, channels ? m->gbs : 0,
		channels ? "NVL" : "LOC", channels ? "" : "/");
	if (channels == 0)
		return;
	for (unsigned i = 0; i < channels; i++)
		dump_channel(out, m, i, graph.id == 3);
	fprintf(out, "  </graph>\n");
}

/* In NCCL's order: ring, tree, and three that NCCL did not search. */
static void dump_graphs(FILE *out, const struct machine *m)
{
	fprintf(out, "<graphs version=\"1\">\n");
	dump_graph(out, m, (struct graph){ 0, 4 }, m->channels);
	dump_graph(out, m, (struct graph){ 1, 1 }, m->channels);
	dump_graph(out, m, (struct graph){ 4, 6 }, 0);
	dump_graph(out, m, (struct graph){ 2, 3 }, 0);
	dump_graph(out, m, (struct graph){ 3, 5 }, 0);
	fprintf(out, "</graphs>\n");
}

static void dump_gpu(FILE *out, const struct machine *m, unsigned i)
{
	fprintf(out,
		"      <pci busid=\"0000:%02x:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
		"device=\"0x2335\" subsystem_vendor=\"0x10de\" subsystem_device=\"0x18be\" "
		"link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
		"        <gpu dev=\"%u\" sm=\"90\" rank=\"%u\" gdr=\"1\">\n",
		0x20 + 8 * i, i, m->rank[i]);
	for (unsigned k = 0; k < 4; k++)
		fprintf(out,
			"          <nvlink target=\"0000:%02x:00.0\" count=\"%u\" "
			"tclass=\"0x068000\"/>\n",
			5 + k, (m->nvlinks + 3 - k) / 4);
	fprintf(out, "        </gpu>\n      </pci>\n");
}

static void dump_nic(FILE *out, const struct machine *m, unsigned i)
{
	fprintf(out,
		"      <pci busid=\"0000:%02x:00.0\" class=\"0x020700\" vendor=\"0x15b3\" "
		"device=\"0x1021\" subsystem_vendor=\"0x15b3\" subsystem_device=\"0x0023\" "
		"link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
		"        <nic>\n"
		"          <net name=\"mlx5_%u\" dev=\"%u\" latency=\"0\" speed=\"%u\" port=\"1\" "
		"guid=\"0x%x\" maxconn=\"131072\" gdr=\"1\"/>\n"
		"        </nic>\n      </pci>\n",
		0x22 + 8 * i, i, i, m->mbps, 0x946dae00 + i);
}

static void dump_system(FILE *out, const struct machine *m)
{
	fprintf(out, "<system version=\"1\">\n"
		     "  <cpu host_hash=\"0x1234abcd\" numaid=\"0\" affinity=\"ffffffff\" "
		     "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n");
	for (unsigned i = 0; i < m->gpus; i++) {
		fprintf(out,
			"    <pci busid=\"0000:%02x:00.0\" class=\"0x060400\" vendor=\"0x1000\" "
			"device=\"0xc030\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n",
			0x1e + 8 * i);
		dump_gpu(out, m, i);
		if (i < m->nics)
			dump_nic(out, m, i);
		fprintf(out, "    </pci>\n");
	}
	fprintf(out, "  </cpu>\n</system>\n");
}

void nt_fake_dump(const struct nt_comm *c, const unsigned *members, unsigned ranks)
{
	struct machine m;
	FILE *out;

	look(&m, c, members, ranks);
	out = dump_file("NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_DUMP_FILE_RANK", c->rank);
	if (out) {
		dump_system(out, &m);
		fclose(out);
	}
	out = dump_file("NCCL_GRAPH_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE_RANK", c->rank);
	if (out) {
		dump_graphs(out, &m);
		fclose(out);
	}
}

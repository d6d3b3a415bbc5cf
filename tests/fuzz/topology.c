/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - NCCL's dumps of its topology: what is made of them is a line that its reader takes,
 *          and plain; and such a line from anybody, as a report reads it
 *
 * Input: the graphs, behind a byte 1 the devices, behind another a line as a part has it.
 */
#include <string.h>
#include "contract/names.h"
#include "record/read.h"
#include "report/model/topology-compare.h"
#include "recordd/dumpxml.h"
#include "tests/fuzz/fuzz.h"

static void check_line(const struct nt_topology *topology)
{
	static char text[NT_RANK_RECORD_MAX];
	static struct nt_topology back;
	size_t bytes = nt_topology_format(topology, text, sizeof(text));
	json_object *object = NULL;
	struct nt_error err = { "" };

	FUZZ_CHECK(bytes == strlen(text));
	fuzz_check_plain(text, bytes);
	FUZZ_CHECK(nt_json_parse(text, bytes, &object, &err) == 0);
	if (nt_topology_read(&back, object, &err) < 0)
		fprintf(stderr, "%s: %s\n", text, err.text);
	FUZZ_CHECK(err.text[0] == '\0');
	FUZZ_CHECK(back.graph_count == topology->graph_count);
	FUZZ_CHECK(back.gpu_count == topology->gpu_count);
	FUZZ_CHECK(back.nic_count == topology->nic_count);
	json_object_put(object);
}

static void read_dumps(const char *graphs, const char *devices)
{
	static struct nt_topology topology;
	struct nt_error err = { "" };

	nt_topology_clear(&topology);
	snprintf(topology.id, sizeof(topology.id), "a");
	topology.rank = 0;
	topology.ranks = 2;
	if (graphs && nt_dump_read_graphs(&topology, graphs, strlen(graphs), &err) < 0)
		snprintf(topology.no_graphs, sizeof(topology.no_graphs), "%.119s", err.text);
	if (devices && nt_dump_read_system(&topology, devices, strlen(devices), &err) < 0)
		snprintf(topology.no_devices, sizeof(topology.no_devices), "%.119s", err.text);
	fuzz_check_plain(err.text, strlen(err.text));
	check_line(&topology);
}

static void read_line(const char *line)
{
	static const char step[] = "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\"}}}";
	struct nt_summary summary;
	struct nt_error err = { "" };
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL);
	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, step, strlen(step), NULL, &err) == 0);
	for (int i = 0; i < 3; i++)
		nt_topology_add(&summary, 0, "n", nt_text_of(line));
	FUZZ_CHECK(!summary.no_memory);
	FUZZ_CHECK(nt_topology_print(out, &summary, &err) == 0);
	fclose(out);
	fuzz_check_plain(text, bytes);
	free(text);
	nt_summary_fini(&summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	char *graphs = fuzz_part(&in, 1), *devices = fuzz_part(&in, 1), *line = fuzz_part(&in, 1);

	read_dumps(graphs, devices);
	if (line)
		read_line(line);
	free(graphs);
	free(devices);
	free(line);
	return 0;
}

FUZZ_TEXT_TARGET("<graphs version=\"1\">", "</graphs>",
		 "<graph id=\"0\" pattern=\"4\" nchannels=\"2\"", " speedintra=\"24\"",
		 " speedinter=\"1.2\"", " typeintra=\"NVL\"", " samechannels=\"1\"", "</graph>",
		 "<channel>", "</channel>", "<net dev=\"0x1\"/>", "<gpu dev=\"0\"/>",
		 "\x01<system version=\"1\">", "</system>", "<cpu numaid=\"0\">", "</cpu>",
		 "<pci busid=\"0000:20:00.0\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">",
		 "</pci>", "<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">", "</gpu>",
		 "<nvlink count=\"4\"/>", "<c2c count=\"1\"/>", "<nic>", "</nic>",
		 "<net name=\"mlx5_0\" dev=\"0\" speed=\"400000\"/>",
		 "<!DOCTYPE a [<!ENTITY b \"c\">]>", "&b;", "&#27;", "<?xml version=\"1.0\"?>",
		 "\x01{\"id\":\"a\",\"rank\":0,\"ranks\":2", ",\"nodes\":2", ",\"graphs\":[",
		 "{\"name\":\"ring\",\"channels\":16", ",\"intra_gbs\":24", ",\"inter_gbs\":1.5",
		 ",\"intra\":\"NVL\"", ",\"gpus\":[{\"dev\":0", ",\"nvlinks\":18",
		 ",\"pcie_gts\":32", ",\"nics\":[{\"dev\":0", ",\"mbps\":400000", ",\"name\":\"e\"",
		 "}", "]", "-", "1e99")

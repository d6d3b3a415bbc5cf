/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's dumps of its topology: real ones are read correctly, and invalid ones do no harm. */
#include "recordd/dumpxml.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "lib/file.h"
#include "record/read.h"
#include "tests/lib/schema.h"

static struct nt_topology topology;

static int clean(void **state)
{
	nt_topology_clear(&topology);
	snprintf(topology.id, sizeof(topology.id), "00000000000000ab");
	topology.rank = 0;
	topology.ranks = 16;
	topology.nodes = 2;
	return 0;
}

static char *data(const char *name, size_t *bytes)
{
	const char *top = getenv("top_srcdir");
	struct nt_error err;
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/tests/unit/data/topology/%s", top ? top : ".", name);
	if (nt_file_read(path, NT_DUMP_BYTES, &text, bytes, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static void read_data(const char *name)
{
	struct nt_error err = { "" };
	size_t bytes;
	char *text = data(name, &bytes);
	int rc = name[0] == 'g' ? nt_dump_read_graphs(&topology, text, bytes, &err)
				: nt_dump_read_system(&topology, text, bytes, &err);

	free(text);
	if (rc < 0)
		fail_msg("%s: %s", name, err.text);
}

static int read_graphs(const char *text, struct nt_error *err)
{
	return nt_dump_read_graphs(&topology, text, strlen(text), err);
}

static int read_system(const char *text, struct nt_error *err)
{
	return nt_dump_read_system(&topology, text, strlen(text), err);
}

static void devices_of_eight_gpus(void **state)
{
	read_data("system-ib.xml");
	assert_int_equal(topology.gpu_count, 8);
	assert_int_equal(topology.nic_count, 8);
	assert_int_equal(topology.gpu[7].rank, 7);
	assert_int_equal(topology.gpu[7].nvlinks, 18);
	assert_int_equal(topology.gpu[7].sm, 90);
	assert_true(topology.gpu[7].pcie_gts == 32);
	assert_int_equal(topology.gpu[7].pcie_lanes, 16);
	assert_string_equal(topology.gpu[7].pci, "0000:58:00.0");
	assert_string_equal(topology.nic[3].name, "mlx5_3");
	assert_string_equal(topology.nic[3].pci, "0000:3a:00.0");
	assert_int_equal(topology.nic[3].mbps, 400000);
	assert_int_equal(topology.nic[3].numa, 0);
}

/* A NIC that hangs on no PCI device, and GPUs of which sysfs does not tell all. */
static void a_node_with_sockets(void **state)
{
	read_data("graphs-socket.xml");
	read_data("system-socket.xml");
	assert_int_equal(topology.graph[0].same_channels, 1);
	assert_true(topology.graph[1].intra_gbs == 2.4 && topology.graph[1].inter_gbs == 1.2);
	assert_int_equal(topology.gpu_count, 2);
	assert_int_equal(topology.gpu[0].nvlinks, 0);
	assert_true(topology.gpu[0].pcie_gts == 16);
	assert_true(isnan(topology.gpu[1].pcie_gts));
	assert_int_equal(topology.gpu[1].pcie_lanes, -1);
	assert_int_equal(topology.gpu[1].c2c, 10);
	assert_int_equal(topology.nic_count, 1);
	assert_string_equal(topology.nic[0].name, "eth0");
	assert_string_equal(topology.nic[0].pci, "");
	assert_int_equal(topology.nic[0].mbps, 10000);
	assert_int_equal(topology.nic[0].gdr, 0);
}

/* NCCL 2.28.9's dumps of two H200s in a virtual machine, on one node and as two: every figure as in
 * h200-*.json. The PCIe width is 0 there, which is unknown. */
static void real_dumps(const char *name)
{
	static char text[NT_RANK_RECORD_MAX];
	char file[64], *wanted;
	size_t bytes;

	clean(NULL);
	snprintf(file, sizeof(file), "graphs-%s.xml", name);
	read_data(file);
	snprintf(file, sizeof(file), "system-%s.xml", name);
	read_data(file);
	snprintf(file, sizeof(file), "%s.json", name);
	wanted = data(file, &bytes);
	wanted[strcspn(wanted, "\n")] = '\0';
	/* The file's name says which communicator it is. */
	nt_topology_format(&topology, text, sizeof(text));
	assert_string_equal(strstr(text, "\"gpus\""), strstr(wanted, "\"gpus\""));
	free(wanted);
}

static void two_gpus_of_one_node(void **state)
{
	real_dumps("h200-1x2");
	assert_int_equal(topology.gpu[1].nvlinks, 18);
	assert_int_equal(topology.gpu[1].pcie_lanes, -1);
	assert_true(nt_topology_graph(&topology, NT_GRAPH_TREE)->intra_gbs == 60);
}

static void two_gpus_of_two_nodes(void **state)
{
	real_dumps("h200-2x1-n1");
	real_dumps("h200-2x1-n2");
	assert_int_equal(topology.gpu[0].dev, 1);
	assert_string_equal(topology.nic[0].name, "lo");
}

static void a_document_type_is_refused(void **state)
{
	static const char laughs[] =
		"<?xml version=\"1.0\"?><!DOCTYPE graphs [<!ENTITY a \"ha\">"
		"<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
		"<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">"
		"<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\">]>"
		"<graphs version=\"1\"><graph id=\"0\" nchannels=\"1\" typeintra=\"&d;\"/></graphs>";
	static const char outside[] =
		"<!DOCTYPE graphs [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
		"<graphs version=\"1\">&x;</graphs>";
	struct nt_error err = { "" };

	assert_int_equal(read_graphs(laughs, &err), -1);
	assert_string_equal(err.text, "it has a document type, which NCCL does not write");
	assert_int_equal(topology.graph_count, 0);
	assert_int_equal(read_graphs(outside, &err), -1);
	assert_string_equal(err.text, "it has a document type, which NCCL does not write");
	assert_int_equal(read_graphs("<graphs version=\"1\">&x;</graphs>", &err), -1);
}

/* count times piece between the ends of a document. */
static char *many(const char *begin, const char *piece, size_t count, const char *end)
{
	size_t bytes = strlen(piece), used = strlen(begin);
	char *text = malloc(used + count * bytes + strlen(end) + 1);

	assert_non_null(text);
	memcpy(text, begin, used);
	for (size_t i = 0; i < count; i++, used += bytes)
		memcpy(text + used, piece, bytes);
	memcpy(text + used, end, strlen(end) + 1);
	return text;
}

static void what_is_too_much_is_refused(void **state)
{
	struct nt_error err = { "" };
	char *text = many("<system version=\"1\">", "<pci>", NT_DUMP_DEPTH, "");

	assert_int_equal(read_system(text, &err), -1);
	assert_string_equal(err.text, "its elements are nested too deep");
	free(text);
	text = many("<system version=\"1\">", "<pci/>", NT_DUMP_ELEMENTS, "</system>");
	assert_int_equal(read_system(text, &err), -1);
	assert_string_equal(err.text, "it has too many elements");
	free(text);
	text = many("<system version=\"1\">", "          ", NT_DUMP_BYTES / 10, "</system>");
	assert_int_equal(read_system(text, &err), -1);
	assert_string_equal(err.text, "it is longer than 1048576 bytes");
	free(text);
}

static void what_has_no_room_is_counted(void **state)
{
	struct nt_error err = { "" };
	char *text = many("<system version=\"1\"><cpu>", "<gpu dev=\"3\"/>", NT_TOPOLOGY_GPUS + 5,
			  "</cpu></system>");

	assert_int_equal(read_system(text, &err), 0);
	assert_int_equal(topology.gpu_count, NT_TOPOLOGY_GPUS);
	assert_int_equal(topology.left_out, 5);
	free(text);
	clean(NULL);
	text = many("<graphs version=\"1\"><graph id=\"0\" nchannels=\"1\"><channel>",
		    "<gpu dev=\"0x3\"/>", NT_PATH_GPUS + 5, "</channel></graph></graphs>");
	assert_int_equal(read_graphs(text, &err), 0);
	assert_int_equal(topology.graph[0].path[0].count, NT_PATH_GPUS);
	assert_int_equal(topology.left_out, 5);
	free(text);
	clean(NULL);
	text = many("<graphs version=\"1\">", "<graph id=\"0\" nchannels=\"1\"><channel/></graph>",
		    NT_GRAPHS_MAX + 5, "</graphs>");
	assert_int_equal(read_graphs(text, &err), 0);
	assert_int_equal(topology.left_out, 5);
	free(text);
}

static void what_is_no_number_is_unknown(void **state)
{
	struct nt_error err = { "" };

	assert_int_equal(
		read_graphs(
			"<graphs version=\"1\">"
			"<graph id=\"x\" nchannels=\"1\"/><graph id=\"0\" nchannels=\"many\"/>"
			"<graph id=\"-1\" nchannels=\"1\"/><graph id=\"7\" nchannels=\"1\"/>"
			"<graph id=\"0\" nchannels=\"99999999999999999999\"/><graph/>"
			"<graph id=\"1\" nchannels=\"2\" speedintra=\"nan\" speedinter=\"-1\" "
			"latencyinter=\"1e999\" typeintra=\"&#7;&#x1b;[31m&lt;NVLINKNVLINK\">"
			"<channel><gpu dev=\"-1\"/><gpu dev=\"0xfffffff\"/><gpu/><net dev=\"z\"/>"
			"</channel></graph></graphs>",
			&err),
		-1); /* &#7; is not an XML character */
	assert_int_equal(topology.graph_count, 0);
	assert_int_equal(
		read_graphs(
			"<graphs version=\"1\"><graph id=\"1\" nchannels=\"2\" "
			"speedintra=\"nan\" speedinter=\"-1\" latencyinter=\"1e999\" "
			"typeintra=\"&#x9b;[31m&quot;NVLINK\"><channel><gpu dev=\"-1\"/>"
			"<gpu dev=\"0xfffffff\"/><gpu/><net dev=\"z\"/></channel></graph></graphs>",
			&err),
		0);
	assert_int_equal(topology.graph_count, 1);
	assert_true(isnan(topology.graph[0].intra_gbs) && isnan(topology.graph[0].inter_gbs));
	assert_true(isnan(topology.graph[0].inter_us));
	assert_string_equal(topology.graph[0].intra, "??[31m\"");
	assert_int_equal(topology.graph[0].path[0].count, 0);
	assert_int_equal(topology.graph[0].path[0].in, -1);
}

static void other_documents_are_refused(void **state)
{
	static const char *const other[] = { "",
					     " ",
					     "{}",
					     "<html/>",
					     "<graphs/>",
					     "<graphs version=\"2\"/>",
					     "<system version=\"1\"/>",
					     "<graphs version=\"1\"/><graphs version=\"1\"/>",
					     "<graphs version=\"1\" version=\"1\"/>",
					     "\xff\xfe<" };
	struct nt_error err;

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(read_graphs(other[i], &err), -1);
		assert_true(err.text[0] != '\0');
	}
}

UNIT_TESTS_EACH(clean, NULL, devices_of_eight_gpus, a_node_with_sockets, two_gpus_of_one_node,
		two_gpus_of_two_nodes, a_document_type_is_refused, what_is_too_much_is_refused,
		what_has_no_room_is_counted, what_is_no_number_is_unknown,
		other_documents_are_refused);

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing nodes: which has less than others, and the sentences about it. */
#include "lib/array.h"
#include "report/model/topology-compare.h"

#include "tests/lib/unit.h"
#include "record/topology.h"
#include "report/text/verdict.h"

static struct nt_summary summary;

/* channels, GB/s of one, NVLinks, Gbit/s of a NIC */
#define NODE                                                                                       \
	"{\"id\":\"%s\",\"rank\":0,\"ranks\":%d,\"nodes\":%d,\"gpus\":[{\"dev\":0,\"nvlinks\":18," \
	"\"pcie_gts\":32,\"pcie_lanes\":16},{\"dev\":1,\"nvlinks\":%d,\"pcie_gts\":32,"            \
	"\"pcie_lanes\":16}],\"nics\":[{\"dev\":0,\"mbps\":%d}],\"graphs\":[{\"name\":\"ring\","   \
	"\"channels\":%d,\"intra_gbs\":%g,\"inter_gbs\":%g,\"intra\":\"NVL\",\"inter\":\"PIX\"}]}"

struct node {
	const char *name, *comm;
	int ranks, nodes, nvlinks, mbps, channels;
	double gbs;
};

static void add(const struct node *node)
{
	char text[1024];
	int bytes = snprintf(text, sizeof(text), NODE, node->comm, node->ranks, node->nodes,
			     node->nvlinks, node->mbps, node->channels, node->gbs, node->gbs);

	nt_topology_add(&summary, 0, node->name, (struct nt_text){ text, (size_t)bytes });
}

static int begin(void **state)
{
	struct nt_error err;
	static const char text[] = "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\"}}}";

	nt_summary_init(&summary);
	return nt_summary_parse(&summary, text, strlen(text), NULL, &err);
}

static int end(void **state)
{
	nt_summary_fini(&summary);
	return 0;
}

static void add_good(const char *name)
{
	add(&(struct node){ name, "a", 16, 4, 18, 400000, 16, 24 });
}

/* The sentences about nodes, and the index of the expected one. */
static size_t sentences(struct nt_sentence *which, size_t at)
{
	struct nt_verdict_text verdict;
	struct nt_error err;
	size_t count = 0;

	assert_int_equal(nt_verdict_make(&verdict, &summary, &err), 0);
	for (size_t i = 0; i < verdict.count; i++) {
		if (verdict.items[i].kind != NT_SENTENCE_TOPOLOGY)
			continue;
		if (count++ == at)
			*which = verdict.items[i];
	}
	nt_verdict_fini(&verdict);
	return count;
}

static void a_poorer_node_is_named(void **state)
{
	struct nt_sentence sentence;

	add_good("n1");
	add_good("n2");
	add(&(struct node){ "n3", "a", 16, 4, 16, 200000, 8, 12 });
	add_good("n4");
	assert_int_equal(sentences(&sentence, 0), 1);
	assert_string_equal(sentence.text,
			    "Node n3 has fewer channels or slower links than most others: "
			    "8 channels instead of 16, rings of 96 GB/s in all instead of 384, "
			    "rings of 96 GB/s inside the node instead of 384, "
			    "NICs of 200 Gbit/s in all instead of 400, "
			    "a GPU with 16 NVLinks instead of 18.");
	assert_non_null(strstr(sentence.type, "--exclude=n3"));
}

/* As many channels, each with less. */
static void slower_links_alone_are_told(void **state)
{
	struct nt_sentence sentence;

	add_good("n1");
	add(&(struct node){ "n2", "a", 16, 4, 18, 400000, 16, 22 });
	assert_int_equal(sentences(&sentence, 0), 1);
	assert_non_null(strstr(sentence.text,
			       "Node n2 has fewer channels or slower links than the "
			       "other one: rings of 352 GB/s in all instead of 384"));
}

static void equal_nodes_are_not_told(void **state)
{
	struct nt_sentence sentence;

	add_good("n1");
	assert_int_equal(sentences(&sentence, 0), 0);
	add_good("n2");
	add_good("n3");
	assert_int_equal(sentences(&sentence, 0), 0);
}

/* Half of them cannot be worse than most. */
static void what_most_have_is_usual(void **state)
{
	struct nt_sentence sentence;

	add(&(struct node){ "n1", "a", 16, 4, 18, 400000, 8, 24 });
	add(&(struct node){ "n2", "a", 16, 4, 18, 400000, 8, 24 });
	add_good("n3");
	assert_int_equal(sentences(&sentence, 0), 0);
}

static void the_largest_communicator_is_compared(void **state)
{
	struct nt_sentence sentence;

	add(&(struct node){ "n1", "small", 2, 2, 18, 400000, 2, 24 });
	add_good("n1");
	add(&(struct node){ "n2", "small", 2, 2, 18, 400000, 1, 24 });
	add_good("n2");
	assert_int_equal(sentences(&sentence, 0), 0);
}

/* Of 256 MiB 16 ranks move 503 MB each: at 384 GB/s in 1,311 us. */
static void a_share_of_the_links_is_told(void **state)
{
	static const struct {
		const char *auto_arm, *own_us, *told;
		double gbs; /* of a channel of the slowest node */
	} cases[] = {
		{ "RING/SIMPLE", "1639", " at 256M NCCL reaches 80 % of its rings' bandwidth.",
		  24 },
		{ "RING/SIMPLE", "2621", " at 256M NCCL reaches 100 % of its rings' bandwidth.",
		  12 },
		{ "RING/SIMPLE", "1300", " at 256M NCCL reaches 100 %", 24 },
		/* NCCL does not know the speed of these links. */
		{ "RING/SIMPLE", "1639", NULL, 12 },
		{ "TREE/SIMPLE", "1639", NULL, 24 },
		/* The call's own time is not known. */
		{ "RING/SIMPLE", "0", NULL, 24 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t at;
		struct nt_verdict_text verdict;
		struct nt_comm_seen *comm;
		struct nt_error err;
		char text[512];
		int bytes = snprintf(
			text, sizeof(text),
			"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"16r4n\":{"
			"\"AllReduce 1M\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"us\":[9,9],"
			"\"why\":\"small\"},"
			"\"AllReduce 256M\":{\"auto\":\"%s\",\"arm\":\"AUTO\",\"us\":[2000,2100],"
			"\"own_us\":[%s,%s],\"why\":\"small\"}}}}}",
			cases[i].auto_arm, cases[i].own_us, cases[i].own_us);

		nt_summary_fini(&summary);
		nt_summary_init(&summary);
		assert_int_equal(nt_summary_parse(&summary, text, (size_t)bytes, NULL, &err), 0);
		comm = nt_array_add(&summary.comms, &summary.comm_count, NT_SUMMARY_MAX,
				    sizeof(*comm));
		assert_non_null(comm);
		snprintf(comm->id, sizeof(comm->id), "a");
		add(&(struct node){ "n1", "small", 2, 2, 18, 400000, 1, 1 });
		add_good("n1");
		add(&(struct node){ "n2", "a", 16, 4, 18, 400000, 16, cases[i].gbs });
		assert_int_equal(nt_verdict_make(&verdict, &summary, &err), 0);
		for (at = 0; at < verdict.count && verdict.items[at].kind != NT_SENTENCE_STAYS;)
			at++;
		assert_int_equal(at < verdict.count, cases[i].told != NULL);
		if (cases[i].told && !strstr(verdict.items[at].text, cases[i].told))
			fail_msg("%zu: %s", i, verdict.items[at].text);
		nt_verdict_fini(&verdict);
	}
}

static void what_is_not_known_is_not_compared(void **state)
{
	static const char *const nodes[] = {
		"{\"id\":\"a\",\"rank\":0,\"ranks\":16,\"nodes\":4,\"no_graphs\":\"it is a link\"}",
		"{\"id\":\"a\",\"rank\":0,\"ranks\":16,\"nodes\":4,\"no_devices\":\"it is a link\"}",
		"{\"id\":\"a\",\"rank\":0,\"ranks\":16,\"nodes\":4,\"graphs\":7}",
		"{\"id\":\"a\",\"rank\":-1}",
		"[]",
		"{",
	};
	struct nt_sentence sentence;

	add_good("n1");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		nt_topology_add(&summary, 0, "bad", nt_text_of(nodes[i]));
	add_good("n2");
	assert_int_equal(sentences(&sentence, 0), 0);
	assert_string_equal(summary.topologies[1].trouble, "it is a link");
	assert_string_equal(summary.topologies[3].trouble, "graphs: not a list");
}

static void alike_nodes_share_a_line(void **state)
{
	struct nt_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	add_good("n1");
	add_good("n2");
	add(&(struct node){ "n3", "a", 16, 4, 16, 200000, 8, 12 });
	add(&(struct node){ "n4", "a", 16, 4, 18, 400000, 8, 24 });
	add(&(struct node){ "n5", "a", 16, 4, 18, 400000, 8, 24 });
	add(&(struct node){ "n6", "a", 16, 4, 18, 400000, 8, 24 });
	add(&(struct node){ "n7", "a", 16, 4, 18, 400000, 8, 24 });
	assert_int_equal(nt_topology_print(out, &summary, &err), 0);
	fclose(out);
	assert_string_equal(
		text,
		"\nStep 0, what NCCL found on each node for the 16 ranks across 4 nodes:\n"
		"                     NVLINKS        Gbit/s  RINGS            TREES\n"
		"NODE           GPUS  PER GPU  NICS   TOTAL  x GB/s           x GB/s\n"
		"n1, n2            2       18     1     400  16 x 24 NVL/PIX  -\n"
		"n3                2       16     1     200  8 x 12 NVL/PIX   -\n"
		"n4 and 3 more     2       18     1     400  8 x 24 NVL/PIX   -\n"
		"RINGS, TREES: channels, GB/s of each, longest path inside the node/to others.\n");
	free(text);
}

UNIT_TESTS_EACH(begin, end, a_poorer_node_is_named, slower_links_alone_are_told,
		equal_nodes_are_not_told, what_most_have_is_usual,
		the_largest_communicator_is_compared, a_share_of_the_links_is_told,
		what_is_not_known_is_not_compared, alike_nodes_share_a_line);

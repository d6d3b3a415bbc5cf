/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up nodes as hwloc XML: what changes a fingerprint and what does not; and the file that keeps
 * it. */
#include "spank/step/node-fingerprint.h"

#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "spank/step/cache.h"
#include "spank/step/step-name.h"

struct xml {
	char text[32768];
	size_t used;
	unsigned bus; /* the number of the next bus */
	int index; /* of the next object */
};

static void put(struct xml *xml, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct xml *xml, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	xml->used += (size_t)vsnprintf(xml->text + xml->used, sizeof(xml->text) - xml->used, format,
				       args);
	va_end(args);
	assert_true(xml->used < sizeof(xml->text));
}

/* A bridge with devices below, each given as "class vendor:device", with "v" behind a virtual
 * function; or bridges in a bridge with "[" and "]". */
static void put_bridge(struct xml *xml, bool host)
{
	unsigned bus = xml->bus++;

	if (host)
		put(xml,
		    "<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"0-1\" depth=\"0\" "
		    "bridge_pci=\"0000:[%02x-%02x]\">",
		    xml->index++, bus, bus + 15);
	else
		put(xml,
		    "<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"1-1\" depth=\"1\" "
		    "bridge_pci=\"0000:[%02x-%02x]\" pci_busid=\"0000:%02x:01.0\" "
		    "pci_type=\"0604 [10b5:8796] [0000:0000] 00\" pci_link_speed=\"0\">",
		    xml->index++, bus, bus, bus - 1);
}

static void put_devices(struct xml *xml, const char *devices)
{
	put_bridge(xml, true);
	for (const char *at = devices; *at; at++) {
		unsigned class, vendor, device;

		if (*at == '[') {
			put_bridge(xml, false);
		} else if (*at == ']') {
			put(xml, "</object>");
		} else if (sscanf(at, "%4x %4x:%4x", &class, &vendor, &device) == 3) {
			put(xml,
			    "<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"0000:%02x:00.0\" "
			    "pci_type=\"%04x [%04x:%04x] [0000:0000] a1\" pci_link_speed=\"%u\">",
			    xml->index++, xml->bus, class, vendor, device, xml->bus);
			xml->bus++;
			put(xml, "<info name=\"PCISlot\" value=\"%u\"/>", xml->bus);
			at += 13;
			if (at[1] == 'v')
				put(xml, "<info name=\"nt-virtual-function\" value=\"1\"/>");
			at += at[1] == 'v';
			put(xml, "</object>");
		}
	}
	put(xml, "</object>");
}

static void put_package(struct xml *xml, int number, const char *devices)
{
	put(xml,
	    "<object type=\"Package\" os_index=\"%d\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" nodeset=\"0x%x\" "
	    "complete_nodeset=\"0x%x\" gp_index=\"%d\">",
	    number, 1 << number, 1 << number, 1 << number, 1 << number, xml->index++);
	put(xml,
	    "<object type=\"NUMANode\" os_index=\"%d\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" nodeset=\"0x%x\" "
	    "complete_nodeset=\"0x%x\" gp_index=\"%d\" local_memory=\"%u\"/>",
	    number, 1 << number, 1 << number, 1 << number, 1 << number, xml->index++,
	    4096 * xml->bus);
	put(xml,
	    "<object type=\"PU\" os_index=\"%d\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" nodeset=\"0x%x\" "
	    "complete_nodeset=\"0x%x\" gp_index=\"%d\"/>",
	    number, 1 << number, 1 << number, 1 << number, 1 << number, xml->index++);
	put_devices(xml, devices);
	put(xml, "</object>");
}

/* A node of two packages with a NUMA node each. */
static uint64_t fingerprint_of(const char *near_0, const char *near_1, unsigned first_bus,
			       char *text, size_t text_bytes)
{
	struct xml xml = { .bus = first_bus, .index = 1 };
	hwloc_topology_t topology;
	struct nt_error err;
	uint64_t value = 0;

	put(&xml,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
	    "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
	    "allowed_cpuset=\"0x3\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" gp_index=\"%d\">"
	    "<info name=\"HostName\" value=\"n%u\"/><info name=\"DMIProductSerial\" value=\"S%u\"/>",
	    xml.index++, first_bus, first_bus);
	put_package(&xml, 0, near_0);
	put_package(&xml, 1, near_1);
	put(&xml, "</object></topology>");
	assert_int_equal(hwloc_topology_init(&topology), 0);
	assert_int_equal(hwloc_topology_set_xmlbuffer(topology, xml.text, (int)xml.used + 1), 0);
	assert_int_equal(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL),
			 0);
	assert_int_equal(hwloc_topology_load(topology), 0);
	assert_int_equal(nt_fingerprint_of(topology, &value, text, text_bytes, &err), 0);
	hwloc_topology_destroy(topology);
	assert_true(value != 0);
	return value;
}

#define GPU "0302 10de:2335"
#define NIC "0207 15b3:1021"
#define DISK "0108 144d:a80a"
#define CONSOLE "0300 1a03:2000"

/* Eight H200 on four PCI switches with a NIC each, four NVSwitches, two NICs for storage. */
#define H200 "0302 10de:2335"
#define CX7 "0207 15b3:1021"
#define CX7_VIRTUAL "0207 15b3:101ev"
#define ETHERNET "0200 15b3:101d"
#define NVSWITCH "0680 10de:22a3"
#define PAIR(GPU, NIC) "[[" GPU "][" GPU "][" NIC "]]"
#define HALF PAIR(H200, CX7) PAIR(H200, CX7) "[" ETHERNET "]"
#define SWITCHES "[[" NVSWITCH "][" NVSWITCH "][" NVSWITCH "][" NVSWITCH "]]"

static const char h200_first[] = HALF SWITCHES;
static const char h200_second[] = HALF;

static uint64_t h200_node(const char *first, const char *second, unsigned first_bus)
{
	char text[200];

	return fingerprint_of(first, second, first_bus, text, sizeof(text));
}

static void two_h200_nodes_are_equal(void **state)
{
	const uint64_t one = h200_node(h200_first, h200_second, 1);
	char text[200];

	fingerprint_of(h200_first, h200_second, 1, text, sizeof(text));
	assert_string_equal(text, "8x10de:2335 4x10de:22a3 4x15b3:1021 2x15b3:101d 2 packages 2 "
				  "NUMA nodes");
	/* other buses, links, slots, host name, serial number and memory */
	assert_true(h200_node(h200_first, h200_second, 0x20) == one);
	/* found in another order, with disks and a console */
	assert_true(h200_node(SWITCHES "[" ETHERNET "]" PAIR(H200, CX7) PAIR(H200, CX7) DISK,
			      "[" ETHERNET CONSOLE "]" PAIR(H200, CX7) DISK PAIR(H200, CX7),
			      1) == one);
	/* a bridge more on the way */
	assert_true(h200_node("[" PAIR(H200, CX7) "]" PAIR(H200, CX7) "[" ETHERNET "]" SWITCHES,
			      h200_second, 1) == one);
	/* virtual functions switched on, beside the card or below a bridge of their own */
	assert_true(h200_node("[[" H200 "][" H200 "][" CX7 CX7_VIRTUAL CX7_VIRTUAL
			      "]]" PAIR(H200, CX7) "[" ETHERNET "]" SWITCHES,
			      HALF "[" CX7_VIRTUAL "]", 1) == one);
}

/* A virtual machine has only functions, and nothing shows that they are virtual. */
static void functions_without_a_card_count(void **state)
{
	assert_true(h200_node("0207 15b3:101e" H200, "", 1) !=
		    h200_node("0207 15b3:101e0207 15b3:101e" H200, "", 1));
}

static void this_machine_has_one(void **state)
{
	char first_text[200], second_text[200];
	uint64_t first, second;
	struct nt_error err;
	char *material;
	cpu_set_t all, one;

	assert_int_equal(nt_fingerprint_compute(&first, first_text, sizeof(first_text), &err), 0);
	assert_true(first != 0);
	assert_non_null(strstr(first_text, " NUMA nodes"));
	/* the resources of this process make no difference */
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(nt_fingerprint_compute(&second, second_text, sizeof(second_text), &err),
			 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(first == second);
	assert_string_equal(first_text, second_text);
	assert_int_equal(nt_fingerprint_explain(&material, &err), 0);
	assert_true(nt_fingerprint_hash(material) == first);
	free(material);
}

static void shell(const char *directory, const char *words)
{
	char command[256];

	snprintf(command, sizeof(command), "cd '%s' && %s", directory, words);
	assert_int_equal(system(command), 0);
}

static void close_cache(int fd, const char *top)
{
	close(fd);
	shell(top, "rm -f * && rmdir \"$PWD\"");
}

static int open_cache(char *top)
{
	int fd;

	assert_non_null(mkdtemp(top));
	fd = open(top, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	return fd;
}

static void cache_keeps_it(void **state)
{
	char top[] = "/tmp/nt-fingerprint.XXXXXX";
	int fd = open_cache(top);
	struct nt_error err;
	uint64_t value;

	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	assert_true(value == 0);
	assert_int_equal(nt_cache_write(fd, UINT64_C(0x0123456789abcdef), "a node", &err), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), 0);
	assert_true(value == UINT64_C(0x0123456789abcdef));
	assert_int_equal(nt_cache_write(fd, 7, "a node", &err), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), 0);
	assert_true(value == 7);
	shell(top, "chmod 666 fingerprint.*");
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	shell(top, "for f in *; do chmod 644 $f; echo xyz >$f; done");
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	assert_true(value == 0);
	shell(top, "for f in *; do rm $f; mkfifo -m 644 $f; done");
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	close_cache(fd, top);
}

static void facts_are_kept_beside_it(void **state)
{
	char top[] = "/tmp/nt-fingerprint.XXXXXX", facts[NT_NODE_FACTS_MAX] = "x";
	int fd = open_cache(top);

	nt_cache_read_facts(fd, facts);
	assert_string_equal(facts, "");
	assert_int_equal(nt_cache_write_facts(fd, "gpus=8 iommu=off", NULL), 0);
	nt_cache_read_facts(fd, facts);
	assert_string_equal(facts, "gpus=8 iommu=off");
	shell(top, "printf 'gpus=8\\033[2J\\nNCCL_ALGO=x' >$(echo facts.*)");
	nt_cache_read_facts(fd, facts);
	assert_null(strpbrk(facts, "\033\n"));
	shell(top, "chmod 666 facts.*");
	nt_cache_read_facts(fd, facts);
	assert_string_equal(facts, "");
	close_cache(fd, top);
}

/* Another boot has another id, and another version its own number, and so another file. */
static void cache_is_of_this_boot(void **state)
{
	char top[] = "/tmp/nt-fingerprint.XXXXXX";
	int fd = open_cache(top);
	char name[NT_CACHE_NAME_MAX];
	char id[64] = "";
	struct nt_error err;
	uint64_t value;
	FILE *file;

	file = fopen("/proc/sys/kernel/random/boot_id", "r");
	assert_non_null(file);
	assert_non_null(fgets(id, sizeof(id), file));
	fclose(file);
	id[strcspn(id, "\n")] = '\0';
	assert_int_equal(nt_cache_name(name, &err), 0);
	assert_non_null(strstr(name, id));
	assert_non_null(strstr(name, PACKAGE_VERSION));
	assert_int_equal(nt_cache_write(fd, 7, "a node", &err), 0);
	shell(top, "mv fingerprint.* fingerprint." PACKAGE_VERSION
		   ".00000000-0000-0000-0000-000000000000");
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	close_cache(fd, top);
}

UNIT_TESTS(two_h200_nodes_are_equal, functions_without_a_card_count, this_machine_has_one,
	   cache_keeps_it, facts_are_kept_beside_it, cache_is_of_this_boot);

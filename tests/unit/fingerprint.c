/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes made up as hwloc XML: what must make no difference, and what must. And the file it is
 * kept in. */
#include "spank/fingerprint.h"

#include <fcntl.h>
#include <hwloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "spank/cache.h"
#include "spank/step.h"

struct xml {
	char text[16384];
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

/* A bridge with devices below, each given as "class vendor:device"; or bridges in a bridge with
 * "[" and "]". */
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
			    "pci_type=\"%04x [%04x:%04x] [0000:0000] a1\" pci_link_speed=\"0\"/>",
			    xml->index++, xml->bus++, class, vendor, device);
			at += 13;
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
	    "complete_nodeset=\"0x%x\" gp_index=\"%d\" local_memory=\"1\"/>",
	    number, 1 << number, 1 << number, 1 << number, 1 << number, xml->index++);
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
	    "allowed_cpuset=\"0x3\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" gp_index=\"%d\">",
	    xml.index++);
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
#define OTHER_GPU "0302 10de:20b5"
#define NIC "0207 15b3:1021"
#define DISK "0108 144d:a80a"
#define CONSOLE "0300 1a03:2000"

static const char near_0[] = "[" GPU NIC "][" GPU "]";
static const char near_1[] = GPU;

static uint64_t reference(void)
{
	char text[200];

	return fingerprint_of(near_0, near_1, 1, text, sizeof(text));
}

static void is_described(void **state)
{
	char text[200];
	char cut[10];

	(void)state;
	fingerprint_of(near_0, "[0680 10de:22a3]" CONSOLE, 1, text, sizeof(text));
	assert_string_equal(text, "2x10de:2335 1x10de:22a3 1x15b3:1021 2 packages 2 NUMA nodes");
	assert_true(fingerprint_of(near_0, near_1, 1, cut, sizeof(cut)) == reference());
	assert_string_equal(cut, "3x10de:23");
}

static void equal_nodes_are_equal(void **state)
{
	char text[200];

	(void)state;
	assert_true(fingerprint_of(near_0, near_1, 1, text, sizeof(text)) == reference());
	/* other bus numbers */
	assert_true(fingerprint_of(near_0, near_1, 0x40, text, sizeof(text)) == reference());
	/* the same devices in another order of discovery */
	assert_true(fingerprint_of("[" GPU "][" NIC GPU "]", near_1, 1, text, sizeof(text)) ==
		    reference());
	/* a bridge more on the way, disks, a console */
	assert_true(fingerprint_of("[" GPU NIC "][[" GPU "]]", "[" GPU "]", 1, text,
				   sizeof(text)) == reference());
	assert_true(fingerprint_of("[" GPU NIC DISK "][" GPU "]" DISK, GPU CONSOLE, 1, text,
				   sizeof(text)) == reference());
}

static void different_nodes_differ(void **state)
{
	char text[200];

	(void)state;
	/* one GPU less, one more, another model */
	assert_true(fingerprint_of(near_0, "", 1, text, sizeof(text)) != reference());
	assert_true(fingerprint_of(near_0, GPU GPU, 1, text, sizeof(text)) != reference());
	assert_true(fingerprint_of(near_0, OTHER_GPU, 1, text, sizeof(text)) != reference());
	/* another NIC, and none */
	assert_true(fingerprint_of("[" GPU "0207 15b3:1023"
				   "][" GPU "]",
				   near_1, 1, text, sizeof(text)) != reference());
	assert_true(fingerprint_of("[" GPU "][" GPU "]", near_1, 1, text, sizeof(text)) !=
		    reference());
	/* the NIC near another GPU's package, and beside the switch */
	assert_true(fingerprint_of("[" GPU "][" GPU "]", GPU NIC, 1, text, sizeof(text)) !=
		    reference());
	assert_true(fingerprint_of("[" GPU "][" GPU "]" NIC, near_1, 1, text, sizeof(text)) !=
		    reference());
	/* both GPUs below one switch */
	assert_true(fingerprint_of("[" GPU NIC GPU "]", near_1, 1, text, sizeof(text)) !=
		    reference());
	/* an NVSwitch */
	assert_true(fingerprint_of(near_0, GPU "0680 10de:22a3", 1, text, sizeof(text)) !=
		    reference());
}

static void this_machine_has_one(void **state)
{
	char first_text[200], second_text[200];
	uint64_t first, second;
	struct nt_error err;

	(void)state;
	assert_int_equal(nt_fingerprint_compute(&first, first_text, sizeof(first_text), &err), 0);
	assert_int_equal(nt_fingerprint_compute(&second, second_text, sizeof(second_text), &err),
			 0);
	assert_true(first == second && first != 0);
	assert_string_equal(first_text, second_text);
	assert_non_null(strstr(first_text, " NUMA nodes"));
}

static void cache_keeps_it(void **state)
{
	char top[] = "/tmp/nt-fingerprint.XXXXXX";
	char command[128];
	struct nt_error err;
	uint64_t value;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(top));
	fd = open(top, O_RDONLY | O_DIRECTORY);
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	assert_int_equal(nt_cache_write(fd, UINT64_C(0x0123456789abcdef), "a node", &err), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), 0);
	assert_true(value == UINT64_C(0x0123456789abcdef));
	assert_int_equal(nt_cache_write(fd, 7, "a node", &err), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), 0);
	assert_true(value == 7);
	snprintf(command, sizeof(command), "chmod 666 %s/fingerprint.*", top);
	assert_int_equal(system(command), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	snprintf(command, sizeof(command),
		 "cd %s && for f in *; do chmod 644 $f; echo xyz >$f; done", top);
	assert_int_equal(system(command), 0);
	assert_int_equal(nt_cache_read(fd, &value, &err), -1);
	close(fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_described),		  cmocka_unit_test(equal_nodes_are_equal),
		cmocka_unit_test(different_nodes_differ), cmocka_unit_test(this_machine_has_one),
		cmocka_unit_test(cache_keeps_it),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What root sees of a node, from a tree of files that stands for the system's. */
#include "spank/step/node-facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/lib/unit.h"

#define SWITCH "pci0000:16/0000:16:00.0/0000:17:00.0"

static char root[64];

static void shell(const char *command)
{
	char whole[2048];

	snprintf(whole, sizeof(whole), "cd '%s' && %s", root, command);
	assert_int_equal(system(whole), 0);
}

static int begin(void **state)
{
	snprintf(root, sizeof(root), "/tmp/nt-node-facts.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	shell("mkdir -p sys/bus/pci/devices sys/class/infiniband sys/devices");
	return 0;
}

static int end(void **state)
{
	shell("rm -rf \"$PWD\"");
	return 0;
}

/* path: below /sys/devices; class and vendor as Linux writes them */
static void put(const char *path, const char *class, const char *vendor)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "mkdir -p sys/devices/%s && echo %s >sys/devices/%s/class && "
		 "echo %s >sys/devices/%s/vendor && "
		 "ln -sf ../../../devices/%s sys/bus/pci/devices/",
		 path, class, path, vendor, path, path);
	shell(command);
}

/* kind: of PCI Express (6: downstream port of a switch); acs: the control word, -1: none */
static void put_config(const char *path, unsigned kind, int acs)
{
	unsigned char config[4096] = { [0x34] = 0x40, [0x40] = 0x01, [0x41] = 0x50 };
	char whole[256];
	FILE *f;

	config[0x50] = 0x10;
	config[0x52] = (unsigned char)(kind << 4 | 2);
	config[0x100] = 0x01; /* another capability first, the next at 0x148 */
	config[0x102] = 0x81;
	config[0x103] = 0x14;
	if (acs >= 0) {
		config[0x148] = 0x0d;
		config[0x14a] = 0x01;
		config[0x14e] = (unsigned char)acs;
	}
	snprintf(whole, sizeof(whole), "%s/sys/devices/%s/config", root, path);
	f = fopen(whole, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(config, 1, sizeof(config), f), sizeof(config));
	fclose(f);
}

static void put_bridge(const char *path, unsigned kind, int acs)
{
	put(path, "0x060400", "0x1000");
	put_config(path, kind, acs);
}

/* A GPU and a card below a switch, another GPU below a port of the processor's own */
static void put_node(int acs)
{
	put_bridge("pci0000:16/0000:16:00.0", 4, 0x1d);
	put_bridge(SWITCH, 5, -1);
	put_bridge(SWITCH "/0000:18:00.0", 6, acs);
	put_bridge(SWITCH "/0000:18:01.0", 6, acs);
	put(SWITCH "/0000:18:00.0/0000:19:00.0", "0x030200", "0x10de");
	put(SWITCH "/0000:18:01.0/0000:1a:00.0", "0x020700", "0x15b3");
	put_bridge("pci0000:40/0000:40:00.0", 4, 0x1d);
	put("pci0000:40/0000:40:00.0/0000:41:00.0", "0x030200", "0x10de");
	shell("mkdir -p sys/class/infiniband/mlx5_0 && ln -sfn "
	      "../../../devices/" SWITCH "/0000:18:01.0/0000:1a:00.0 "
	      "sys/class/infiniband/mlx5_0/device");
}

static void look(const char *wanted)
{
	char facts[NT_NODE_FACTS_MAX];

	nt_node_facts(root, facts);
	assert_string_equal(facts, wanted);
}

static void a_node_without_gpus_has_none(void **state)
{
	look("");
	put("pci0000:00/0000:00:02.0", "0x030000", "0x1a03");
	put_bridge(SWITCH "/0000:18:01.0", 6, 0x1d);
	look("");
}

static void bridges_between_a_gpu_and_a_port_count(void **state)
{
	put_node(0x1d);
	look("gpus=2 iommu=off acs=0000:18:00.0+2");
	put_config(SWITCH "/0000:18:01.0", 6, 0x19); /* requests are not redirected */
	look("gpus=2 iommu=off acs=0000:18:00.0");
}

static void what_harms_nobody_does_not_count(void **state)
{
	put_node(0);
	look("gpus=2 iommu=off");
	put_node(-1);
	look("gpus=2 iommu=off");
	put_node(0x5d); /* translated by the devices */
	look("gpus=2 iommu=off");
	/* Cut, as users see it */
	put_node(0x1d);
	shell("truncate -s 64 sys/devices/" SWITCH "/0000:18:0?.0/config");
	look("gpus=2 iommu=off");
	/* In a circle, and beyond its end */
	shell("for f in sys/devices/" SWITCH "/0000:18:0?.0/config; do "
	      "{ printf '%0256d' 0; printf '\\2\\0\\201\\20'; printf '%0300d' 0; } >$f; done");
	look("gpus=2 iommu=off");
}

static void two_ports_alone_do_not_count(void **state)
{
	put_bridge(SWITCH, 5, -1);
	put_bridge(SWITCH "/0000:18:00.0", 6, 0x1d);
	put_bridge(SWITCH "/0000:18:01.0", 6, 0x1d);
	put(SWITCH "/0000:18:00.0/0000:19:00.0", "0x020700", "0x15b3");
	put(SWITCH "/0000:18:01.0/0000:1a:00.0", "0x020700", "0x15b3");
	put("pci0000:40/0000:41:00.0", "0x030200", "0x10de");
	shell("for i in 19:00.0 1a:00.0; do mkdir -p sys/class/infiniband/m$i && "
	      "ln -s ../../../bus/pci/devices/0000:$i sys/class/infiniband/m$i/device; done");
	look("gpus=1 iommu=off");
}

static void the_iommu_is_that_of_a_gpu(void **state)
{
	put("pci0000:40/0000:41:00.0", "0x030200", "0x10de");
	shell("mkdir sys/devices/pci0000:40/0000:41:00.0/iommu_group && "
	      "echo DMA-FQ >sys/devices/pci0000:40/0000:41:00.0/iommu_group/type");
	look("gpus=1 iommu=DMA-FQ");
	shell("rm sys/devices/pci0000:40/0000:41:00.0/iommu_group/type");
	look("gpus=1");
}

static void virtual_functions_are_their_card(void **state)
{
	put("pci0000:40/0000:41:00.0", "0x030200", "0x10de");
	put("pci0000:40/0000:41:00.4", "0x030200", "0x10de");
	shell("ln -s ../0000:41:00.0 sys/devices/pci0000:40/0000:41:00.4/physfn");
	look("gpus=1 iommu=off");
}

UNIT_TESTS_EACH(begin, end, a_node_without_gpus_has_none, bridges_between_a_gpu_and_a_port_count,
		what_harms_nobody_does_not_count, two_ports_alone_do_not_count,
		the_iommu_is_that_of_a_gpu, virtual_functions_are_their_card);

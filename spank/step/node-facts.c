/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/node-facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/append.h"

#define FUNCTIONS_MAX 4096 /* of PCI that are looked at */
#define ENDS_MAX 64 /* GPUs and RDMA devices that are compared */
#define BRIDGES_MAX 64
#define VENDOR_NVIDIA 0x10de
#define CONFIG_BYTES 4096
#define CAPABILITIES 0x34 /* where the first one is named */
#define CAPABILITY_PCIE 0x10
#define EXTENDED 0x100 /* where these begin */
#define EXTENDED_ACS 0x0d
#define ACS_CONTROL 6 /* from the capability's begin */
#define ACS_REQUEST_REDIRECT 0x04
#define ACS_DIRECT_TRANSLATED 0x40 /* what devices have translated themselves goes straight on */
#define PORT_DOWNSTREAM 6 /* of a switch */

/* A GPU or an RDMA device: "/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/..." */
struct end {
	char path[PATH_MAX];
	bool gpu;
};

struct ends {
	struct end end[ENDS_MAX];
	unsigned count, gpus;
};

/* Of /sys/bus/pci/devices/NAME or a device of a class; -1: unknown. */
static long read_number(const char *directory, const char *file)
{
	char path[PATH_MAX + 16], text[32];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (bytes <= 0)
		return -1;
	text[bytes] = '\0';
	return strtol(text, NULL, 16);
}

static void add_end(struct ends *ends, const char *path, bool gpu)
{
	char whole[PATH_MAX];

	if (ends->count == ENDS_MAX || !realpath(path, whole))
		return;
	memcpy(ends->end[ends->count].path, whole, strlen(whole) + 1);
	ends->end[ends->count++].gpu = gpu;
}

/* Virtual functions are their card. */
static bool is_gpu(const char *directory)
{
	const long class = read_number(directory, "class");
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/physfn", directory);
	return read_number(directory, "vendor") == VENDOR_NVIDIA &&
	       (class >> 8 == 0x0300 || class >> 8 == 0x0302) && access(path, F_OK) < 0;
}

/* Those of a directory of links to devices */
static void find_ends(struct ends *ends, const char *root, const char *directory, bool gpus)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *entries;

	snprintf(path, sizeof(path), "%s%s", root, directory);
	entries = opendir(path);
	for (int i = 0; entries && i < FUNCTIONS_MAX && (entry = readdir(entries)) != NULL; i++) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s%s/%s%s", root, directory, entry->d_name,
			 gpus ? "" : "/device");
		if (gpus && !is_gpu(path))
			continue;
		ends->gpus += gpus;
		add_end(ends, path, gpus);
	}
	if (entries)
		closedir(entries);
}

/* ---- ACS */

static unsigned register_at(const unsigned char *config, unsigned at)
{
	return at + 1 < CONFIG_BYTES ? config[at] | (unsigned)config[at + 1] << 8 : 0;
}

static bool is_downstream(const unsigned char *config)
{
	unsigned at = config[CAPABILITIES] & 0xfc;

	for (int i = 0; at >= 0x40 && i < 48; i++) {
		if (config[at] == CAPABILITY_PCIE)
			return (config[at + 2] >> 4 & 15) == PORT_DOWNSTREAM;
		at = config[at + 1] & 0xfc;
	}
	return false;
}

/* The control register of ACS; 0: it is off, or there is none. */
static unsigned acs_of(const unsigned char *config)
{
	unsigned at = EXTENDED;

	for (int i = 0; at >= EXTENDED && i < 256; i++) {
		if (register_at(config, at) == EXTENDED_ACS)
			return register_at(config, at + ACS_CONTROL);
		at = register_at(config, at + 2) >> 4 & 0xffc;
	}
	return 0;
}

static bool redirects(const char *bridge)
{
	unsigned char config[CONFIG_BYTES] = { 0 };
	char path[PATH_MAX + 8];
	ssize_t bytes;
	unsigned acs;
	int fd;

	snprintf(path, sizeof(path), "%s/config", bridge);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes = fd < 0 ? -1 : pread(fd, config, sizeof(config), 0);
	if (fd >= 0)
		close(fd);
	if (bytes <= EXTENDED || !is_downstream(config))
		return false;
	acs = acs_of(config);
	return acs & ACS_REQUEST_REDIRECT && !(acs & ACS_DIRECT_TRANSLATED);
}

struct bridges {
	char path[BRIDGES_MAX][PATH_MAX]; /* that redirect */
	unsigned count;
};

static void look_at_bridge(struct bridges *bridges, const char *path)
{
	for (unsigned i = 0; i < bridges->count; i++) {
		if (strcmp(bridges->path[i], path) == 0)
			return;
	}
	if (bridges->count < BRIDGES_MAX && redirects(path))
		memcpy(bridges->path[bridges->count++], path, strlen(path) + 1);
}

/* Two devices below one switch: the bridges of it that lead to them. Its own parts are bridges of
 * PCI; the host's bridge, "pci0000:16", is none. */
static void look_between(struct bridges *bridges, const struct end *a, const struct end *b)
{
	char path[PATH_MAX];
	size_t common = 0;

	for (size_t i = 0; a->path[i] && a->path[i] == b->path[i]; i++) {
		if (a->path[i] == '/')
			common = i;
	}
	for (int i = 0; i < 2; i++) {
		const char *whole = i == 0 ? a->path : b->path;
		size_t bytes = common + 1 + strcspn(whole + common + 1, "/");

		if (!whole[common] || !whole[bytes]) /* the device itself */
			continue;
		memcpy(path, whole, bytes);
		path[bytes] = '\0';
		look_at_bridge(bridges, path);
	}
}

static int by_path(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void look_at_acs(const struct ends *ends, char out[NT_NODE_FACTS_MAX])
{
	static struct bridges bridges;

	bridges.count = 0;
	for (unsigned i = 0; i < ends->count; i++) {
		for (unsigned k = 0; k < i; k++) {
			if (ends->end[i].gpu || ends->end[k].gpu)
				look_between(&bridges, &ends->end[i], &ends->end[k]);
		}
	}
	if (bridges.count == 0)
		return;
	qsort(bridges.path, bridges.count, sizeof(bridges.path[0]), by_path);
	(void)nt_append(out, NT_NODE_FACTS_MAX, " acs=%.16s", strrchr(bridges.path[0], '/') + 1);
	if (bridges.count > 1)
		(void)nt_append(out, NT_NODE_FACTS_MAX, "+%u", bridges.count);
}

/* ---- IOMMU */

static void look_at_iommu(const char *gpu, char out[NT_NODE_FACTS_MAX])
{
	char path[PATH_MAX + 32], type[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/iommu_group", gpu);
	if (access(path, F_OK) < 0) {
		(void)nt_append(out, NT_NODE_FACTS_MAX, " iommu=off");
		return;
	}
	snprintf(path, sizeof(path), "%s/iommu_group/type", gpu);
	f = fopen(path, "re");
	if (f && fscanf(f, "%15[A-Za-z-]", type) == 1)
		(void)nt_append(out, NT_NODE_FACTS_MAX, " iommu=%s", type);
	if (f)
		fclose(f);
}

void nt_node_facts(const char *root, char out[NT_NODE_FACTS_MAX])
{
	static struct ends ends;

	ends.count = ends.gpus = 0;
	out[0] = '\0';
	find_ends(&ends, root, "/sys/bus/pci/devices", true);
	if (ends.gpus == 0)
		return;
	snprintf(out, NT_NODE_FACTS_MAX, "gpus=%u", ends.gpus);
	look_at_iommu(ends.end[0].path, out);
	find_ends(&ends, root, "/sys/class/infiniband", false);
	look_at_acs(&ends, out);
}

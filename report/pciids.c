/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Names in pci.ids: "vvvv  Vendor" at the start of a line, "<TAB>dddd  Device" below it. */
#include "report/pciids.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "record/printable.h"

static const char *const lists[] = {
	"/usr/share/hwdata/pci.ids",
	"/usr/share/misc/pci.ids",
	"/usr/share/pci.ids",
};

/* "10de  NVIDIA Corporation": the text after the number, if it is this number. */
static const char *name_at(const char *line, unsigned number)
{
	unsigned found;
	int used = 0;

	if (sscanf(line, "%4x %n", &found, &used) != 1 || used < 5 || found != number)
		return NULL;
	return line + used;
}

int nt_pciids_name_in(const char *path, unsigned vendor, unsigned device, char *out,
		      size_t out_bytes)
{
	FILE *list = fopen(path, "re");
	const char *name = NULL;
	bool inside = false;
	char line[256];

	out[0] = '\0';
	if (!list)
		return -1;
	while (!name && fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\t' && line[1] != '\t' && inside)
			name = name_at(line + 1, device);
		else if (line[0] != '\t' && line[0] != '#')
			inside = name_at(line, vendor) != NULL;
	}
	fclose(list);
	if (!name)
		return -1;
	(void)nt_printable_copy(out, out_bytes, name, strlen(name));
	return 0;
}

int nt_pciids_name(unsigned vendor, unsigned device, char *out, size_t out_bytes)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (nt_pciids_name_in(lists[i], vendor, device, out, out_bytes) == 0)
			return 0;
	}
	return -1;
}

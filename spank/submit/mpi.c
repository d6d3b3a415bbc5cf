/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/submit/mpi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096

/* As Slurm itself does right after it. */
static bool loads(const char *path)
{
	void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

	return plugin && dlclose(plugin) == 0;
}

bool nt_slurm_has_pmix(const char *plugin_dirs)
{
	char path[PATH_BYTES];
	size_t length;
	int used;

	if (!plugin_dirs || !plugin_dirs[0])
		return true;
	for (;; plugin_dirs += length + 1) {
		length = strcspn(plugin_dirs, ":");
		used = snprintf(path, sizeof(path), "%.*s/mpi_pmix.so", (int)length, plugin_dirs);
		if (used < 0 || (size_t)used >= sizeof(path) || loads(path))
			return true;
		if (!plugin_dirs[length])
			return false;
	}
}

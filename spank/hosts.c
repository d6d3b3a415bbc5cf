/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include "spank/slurm_compat.h"

char **nt_hosts_names(const char *list, unsigned most, struct nt_error *err)
{
	nt_slurm_hostlist hosts = slurm_hostlist_create(list);
	const int count = hosts ? slurm_hostlist_count(hosts) : 0;
	const bool good = count > 0 && (unsigned)count <= most;
	char **names = good ? calloc((size_t)count + 1, sizeof(names[0])) : NULL;

	if (!good)
		nt_error_set(err, "'%.60s' is not a list of 1 to %u hosts", list, most);
	else if (!names)
		nt_error_set(err, "out of memory");
	for (int i = 0; names && i < count; i++)
		names[i] = slurm_hostlist_shift(hosts);
	if (hosts)
		slurm_hostlist_destroy(hosts);
	return names;
}

void nt_hosts_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spank_nccl_tune_job.so: stores a job's partition, account and QOS at its start on a node
 * (site/place.h), and removes them at its end. It is a separate plugin because slurmd starts a
 * process for each job's prolog and epilog if any plugin has such hooks: only sites whose file has
 * sections for partitions, accounts or QOSs need it. Its errors fail no job. */
#include <stdlib.h>
#include <unistd.h>
#include <slurm/slurm.h>
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(nccl_tune_job, 1)
#pragma GCC visibility pop
#include "lib/list.h"
#include "site/place.h"
#include "spank/rundir.h"
#include "spank/say.h"
#include "spank/where.h"

/* Its one argument, which the other plugin has, too. */
static const char *rundir_of(int ac, char **av)
{
	const char *rundir = NT_RUN_DIR;

	for (int i = 0; i < ac; i++) {
		const char *value = nt_value_of(av[i], "rundir");

		if (value)
			rundir = value;
	}
	return rundir;
}

static int open_rundir(spank_t spank, int ac, char **av, uint32_t *job, const char **node)
{
	struct nt_error err;
	int fd;

	*node = getenv("SLURMD_NODENAME");
	if (!*node || spank_get_item(spank, S_JOB_ID, job) != ESPANK_SUCCESS)
		return -1;
	fd = nt_rundir_open(rundir_of(ac, av), &err);
	if (fd < 0)
		slurm_error("%s", err.text);
	return fd;
}

/* slurmd made this environment; users can only set variables that start with SPANK_. */
int slurm_spank_job_prolog(spank_t spank, int ac, char **av)
{
	const struct nt_step_where where = nt_where_environment();
	const char *node;
	struct nt_error err;
	uint32_t job;
	int fd = open_rundir(spank, ac, av, &job, &node);

	if (fd < 0)
		return 0;
	if (nt_place_write(&where, fd, node, job, &err) < 0)
		slurm_error("%s", err.text);
	close(fd);
	return 0;
}

int slurm_spank_job_epilog(spank_t spank, int ac, char **av)
{
	const char *node;
	uint32_t job;
	int fd = open_rundir(spank, ac, av, &job, &node);

	if (fd < 0)
		return 0;
	nt_place_forget(fd, node, job);
	close(fd);
	return 0;
}

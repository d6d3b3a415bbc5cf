/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spank_nccl_tune.so: the functions that Slurm calls, and the process's only context. In srun,
 * sbatch and salloc (client.c) an invalid option is refused. In slurmstepd (stepd.c) every hook
 * returns 0: our errors never fail a step; it runs untuned. */
#include <stdlib.h>
#include <unistd.h>
#include <slurm/slurm.h>
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(nccl_tune, 1)
#pragma GCC visibility pop
#include "spank/submit/client.h"
#include "spank/step/helper.h"
#include "spank/submit/mpi.h"
#include "spank/context.h"
#include "spank/say.h"
#include "spank/step/shm-fd.h"
#include "spank/slurm_compat.h"
#include "spank/step/spawn.h"
#include "spank/step/stepd.h"
#include "spank/where.h"

#define ENV_MPI_TYPE "SLURM_MPI_TYPE"

static struct nt_plugin ctx = {
	.shm_fd = -1,
	.socket = -1,
};

static int take_option(int val, const char *value, int remote)
{
	(void)val;
	return nt_client_option(&ctx, value, remote != 0);
}

/* Slurm's header declares the members without const. Slurm copies the struct. */
static void register_option(spank_t spank)
{
	static char name[] = NT_OPTION;
	static char argument[] = "MODE[,key=value...]";
	static char usage[] =
		"tune NCCL collectives: off, observe (measure only), bandit (measure, and use "
		"what is faster), policy (use what is remembered) or profile (measure "
		"everything); help prints all settings; see nccl-tune(7)";
	struct spank_option option = { name, argument, usage, 1, 0, take_option };

	if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
		slurm_error("cannot register --" NT_OPTION);
}

static void read_site(int ac, char **av)
{
	const char *path;
	bool given;

	ctx.site_ok = nt_line_parse(ac, av, &path, &given, &ctx.site_error) == 0 &&
		      nt_conf_read(&ctx.conf, path, given, &ctx.site_error) == 0;
}

/* srun's command line; elsewhere it is not read. */
static struct {
	char text[65536];
	size_t bytes;
} args;

/* srun --async (26.05): with PMIx it would refuse the step, and the hook that chooses a launch
 * profile is not called. */
static bool is_async(void)
{
	return nt_where_is_async(args.text, args.bytes);
}

/* Would this srun hang with PMIx? */
static bool pmix_may_hang(void)
{
	return NT_SLURM_HET_PMIX_HANGS && nt_where_is_het(args.text, args.bytes);
}

int slurm_spank_init(spank_t spank, int ac, char **av)
{
	spank_context_t context = spank_context();
	struct nt_error err;

	read_site(ac, av);
	if (context == S_CTX_SLURMD) {
		if (!ctx.site_ok)
			slurm_error("%s; no step will be tuned", ctx.site_error.text);
		else if (nt_helper_prepare(ctx.conf.site.recordd, ctx.conf.site.rundir, &err) < 0)
			slurm_error("%s", err.text);
		return 0;
	}
	register_option(spank);
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR)
		return 0;
	nt_client_environment(&ctx);
	if (context == S_CTX_LOCAL)
		args.bytes = nt_where_command_line(args.text, sizeof(args.text));
	/* Before the option is known: after that PMIx's server would not be started. Not in sbatch
	 * and salloc: each srun of the job does this itself. */
	if (context == S_CTX_LOCAL && ctx.site_ok && ctx.conf.pmix && !is_async() &&
	    !pmix_may_hang() && nt_slurm_has_pmix(&slurm_conf ? slurm_conf.plugindir : NULL))
		setenv(ENV_MPI_TYPE, "pmix", 0);
	return 0;
}

int slurm_spank_local_user_init(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	nt_client_launch(&ctx, spank);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av)
{
	spank_context_t context = spank_context();

	(void)ac;
	(void)av;
	if (ctx.site_ok && context == S_CTX_LOCAL && is_async())
		nt_client_async(&ctx);
	if (context != S_CTX_REMOTE)
		return 0;
	nt_stepd_launch(&ctx, spank);
	if (ctx.site_ok)
		nt_stepd_start(&ctx, spank);
	else
		slurm_error("%s; the step runs untuned", ctx.site_error.text);
	return 0;
}

/* As the user, in the task. */
int slurm_spank_task_init(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	nt_stepd_memory(&ctx, spank);
	nt_stepd_topology(&ctx, spank);
	nt_stepd_calibrate(&ctx, spank);
	return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	if (!ctx.tuned || ctx.helper_tried || nt_sinks_none(&ctx.conf.sinks))
		return 0;
	ctx.helper_tried = true;
	nt_stepd_recordd(&ctx, spank);
	return 0;
}

int slurm_spank_task_exit(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	nt_stepd_task_ended(&ctx, spank);
	return 0;
}

int slurm_spank_exit(spank_t spank, int ac, char **av)
{
	(void)spank;
	(void)ac;
	(void)av;
	nt_stepd_end(&ctx);
	return 0;
}

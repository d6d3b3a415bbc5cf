/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spank_nccl_tune.so: everything that Slurm calls, and the one context of the process that it
 * was loaded into. In srun, sbatch and salloc a mistake of the user's is refused. In slurmstepd
 * every hook returns 0: a step never fails for our trouble, it runs untuned. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <slurm/slurm.h>
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(nccl_tune, 1)
#pragma GCC visibility pop
#include "contract/policy.h"
#include "launch/own.h"
#include "spank/boardfd.h"
#include "spank/errand.h"
#include "spank/helper.h"
#include "spank/longplace.h"
#include "site/place.h"
#include "site/show.h"
#include "spank/mpi.h"
#include "spank/option.h"
#include "spank/rundir.h"
#include "spank/say.h"
#include "spank/settle.h"
#include "spank/srun.h"
#include "spank/step.h"
#include "spank/task.h"
#include "spank/tidy.h"
#include "spank/topology.h"

#define LOG NT_LOG

/* How Slurm hands an option from a job to the steps in it; read as an option of srun, below its
 * command line. */
#define ENV_INHERITED "SLURM_SPANK__SLURM_SPANK_OPTION_nccl_tune_nccl_tune"
#define ENV_MPI_TYPE "SLURM_MPI_TYPE"

/* Of srun and slurmstepd; the header declares the type. Absent in programs that are not Slurm's. */
extern slurm_conf_t slurm_conf __attribute__((weak));

static struct {
	struct nt_site site;
	struct nt_conf conf; /* nccl-tune.conf */
	struct nt_error site_error;
	bool site_ok;
	enum nt_rank rank; /* of the value that the next callback brings */
	const char *variable; /* the environment twin that was used */
	struct nt_settle settle; /* what was asked for */
	bool refused;
	char text[NT_POLICY_MAX]; /* the option's value */

	struct nt_applied applied; /* slurmstepd: the step's launch profile */
	bool tuned; /* slurmstepd: this step's tasks load the plugin, or could have */
	struct nt_policy policy;
	struct nt_place place;
	struct nt_step_dir dir;
	struct timespec dir_born;
	int board_fd; /* the node's sealed board; -1: none */
	uid_t uid; /* whose step this is */
	gid_t gid;
	bool helper_tried;
	int socket; /* to nt-recordd; -1: none */
	uint32_t tasks_ended;
} ctx = { .board_fd = -1, .socket = -1, .settle = { .site = &ctx.site, .conf = &ctx.conf } };

/* ---- the option */

/* --nccl-tune=help: as --help, this is all that the command does. What the environment asks for has
 * been taken before. */
static void show_settings(void)
{
	const struct nt_step_where where = nt_settle_environment();
	struct nt_outcome outcome;
	struct nt_site_rules rules;
	struct nt_error err;

	(void)nt_settle(&ctx.settle, &where, NT_UNKNOWN_NONE, &rules, &outcome, &err);
	nt_show(stdout, &rules, &outcome, &where);
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* A value that cannot be meant, in a client. What stands on the command line Slurm refuses, after
 * the line that says why. It would name another variable than the one that the user has set, and
 * perhaps not once: there the command ends here, before anything was asked of slurmctld. */
static int refuse(enum nt_rank rank, const char *value, const struct nt_error *err)
{
	char line[512];

	nt_option_complain(line, sizeof(line), rank, ctx.variable, value, err);
	slurm_error(LOG "%s", line);
	if (rank != NT_RANK_OPTION)
		exit(EXIT_FAILURE);
	return -1;
}

static int check_option(enum nt_rank rank, const char *value)
{
	const char *launch;
	struct nt_policy policy = ctx.site.policy;
	struct nt_error err;

	if (strlen(value) >= sizeof(ctx.text)) {
		nt_error_set(&err, "value too long");
		return refuse(rank, value, &err);
	}
	if (nt_settle_check(&ctx.settle, &err) < 0)
		return refuse(rank, value, &err);
	(void)nt_policy_parse_option(&policy, value, NULL);
	launch = policy.launch;
	return nt_option_check_launch(&ctx.site, launch, &err) == 0 ? 0 : refuse(rank, value, &err);
}

static int take_option(int val, const char *value, int remote)
{
	enum nt_rank rank = ctx.rank;

	(void)val;
	ctx.rank = NT_RANK_OPTION;
	if (!value)
		value = "";
	if (!remote && ctx.site_ok && strcmp(value, "help") == 0)
		show_settings();
	snprintf(ctx.text, sizeof(ctx.text), "%s", value);
	ctx.settle.text = ctx.text;
	ctx.settle.rank = rank;
	if (remote) {
		ctx.refused = strlen(value) >= sizeof(ctx.text);
		return 0;
	}
	if (ctx.site_ok)
		return check_option(rank, value);
	slurm_error(LOG "%s; the step will not be tuned", ctx.site_error.text);
	return 0;
}

/* Slurm copies it. Names are not const in its header. */
static void register_option(spank_t spank)
{
	static char name[] = NT_OPTION;
	static char argument[] = "MODE[,key=value...]";
	static char usage[] =
		"tune NCCL collectives: off, observe (measure only), bandit (measure, and change "
		"what pays), policy (what is remembered) or profile (measure everything); "
		"help prints all settings; nccl-tune(7)";
	struct spank_option option = { name, argument, usage, 1, 0, take_option };

	if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
		slurm_error(LOG "cannot register --" NT_OPTION);
}

/* The environment twin is an option given to the job around this step: Slurm looks at the
 * variable after this and calls back before it reads the command line, which therefore wins. */
static void use_environment(void)
{
	const char *variable = nt_option_variable(program_invocation_short_name);
	const char *value = variable ? getenv(variable) : NULL;

	if (value && value[0]) {
		ctx.variable = variable;
		ctx.rank = NT_RANK_VARIABLE;
		setenv(ENV_INHERITED, value, 1);
	} else {
		ctx.rank = getenv(ENV_INHERITED) ? NT_RANK_JOB : NT_RANK_OPTION;
	}
}

/* The user's own file, below all of these. */
static void use_user_file(void)
{
	struct nt_error err;

	if (nt_settle_read_user(&ctx.settle, &err) < 0)
		slurm_error(LOG "%s; the file is left out", err.text);
}

/* ---- srun: the launch profile */

static void say_word(enum nt_srun_word word, const char *text)
{
	if (word == NT_SRUN_WARNING)
		slurm_error(LOG "%s", text);
	else if (word == NT_SRUN_NEWS)
		slurm_info(LOG "%s", text);
	else
		slurm_verbose(LOG "%s", text);
}

/* Steps of no tasks of an application, and what nothing is wanted for. */
static bool wants_launch(const struct nt_srun_step *step, const struct nt_policy *policy)
{
	if (step->step == SLURM_INTERACTIVE_STEP || step->step == SLURM_EXTERN_CONT ||
	    step->nodes == 0 || policy->mode == NT_MODE_OFF)
		return false;
	return strcmp(policy->launch, "off") != 0 || policy->mode == NT_MODE_POLICY ||
	       policy->mode == NT_MODE_PROFILE;
}

/* What will not be as it was asked for; slurmstepd sees to it, on each node from the node's own
 * file. */
static void say_outcome(struct nt_outcome *outcome, struct nt_error *err)
{
	for (unsigned i = 0; i < outcome->remarks; i++)
		slurm_info(LOG "%s", outcome->remark[i].text);
	if (outcome->refused)
		slurm_error(LOG "%s; the step will not be tuned", err->text);
}

static void prepare_launch(spank_t spank)
{
	const struct nt_step_where where = nt_settle_environment();
	struct nt_outcome outcome;
	struct nt_site_rules rules;
	struct nt_error err;
	struct nt_srun srun = {
		.site = &ctx.site,
		.rules = &rules,
		.policy = &outcome.policy,
		.say = say_word,
	};
	struct nt_srun_step *step = &srun.step;

	if (!ctx.site_ok) {
		nt_srun_clear();
		nt_srun_topology(NULL);
		return;
	}
	(void)nt_settle(&ctx.settle, &where, NT_UNKNOWN_STRICT, &rules, &outcome, &err);
	say_outcome(&outcome, &err);
	nt_srun_topology(&outcome.policy);
	srun.calibrate_asked = outcome.source[nt_setting_find("calibrate", 9)].rank >=
			       NT_RANK_USER_FILE;
	if (spank_get_item(spank, S_JOB_ID, &step->job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step->step) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_NNODES, &step->nodes) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &step->tasks) != ESPANK_SUCCESS ||
	    !wants_launch(step, &outcome.policy))
		nt_srun_clear();
	else
		nt_srun_prepare(&srun);
}

/* ---- slurmstepd: the step */

static void note_birth(void)
{
	struct stat status;

	if (fstat(ctx.dir.fd, &status) == 0)
		ctx.dir_born = status.st_ctim;
}

/* Has anybody written anything into the step's directory? Nobody can set this time back. */
static bool dir_was_used(void)
{
	struct stat status;

	return ctx.dir.fd >= 0 && fstat(ctx.dir.fd, &status) == 0 &&
	       (status.st_ctim.tv_sec != ctx.dir_born.tv_sec ||
		status.st_ctim.tv_nsec != ctx.dir_born.tv_nsec);
}

/* What the user cannot read, NCCL would only complain of. */
static int check_plugin(uid_t uid, gid_t gid, struct nt_error *err)
{
	struct stat status;
	bool readable;

	if (stat(ctx.site.plugin, &status) < 0)
		return nt_error_set(err, "%.150s: %m", ctx.site.plugin);
	readable = status.st_mode & S_IROTH || (status.st_gid == gid && status.st_mode & S_IRGRP) ||
		   (status.st_uid == uid && status.st_mode & S_IRUSR);
	if (!S_ISREG(status.st_mode) || !readable)
		return nt_error_set(err, "%.150s is no file that user %u can read", ctx.site.plugin,
				    uid);
	return 0;
}

/* Which sections of the site's file are the step's: what only root can have written. */
static void settle_here(spank_t spank, uint32_t job, struct nt_outcome *outcome)
{
	const char *node = getenv("SLURMD_NODENAME"); /* slurmstepd's own, not the user's */
	char user[NT_POLICY_MAX];
	struct nt_job_place place = { .where = { NULL, NULL, NULL } };
	struct nt_site_rules rules;
	struct nt_error err;
	int fd = -1;

	if (nt_conf_has_sections(&ctx.conf) && node)
		fd = nt_rundir_open(ctx.site.rundir, &err);
	if (fd >= 0) {
		if (nt_place_read(&place, fd, node, job, &err) < 0)
			slurm_info(LOG "partition, account and QOS of job %" PRIu32
				       " are not known; the strictest section holds",
				   job);
		close(fd);
	}
	if (spank_getenv(spank, NT_ENV_USER_FILE, user, sizeof(user)) == ESPANK_SUCCESS)
		nt_settle_take_user(&ctx.settle, user);
	if (nt_settle(&ctx.settle, &place.where, NT_UNKNOWN_STRICT, &rules, outcome, &err) < 0)
		ctx.refused = true;
	for (unsigned i = 0; i < outcome->remarks; i++)
		slurm_verbose(LOG "%s", outcome->remark[i].text);
}

static int make_place(spank_t spank, uint32_t job, uint32_t step, struct nt_error *err)
{
	const char *node = getenv("SLURMD_NODENAME"); /* slurmstepd's own, not the user's */
	const struct nt_step_site site = { ctx.site.rundir, ctx.site.dir_bytes,
					   ctx.site.dir_files };

	if (!node || strlen(node) >= sizeof(ctx.place.node))
		return nt_error_set(err, "this node has no name of at most %zu bytes",
				    sizeof(ctx.place.node) - 1);
	if (spank_get_item(spank, S_JOB_UID, &ctx.uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &ctx.gid) != ESPANK_SUCCESS)
		return nt_error_set(err, "Slurm does not say whose step this is");
	if (check_plugin(ctx.uid, ctx.gid, err) < 0)
		return -1;
	if (nt_step_make(&ctx.dir, &site, node, job, step, err) < 0)
		return -1;
	snprintf(ctx.place.dir, sizeof(ctx.place.dir), "%s", ctx.dir.path);
	snprintf(ctx.place.node, sizeof(ctx.place.node), "%s", node);
	ctx.place.job = job;
	ctx.place.step = step;
	if (nt_helper_fingerprint(ctx.site.recordd, ctx.site.rundir, ctx.dir.parent_fd,
				  &ctx.place.fingerprint, err) < 0)
		slurm_error(LOG "no fingerprint of this node: %s", err->text);
	if (nt_step_give(&ctx.dir, ctx.uid, ctx.gid, err) < 0)
		return -1;
	note_birth();
	return 0;
}

/* Without it ranks use a file in the step's directory, which their user's processes can cut
 * short. */
static void make_board(void)
{
	const uint32_t nothing_loaded = NT_PLACE_NO_TUNER | NT_PLACE_NO_PROFILER;
	struct nt_error err;

	if (!ctx.tuned || !nt_mode_chooses(ctx.policy.mode) ||
	    (ctx.place.flags & nothing_loaded) == nothing_loaded)
		return;
	ctx.board_fd = nt_boardfd_make(ctx.uid, ctx.gid, ctx.place.node, ctx.place.job,
				       ctx.place.step, &err);
	if (ctx.board_fd < 0)
		slurm_error(LOG "no sealed board: %s", err.text);
}

static void start_step(spank_t spank)
{
	uint32_t job, step;
	struct nt_outcome outcome;
	struct nt_error err;

	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return;
	/* Neither holds tasks of an application. */
	if (step == SLURM_EXTERN_CONT || step == SLURM_INTERACTIVE_STEP)
		return;
	settle_here(spank, job, &outcome);
	ctx.policy = outcome.policy;
	if (ctx.refused) {
		slurm_error(LOG "job %" PRIu32 ": --" NT_OPTION
				"=%.80s is not valid; the step runs untuned",
			    job, ctx.text);
		ctx.policy.mode = NT_MODE_OFF;
	}
	if (ctx.policy.mode != NT_MODE_OFF) {
		ctx.tuned = make_place(spank, job, step, &err) == 0;
		if (!ctx.tuned)
			slurm_error(LOG "%s; the step runs untuned on this node", err.text);
	}
	nt_task_tune(spank, ctx.site.plugin, &ctx.policy, &ctx.place, &ctx.tuned);
	make_board();
}

/* Before everything else, and whatever becomes of it: NCCL must start alike on all nodes. */
static void apply_launch(spank_t spank)
{
	struct nt_task_env env = nt_task_env(spank);
	uint32_t step = SLURM_BATCH_SCRIPT;

	(void)spank_get_item(spank, S_JOB_STEPID, &step);
	if (step == SLURM_EXTERN_CONT)
		return;
	nt_apply(&env, step != SLURM_BATCH_SCRIPT && step != SLURM_INTERACTIVE_STEP,
		 NT_OWN_SITE_FILE, &ctx.applied);
	if (ctx.applied.trouble.text[0])
		slurm_error(LOG "launch profile%s: %s", ctx.applied.valid ? "" : " refused",
			    ctx.applied.trouble.text);
}

/* In a task: NCCL writes its topology into the step's directory, or nowhere. */
static void apply_topology(spank_t spank)
{
	const struct nt_task_env env = nt_task_env(spank);
	struct nt_topology_task task = { .tasks = 1 };
	uint32_t step = 0;

	(void)spank_get_item(spank, S_JOB_STEPID, &step);
	task.alone = step == SLURM_BATCH_SCRIPT;
	if (ctx.tuned && ctx.policy.topology == NT_SWITCH_ON)
		task.dir = ctx.dir.path;
	if (spank_get_item(spank, S_TASK_GLOBAL_ID, &task.task) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &task.tasks) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, 0, &task.first) != ESPANK_SUCCESS)
		task.first = task.task;
	nt_topology_set(&env, &task);
}

/* ---- slurmstepd: the record */

/* The task has been put into its groups by now, and cannot have left them or be gone. */
static void find_groups(spank_t spank, char out[NT_CGROUP_TEXT])
{
	static const char mounts[] = "/proc/self/mountinfo";
	struct nt_cgroups tasks, own;
	char proc[32];
	pid_t pid;

	snprintf(out, NT_CGROUP_TEXT, "-");
	if (spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS)
		return;
	snprintf(proc, sizeof(proc), "/proc/%ld", (long)pid);
	if (nt_cgroup_find(proc, mounts, &tasks, NULL) == 0 &&
	    nt_cgroup_find("/proc/self", mounts, &own, NULL) == 0)
		nt_cgroup_tasks(&tasks, &own, out);
}

static uint32_t component(void)
{
	char title[256];
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t bytes = file ? fread(title, 1, sizeof(title) - 1, file) : 0;

	if (file)
		fclose(file);
	title[bytes] = '\0';
	return nt_step_component(title, ctx.place.job, ctx.place.step);
}

static void fill_errand(spank_t spank, struct nt_errand *errand, bool first)
{
	const char *cluster = &slurm_conf ? slurm_conf.cluster_name : NULL;
	const struct nt_task_env env = nt_task_env(spank);

	memset(errand, 0, sizeof(*errand));
	errand->first = first;
	(void)spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &errand->tasks);
	(void)spank_get_item(spank, S_JOB_NNODES, &errand->nodes);
	(void)spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &errand->here);
	errand->record_bytes = ctx.conf.record_bytes;
	errand->memory_mib = ctx.conf.memory_line ? ctx.conf.memory_mib : 0;
	if (ctx.conf.memory_line && ctx.conf.memory_mib == 0)
		errand->memory_mib = NT_ERRAND_NO_MEMORY;
	errand->job = ctx.place.job;
	errand->step = ctx.place.step;
	errand->component = component();
	errand->uid = ctx.uid;
	errand->gid = ctx.gid;
	errand->flags = ctx.place.flags;
	snprintf(errand->mode, sizeof(errand->mode), "%s", nt_mode_name(ctx.policy.mode));
	snprintf(errand->dir, sizeof(errand->dir), "%s", ctx.dir.path);
	snprintf(errand->rundir, sizeof(errand->rundir), "%s", ctx.site.rundir);
	snprintf(errand->spool, sizeof(errand->spool), "%s", ctx.site.spooldir);
	nt_sinks_text(&ctx.site.sinks, errand->record);
	snprintf(errand->cluster, sizeof(errand->cluster), "%s",
		 cluster && cluster[0] ? cluster : "cluster");
	snprintf(errand->node, sizeof(errand->node), "%s", ctx.place.node);
	nt_longplace(errand, &env, &ctx.conf, ctx.applied.valid ? ctx.applied.ticket.memory : "");
	snprintf(errand->fingerprint, sizeof(errand->fingerprint), "-");
	if (ctx.place.fingerprint != 0)
		snprintf(errand->fingerprint, sizeof(errand->fingerprint), "%016" PRIx64,
			 ctx.place.fingerprint);
	snprintf(errand->ticket, sizeof(errand->ticket), "%s", ctx.applied.text);
	find_groups(spank, errand->groups);
	nt_task_word(spank, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", errand->hosts,
		     sizeof(errand->hosts));
}

/* The path of slurm.conf. From 23.02 on slurmstepd has no configuration of its own, only what
 * slurmd puts into its environment. NULL: libslurm looks for it, as in any client. */
static const char *conf_path(void)
{
	const char *path = &slurm_conf ? slurm_conf.slurm_conf : NULL;

	if (!path || !path[0])
		path = getenv("SLURM_CONF"); /* slurmstepd's own, not the user's */
	return path && path[0] ? path : NULL;
}

/* The first node's has the record of accounting; each has its part of the long form. */
static void start_recordd(spank_t spank)
{
	struct nt_errand errand;
	struct nt_error err;
	uint32_t node;

	if (spank_get_item(spank, S_JOB_NODEID, &node) != ESPANK_SUCCESS ||
	    (node != 0 && ctx.conf.record_mib == 0))
		return;
	fill_errand(spank, &errand, node == 0);
	if (node != 0 && errand.long_dir[0] != '/')
		return;
	ctx.socket = nt_helper_start(ctx.site.recordd, &errand, conf_path(), &err);
	if (ctx.socket < 0)
		slurm_error(LOG "the step will have no record: %s", err.text);
}

static void say(char kind, const char *text)
{
	if (kind == NT_ERRAND_ERROR)
		slurm_error(LOG "%s", text);
	else
		slurm_info(LOG "%s", text);
}

/* ---- what Slurm calls */

static void read_site(int ac, char **av)
{
	ctx.site_ok = nt_site_parse(&ctx.site, ac, av, &ctx.site_error) == 0 &&
		      nt_conf_read(&ctx.conf, ctx.site.config, ctx.site.config_given,
				   &ctx.site_error) == 0;
	if (ctx.site_ok)
		nt_site_overrule(&ctx.site, &ctx.conf);
}

int slurm_spank_init(spank_t spank, int ac, char **av)
{
	spank_context_t context = spank_context();
	struct nt_error err;

	nt_step_dir_init(&ctx.dir);
	read_site(ac, av);
	if (context == S_CTX_SLURMD) {
		if (!ctx.site_ok)
			slurm_error(LOG "%s; no step will be tuned", ctx.site_error.text);
		else if (nt_helper_prepare(ctx.site.recordd, ctx.site.rundir, &err) < 0 ||
			 nt_helper_tidy(ctx.site.recordd, ctx.site.rundir, true, &err) < 0)
			slurm_error(LOG "%s", err.text);
		return 0;
	}
	register_option(spank);
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR)
		return 0;
	use_environment();
	if (ctx.site_ok)
		use_user_file();
	/* Later is too late (PMIx's server would not be started), and the option is not known
	 * yet. */
	if (ctx.site_ok && ctx.site.pmix &&
	    nt_slurm_has_pmix(&slurm_conf ? slurm_conf.plugindir : NULL))
		setenv(ENV_MPI_TYPE, "pmix", 0);
	return 0;
}

int slurm_spank_local_user_init(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	prepare_launch(spank);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	if (spank_context() != S_CTX_REMOTE)
		return 0;
	apply_launch(spank);
	if (ctx.site_ok)
		start_step(spank);
	else
		slurm_error(LOG "%s; the step runs untuned", ctx.site_error.text);
	return 0;
}

/* As root, in the task, which is where the job's tasks are. */
int slurm_spank_task_init_privileged(spank_t spank, int ac, char **av)
{
	struct nt_error err;

	(void)spank;
	(void)ac;
	(void)av;
	if (ctx.tuned && nt_step_show(&ctx.dir, &err) < 0)
		slurm_error(LOG "%s; it will have no record", err.text);
	return 0;
}

/* As the user, in the task. */
int slurm_spank_task_init(spank_t spank, int ac, char **av)
{
	char path[NT_BOARDFD_PATH];

	(void)ac;
	(void)av;
	if (ctx.board_fd >= 0 && nt_boardfd_leave(ctx.board_fd, path) == 0)
		nt_task_board(spank, path);
	apply_topology(spank);
	return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	if (!ctx.tuned || ctx.helper_tried || ctx.site.sinks.count == 0)
		return 0;
	ctx.helper_tried = true;
	start_recordd(spank);
	return 0;
}

int slurm_spank_task_exit(spank_t spank, int ac, char **av)
{
	bool released = true;
	uint32_t tasks = 0;

	(void)ac;
	(void)av;
	if (ctx.socket < 0)
		return 0;
	(void)spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks);
	if (++ctx.tasks_ended < tasks)
		return 0;
	/* The job may end as soon as the step is let go, and a job that has ended takes no
	 * record; with the batch script it does end, and records of its steps may wait. */
	if (dir_was_used() || ctx.place.step == NT_STEP_BATCH)
		released = nt_helper_hold(ctx.socket, say);
	if (!released)
		slurm_info(LOG "the record was not waited for any longer");
	close(ctx.socket);
	ctx.socket = -1;
	return 0;
}

/* What it has left itself, and, now and then, what others have. Nothing waits for that. */
static void tidy_up(void)
{
	int rundir_fd = fcntl(ctx.dir.parent_fd, F_DUPFD_CLOEXEC, 0);
	struct nt_error err;
	bool due;

	if (rundir_fd < 0) /* the step had no directory */
		return;
	due = nt_step_remove(&ctx.dir, &err) < 0;
	if (due)
		slurm_info(LOG "%s", err.text);
	if (due || nt_tidy_is_due(rundir_fd))
		(void)nt_helper_tidy(ctx.site.recordd, ctx.site.rundir, false, &err);
	close(rundir_fd);
}

int slurm_spank_exit(spank_t spank, int ac, char **av)
{
	(void)spank;
	(void)ac;
	(void)av;
	if (ctx.socket >= 0)
		close(ctx.socket);
	ctx.socket = -1;
	if (ctx.board_fd >= 0)
		close(ctx.board_fd);
	ctx.board_fd = -1;
	if (spank_context() == S_CTX_REMOTE)
		tidy_up();
	return 0;
}

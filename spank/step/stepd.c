/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in slurmstepd. */
#include "spank/step/stepd.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launch/user-env.h"
#include "spank/arguments.h"
#include "spank/step/cache.h"
#include "spank/step/calibrate-task.h"
#include "spank/step/helper.h"
#include "spank/step/long-dir.h"
#include "spank/rundir.h"
#include "spank/say.h"
#include "spank/step/shm-fd.h"
#include "spank/step/step-name.h"
#include "spank/topology-env.h"
#include "spank/where.h"

/* If the user could not read the plugin, NCCL would print an error. */
static int check_plugin(struct nt_plugin *plugin, uid_t uid, gid_t gid, struct nt_error *err)
{
	struct stat status;
	bool readable;

	if (stat(plugin->conf.site.plugin, &status) < 0)
		return nt_error_set(err, "%.150s: %m", plugin->conf.site.plugin);
	readable = status.st_mode & S_IROTH || (status.st_gid == gid && status.st_mode & S_IRGRP) ||
		   (status.st_uid == uid && status.st_mode & S_IRUSR);
	if (!S_ISREG(status.st_mode) || !readable)
		return nt_error_set(err,
				    "%.150s is not a file that user %u can "
				    "read",
				    plugin->conf.site.plugin, uid);
	return 0;
}

/* As the step's environment says: who names another partition gets what its users get. The
 * components of a heterogeneous job may have each other's. NULL: unknown. */
static const char *find_partition(spank_t spank, char out[256])
{
	static const char *const components[] = { NT_ENV_PARTITION "_HET_GROUP_0",
						  NT_ENV_PARTITION "_PACK_GROUP_0" };

	for (int i = 0; i < 2; i++) {
		if (spank_getenv(spank, components[i], out, 256) == ESPANK_SUCCESS)
			return NULL;
	}
	return spank_getenv(spank, NT_ENV_PARTITION, out, 256) == ESPANK_SUCCESS && out[0] ? out
											   : NULL;
}

static void effective_here(struct nt_plugin *plugin, spank_t spank, uint32_t job,
			   struct nt_step_settings *outcome)
{
	char name[256];
	const char *partition = find_partition(spank, name);
	struct nt_site_rules rules;
	struct nt_error err;

	if (plugin->conf.count > 1 && !partition)
		slurm_info("the partition of job %" PRIu32
			   " is not known; the strictest section applies",
			   job);
	if (nt_rules_settle(&rules, &plugin->conf, partition, NT_UNKNOWN_STRICT, &plugin->asked,
			    outcome, &err) < 0)
		plugin->refused = true;
	for (unsigned i = 0; i < outcome->remarks; i++)
		slurm_verbose("%s", outcome->remark[i].text);
}

static int find_fingerprint(struct nt_plugin *plugin, struct nt_error *err)
{
	const int rundir_fd = nt_rundir_open(plugin->conf.site.rundir, err);
	struct nt_error trouble;

	if (rundir_fd < 0)
		return -1;
	if (nt_helper_fingerprint(plugin->conf.site.recordd, plugin->conf.site.rundir, rundir_fd,
				  &plugin->node_step.fingerprint, &trouble) < 0)
		slurm_error("no fingerprint of this node: %s", trouble.text);
	close(rundir_fd);
	return 0;
}

static int make_node_step(struct nt_plugin *plugin, spank_t spank, uint32_t job, uint32_t step,
			  struct nt_error *err)
{
	const char *node = getenv("SLURMD_NODENAME"); /* slurmstepd's own, not the user's */

	if (!node || strlen(node) >= sizeof(plugin->node_step.node))
		return nt_error_set(err,
				    "the name of this node is unknown or longer than %zu "
				    "bytes",
				    sizeof(plugin->node_step.node) - 1);
	if (spank_get_item(spank, S_JOB_UID, &plugin->uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &plugin->gid) != ESPANK_SUCCESS)
		return nt_error_set(err, "Slurm does not name the user of this step");
	if (check_plugin(plugin, plugin->uid, plugin->gid, err) < 0)
		return -1;
	snprintf(plugin->node_step.node, sizeof(plugin->node_step.node), "%s", node);
	plugin->node_step.job = job;
	plugin->node_step.step = step;
	if (find_fingerprint(plugin, err) < 0)
		return -1;
	plugin->shm_fd = nt_shm_fd_make(plugin->uid, plugin->gid, node, job, step, err);
	return plugin->shm_fd < 0 ? -1 : 0;
}

/* What root knows of the node is for the records of its ranks. */
static void tell_facts(const struct nt_plugin *plugin, spank_t spank)
{
	const struct nt_task_env env = nt_task_env(spank);
	const int rundir_fd = plugin->tuned ? nt_rundir_open(plugin->conf.site.rundir, NULL) : -1;
	char facts[NT_NODE_FACTS_MAX] = "";

	if (rundir_fd >= 0) {
		nt_cache_read_facts(rundir_fd, facts);
		close(rundir_fd);
	}
	if (plugin->tuned && plugin->conf.findings == 0)
		snprintf(facts, sizeof(facts), NT_NODE_UNASKED);
	if (facts[0])
		nt_task_env_set(&env, NT_ENV_NODE, facts);
	else
		nt_task_env_unset(&env, NT_ENV_NODE);
}

void nt_stepd_start(struct nt_plugin *plugin, spank_t spank)
{
	uint32_t job, step;
	struct nt_step_settings outcome;
	struct nt_error err;

	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return;
	/* These have no tasks of an application. */
	if (step == SLURM_EXTERN_CONT || step == SLURM_INTERACTIVE_STEP)
		return;
	effective_here(plugin, spank, job, &outcome);
	plugin->policy = outcome.policy;
	if (plugin->refused) {
		slurm_error("job %" PRIu32 ": --" NT_OPTION
			    "=%.80s is not valid; the step runs untuned",
			    job, plugin->text);
		plugin->policy.mode = NT_MODE_OFF;
	}
	if (plugin->policy.mode != NT_MODE_OFF) {
		plugin->tuned = make_node_step(plugin, spank, job, step, &err) == 0;
		if (!plugin->tuned)
			slurm_error("%s; the step runs untuned on this node", err.text);
	}
	/* Forced choices gave wrong results on this hardware. */
	if (plugin->applied.valid && plugin->applied.ticket.observe &&
	    plugin->policy.mode > NT_MODE_OBSERVE)
		plugin->policy.mode = NT_MODE_OBSERVE;
	nt_task_tune(spank, plugin->conf.site.plugin, &plugin->policy, &plugin->node_step,
		     &plugin->tuned);
	tell_facts(plugin, spank);
}

void nt_stepd_launch(struct nt_plugin *plugin, spank_t spank)
{
	struct nt_task_env env = nt_task_env(spank);
	uint32_t step = SLURM_BATCH_SCRIPT;

	(void)spank_get_item(spank, S_JOB_STEPID, &step);
	if (step == SLURM_EXTERN_CONT)
		return;
	nt_profile_env_apply(&env, step != SLURM_BATCH_SCRIPT && step != SLURM_INTERACTIVE_STEP,
			     NT_USER_ENV_SITE_FILE, &plugin->applied);
	if (plugin->applied.trouble.text[0])
		slurm_error("launch profile%s: %s", plugin->applied.valid ? "" : " refused",
			    plugin->applied.trouble.text);
}

/* Other tasks' processes may have other paths: each adds its own to the policy. */
void nt_stepd_memory(struct nt_plugin *plugin, spank_t spank)
{
	const struct nt_task_env env = nt_task_env(spank);
	char policy[NT_POLICY_MAX], text[NT_POLICY_MAX + NT_SHM_FD_PATH + 8], path[NT_SHM_FD_PATH];

	if (!plugin->tuned || env.get(env.context, NT_ENV_POLICY, policy, sizeof(policy)) != 0 ||
	    nt_shm_fd_leave(plugin->shm_fd, path) < 0)
		return;
	snprintf(text, sizeof(text), "%s," NT_POLICY_SHM "=%s", policy, path);
	nt_task_env_set(&env, NT_ENV_POLICY, text);
}

void nt_stepd_topology(struct nt_plugin *plugin, spank_t spank)
{
	const struct nt_task_env env = nt_task_env(spank);
	char graphs[NT_SHM_FD_PATH], devices[NT_SHM_FD_PATH];
	struct nt_topology_task task = { .tasks = 1 };
	uint32_t number = 0, step = 0;

	(void)spank_get_item(spank, S_JOB_STEPID, &step);
	task.alone = step == SLURM_BATCH_SCRIPT;
	if (plugin->tuned && plugin->policy.topology == NT_SWITCH_ON &&
	    nt_shm_fd_scratch(graphs) == 0 && nt_shm_fd_scratch(devices) == 0) {
		task.graphs = graphs;
		task.devices = devices;
	}
	if (spank_get_item(spank, S_TASK_GLOBAL_ID, &number) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &task.tasks) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, 0, &task.first) != ESPANK_SUCCESS)
		task.first = number;
	nt_topology_set(&env, &task);
}

static void program_beside(const struct nt_site *site, char out[NT_PATH_MAX])
{
	const char *slash = strrchr(site->recordd, '/');

	snprintf(out, NT_PATH_MAX, "%.*s/%s", slash ? (int)(slash - site->recordd) : 0,
		 site->recordd, NT_CALIBRATE_PROGRAM);
}

void nt_stepd_calibrate(struct nt_plugin *plugin, spank_t spank)
{
	const struct nt_task_env env = nt_task_env(spank);
	struct nt_cal_profile profile;
	char program[NT_PATH_MAX], **environment = NULL;
	struct nt_error err = { "" };

	if (!plugin->applied.calibrate[0] ||
	    spank_get_item(spank, S_JOB_ENV, &environment) != ESPANK_SUCCESS || !environment)
		return;
	program_beside(&plugin->conf.site, program);
	switch (nt_calibrate_task(program, plugin->applied.calibrate,
				  plugin->tuned ? plugin->shm_fd : -1, environment, &profile,
				  &err)) {
	case NT_CALIBRATED_NONE: slurm_verbose("no calibration: %s", err.text); break;
	case NT_CALIBRATED_PROFILE:
		nt_profile_env_apply_measured(&env, &profile, NT_USER_ENV_SITE_FILE);
		break;
	case NT_CALIBRATED_DOUBT:
		dprintf(STDERR_FILENO, "nccl-tune: %s; this task ends\n", err.text);
		_exit(1);
	}
}

/* The task is in its cgroups by now, and cannot have left them or ended yet. */
static void find_cgroups(spank_t spank, char out[NT_CGROUP_TEXT])
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

static uint32_t component(struct nt_plugin *plugin)
{
	char title[256];

	(void)nt_where_command_line(title, sizeof(title));
	return nt_step_component(title, plugin->node_step.job, plugin->node_step.step);
}

/* "-": unknown, or too long. */
static void find_hosts(const struct nt_task_env *env, char out[NT_ARGUMENTS_HOSTS])
{
	static const char *const names[] = { "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST" };

	for (int i = 0; i < 2; i++) {
		if (env->get(env->context, names[i], out, NT_ARGUMENTS_HOSTS) == 0 && out[0])
			return;
	}
	snprintf(out, NT_ARGUMENTS_HOSTS, "-");
}

static void fill_arguments(struct nt_plugin *plugin, spank_t spank, struct nt_arguments *out,
			   bool first)
{
	const char *cluster = &slurm_conf ? slurm_conf.cluster_name : NULL;
	char sinks[NT_SINKS_TEXT];
	const struct nt_task_env env = nt_task_env(spank);

	*out = (struct nt_arguments){ .version = NT_ARGUMENTS_VERSION, .first = first };
	(void)spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &out->tasks);
	(void)spank_get_item(spank, S_JOB_NNODES, &out->nodes);
	(void)spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &out->here);
	out->findings = plugin->conf.findings;
	out->memory_mib = plugin->conf.memory_mib ? plugin->conf.memory_mib
						  : NT_ARGUMENTS_NO_MEMORY;
	out->job = plugin->node_step.job;
	out->step = plugin->node_step.step;
	out->component = component(plugin);
	out->uid = plugin->uid;
	out->gid = plugin->gid;
	out->flags = plugin->node_step.flags;
	out->stacks = (uint32_t)plugin->policy.on_stall;
	snprintf(out->mode, sizeof(out->mode), "%s", nt_mode_name(plugin->policy.mode));
	snprintf(out->rundir, sizeof(out->rundir), "%s", plugin->conf.site.rundir);
	snprintf(out->spool, sizeof(out->spool), "%s", plugin->conf.site.spooldir);
	snprintf(out->record, sizeof(out->record), "%s", nt_sinks_text(&plugin->conf.sinks, sinks));
	snprintf(out->cluster, sizeof(out->cluster), "%s",
		 cluster && cluster[0] ? cluster : NT_CLUSTER_UNKNOWN);
	snprintf(out->node, sizeof(out->node), "%s", plugin->node_step.node);
	nt_long_dir_find(out, &env, &plugin->conf,
			 plugin->applied.valid ? plugin->applied.ticket.memory : "");
	snprintf(out->fingerprint, sizeof(out->fingerprint), "-");
	if (plugin->node_step.fingerprint != 0)
		snprintf(out->fingerprint, sizeof(out->fingerprint), "%016" PRIx64,
			 plugin->node_step.fingerprint);
	snprintf(out->ticket, sizeof(out->ticket), "%s", plugin->applied.text);
	find_cgroups(spank, out->cgroups);
	find_hosts(&env, out->hosts);
}

/* The path of slurm.conf; NULL: libslurm searches for it, as in any client. From 23.02 on
 * slurmstepd has no configuration of its own, only what slurmd puts into its environment. */
static const char *conf_path(void)
{
	const char *path = &slurm_conf ? slurm_conf.slurm_conf : NULL;

	if (!path || !path[0])
		path = getenv("SLURM_CONF"); /* slurmstepd's own, not the user's */
	return path && path[0] ? path : NULL;
}

void nt_stepd_recordd(struct nt_plugin *plugin, spank_t spank)
{
	struct nt_arguments arguments;
	struct nt_error err;
	uint32_t node;

	if (spank_get_item(spank, S_JOB_NODEID, &node) != ESPANK_SUCCESS ||
	    (node != 0 && plugin->conf.record_mib == 0))
		return;
	fill_arguments(plugin, spank, &arguments, node == 0);
	if (node != 0 && arguments.long_dir[0] != '/')
		return;
	plugin->socket = nt_helper_start(plugin->conf.site.recordd, &arguments, plugin->shm_fd,
					 conf_path(), &err);
	plugin->helped = plugin->socket >= 0;
	if (!plugin->helped)
		slurm_error("the step will have no record: %s", err.text);
}

static void log_text(char kind, const char *text)
{
	if (kind == NT_ARGUMENTS_ERROR)
		slurm_error("%s", text);
	else
		slurm_info("%s", text);
}

static enum nt_ended ended(spank_t spank)
{
	int status = 0;

	if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS)
		return NT_ENDED_WELL;
	if (WIFSIGNALED(status))
		switch (WTERMSIG(status)) {
		case SIGSEGV:
		case SIGBUS:
		case SIGFPE:
		case SIGILL:
		case SIGABRT: return NT_ENDED_FAILED;
		/* Other signals end a job without making its measurements wrong. */
		default: return NT_ENDED_WELL;
		}
	return WEXITSTATUS(status) == 0 ? NT_ENDED_WELL : NT_ENDED_FAILED;
}

static void note_end(struct nt_plugin *plugin, spank_t spank)
{
	const enum nt_ended how = ended(spank);

	if (how > plugin->ended)
		plugin->ended = how;
}

void nt_stepd_task_ended(struct nt_plugin *plugin, spank_t spank)
{
	bool released = true;
	uint32_t tasks = 0;

	if (plugin->socket < 0)
		return;
	note_end(plugin, spank);
	(void)spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks);
	if (++plugin->tasks_ended < tasks)
		return;
	/* A step that wrote nothing is not held. After the step the job may end, and then slurmctld
	 * takes no record; the batch script ends the job, and records of its steps may wait. */
	if (nt_shm_fd_changes(plugin->shm_fd) != 0 || plugin->node_step.step == NT_STEP_BATCH)
		released = nt_helper_hold(plugin->socket, plugin->ended, log_text);
	if (!released)
		slurm_info("stopped waiting for the record");
	close(plugin->socket);
	plugin->socket = -1;
}

void nt_stepd_end(struct nt_plugin *plugin)
{
	const struct nt_node_step *node_step = &plugin->node_step;

	if (plugin->socket >= 0)
		close(plugin->socket);
	plugin->socket = -1;
	/* nt-recordd does so once it has read it. */
	if (plugin->shm_fd >= 0 && !plugin->helped)
		nt_shm_fd_clear(plugin->uid, node_step->node, node_step->job, node_step->step);
	if (plugin->shm_fd >= 0)
		close(plugin->shm_fd);
	plugin->shm_fd = -1;
}

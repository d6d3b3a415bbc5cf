/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in srun, sbatch and salloc. */
#include "spank/submit/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/profile.h"
#include "site/settings-table.h"
#include "spank/say.h"
#include "spank/submit/srun.h"

/* How Slurm passes an option from a job to its steps: srun reads it before its command line, which
 * overrides it. */

/* Of the job that srun runs in, or that it has made; NULL: unknown. Only used in messages and to
 * choose a launch profile: a user may have set it. */
static const char *own_partition(void)
{
	const char *name = getenv(NT_ENV_PARTITION);

	return name && name[0] && strcmp(program_invocation_short_name, "srun") == 0 ? name : NULL;
}

/* --nccl-tune=help: print the settings and exit, as --help does. */
static void show_settings(struct nt_plugin *plugin)
{
	const char *partition = own_partition();
	struct nt_step_settings outcome;
	struct nt_site_rules rules;
	struct nt_error err;

	(void)nt_rules_settle(&rules, &plugin->conf, partition, NT_UNKNOWN_NONE, &plugin->asked,
			      &outcome, &err);
	nt_site_show(stdout, &rules, &outcome, partition);
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Refuse an invalid value. After one on the command line Slurm ends the command. After one in the
 * environment Slurm would name another variable than the user has set, so end it here. */
static int refuse(struct nt_plugin *plugin, enum nt_precedence rank, const char *value,
		  const struct nt_error *err)
{
	char line[512];

	nt_option_complain(line, sizeof(line), rank, plugin->variable, value, err);
	slurm_error("%s", line);
	if (rank != NT_RANK_OPTION)
		exit(EXIT_FAILURE);
	return -1;
}

static int check_option(struct nt_plugin *plugin, enum nt_precedence rank, const char *value)
{
	struct nt_policy policy;
	struct nt_error err;

	if (strlen(value) >= sizeof(plugin->text)) {
		nt_error_set(&err, "value too long");
		return refuse(plugin, rank, value, &err);
	}
	nt_policy_default(&policy);
	if (nt_policy_parse_option(&policy, value, &err) < 0 ||
	    nt_option_check_launch(&plugin->conf.site, policy.launch, &err) < 0)
		return refuse(plugin, rank, value, &err);
	return 0;
}

int nt_client_option(struct nt_plugin *plugin, const char *value, bool remote)
{
	enum nt_precedence rank = plugin->rank;

	plugin->rank = NT_RANK_OPTION;
	if (!value)
		value = "";
	if (!remote && plugin->site_ok && strcmp(value, "help") == 0)
		show_settings(plugin);
	snprintf(plugin->text, sizeof(plugin->text), "%s", value);
	plugin->asked.text = plugin->text;
	plugin->asked.rank = rank;
	if (remote) {
		plugin->refused = strlen(value) >= sizeof(plugin->text);
		return 0;
	}
	if (plugin->site_ok)
		return check_option(plugin, rank, value);
	slurm_error("%s; the step will not be tuned", plugin->site_error.text);
	return 0;
}

void nt_client_environment(struct nt_plugin *plugin)
{
	const char *variable = nt_option_variable(program_invocation_short_name);
	const char *value = variable ? getenv(variable) : NULL;

	if (value && value[0]) {
		plugin->variable = variable;
		plugin->rank = NT_RANK_VARIABLE;
		setenv(NT_ENV_JOB_OPTION, value, 1);
	} else {
		plugin->rank = getenv(NT_ENV_JOB_OPTION) ? NT_RANK_JOB : NT_RANK_OPTION;
	}
}

static void say_word(enum nt_srun_word word, const char *text)
{
	if (word == NT_SRUN_WARNING)
		slurm_error("%s", text);
	else if (word == NT_SRUN_NEWS)
		slurm_info("%s", text);
	else
		slurm_verbose("%s", text);
}

/* Not for steps without tasks of an application, nor if nothing is asked for. */
static bool wants_launch(const struct nt_srun_step *step, const struct nt_policy *policy)
{
	if (step->step == SLURM_INTERACTIVE_STEP || step->step == SLURM_EXTERN_CONT ||
	    step->nodes == 0 || policy->mode == NT_MODE_OFF)
		return false;
	return strcmp(policy->launch, "off") != 0 || policy->mode == NT_MODE_POLICY ||
	       policy->mode == NT_MODE_PROFILE;
}

/* Report what the site does not allow; slurmstepd enforces it on each node by the node's file. */
static void say_outcome(struct nt_step_settings *outcome, struct nt_error *err)
{
	for (unsigned i = 0; i < outcome->remarks; i++)
		slurm_info("%s", outcome->remark[i].text);
	if (outcome->refused)
		slurm_error("%s; the step will not be tuned", err->text);
}

void nt_client_async(struct nt_plugin *plugin)
{
	struct nt_step_settings outcome;
	struct nt_site_rules rules;
	const char *launch;
	struct nt_error err;

	(void)nt_rules_settle(&rules, &plugin->conf, own_partition(), NT_UNKNOWN_STRICT,
			      &plugin->asked, &outcome, &err);
	say_outcome(&outcome, &err);
	launch = outcome.policy.launch;
	if (outcome.policy.mode != NT_MODE_OFF && strcmp(launch, "off") != 0 &&
	    strcmp(launch, "auto") != 0 && strcmp(launch, NT_PROFILE_DEFAULT) != 0)
		slurm_info("launch profile %s is not set: steps of srun --async have none", launch);
}

void nt_client_launch(struct nt_plugin *plugin, spank_t spank)
{
	struct nt_step_settings outcome;
	struct nt_site_rules rules;
	struct nt_error err;
	struct nt_srun srun = {
		.site = &plugin->conf.site,
		.rules = &rules,
		.policy = &outcome.policy,
		.say = say_word,
	};
	struct nt_srun_step *step = &srun.step;

	if (!plugin->site_ok) {
		nt_srun_clear();
		nt_srun_topology(NULL);
		return;
	}
	(void)nt_rules_settle(&rules, &plugin->conf, own_partition(), NT_UNKNOWN_STRICT,
			      &plugin->asked, &outcome, &err);
	say_outcome(&outcome, &err);
	nt_srun_topology(&outcome.policy);
	srun.typed = outcome.source[nt_setting_find("launch", 6)].rank == NT_RANK_OPTION ||
		     outcome.source[nt_setting_find("calibrate", 9)].rank == NT_RANK_OPTION;
	if (spank_get_item(spank, S_JOB_ARGV, &step->words, &step->word) != ESPANK_SUCCESS)
		step->words = 0;
	if (spank_get_item(spank, S_JOB_ID, &step->job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step->step) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_NNODES, &step->nodes) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &step->tasks) != ESPANK_SUCCESS ||
	    !wants_launch(step, &outcome.policy))
		nt_srun_clear();
	else
		nt_srun_prepare(&srun);
}
